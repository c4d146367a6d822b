#pragma once

#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

namespace fathom::server {

/// A unit type among the fullest, and how many of its units are in use now.
struct FullUnitType {
    UnitTypeId id;
    std::string name;
    CenterId center_id;
    std::string center;
    std::int64_t unit_count{};
    std::int64_t units_in_use{}; ///< by attempts that have not ended
};

/// How full the network is: sums over all active unit types, and the fullest of these by name.
struct UnitUse {
    std::int64_t unit_type_count{};
    std::int64_t unit_count{};
    std::int64_t units_in_use{};
    std::vector<FullUnitType> fullest; ///< by the share in use, the greatest first, then by center and name
};

/// Blocks; pqxx's exceptions pass through.
/// @param most  so many unit types are named at most, at least 1
UnitUse select_unit_use(pqxx::transaction_base& transaction, std::int64_t most);

Json to_json(const UnitUse& use);

} // namespace fathom::server
