#pragma once

#include "core/base/id.hpp"
#include "core/decide/capacity/booking.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Unit types as something to book. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

struct BookableUnits {
    UnitTypeId unit_type_id;
    std::string unit_type; ///< name
    CenterId center_id;
    std::string center; ///< name
    std::int64_t unit_count{};
};

/// The unit types that a center offers, in order of id, locked until the transaction ends: nobody else reserves or
/// places on them meanwhile. None when there is no such center or unit type.
/// @param center     id or name.
/// @param unit_type  id or name; empty: all of the center.
std::vector<BookableUnits> lock_bookable_units(pqxx::transaction_base& transaction, const std::string& center,
                                               const std::string& unit_type);

/// What is booked of a unit type and ends after `from`: reservations and, with all its units, maintenance. A statement
/// of its own after the lock, so that it sees what the last holder of the lock has committed.
std::vector<Booking> select_bookings(pqxx::transaction_base& transaction, const BookableUnits& units, Timestamp from);

} // namespace fathom::server
