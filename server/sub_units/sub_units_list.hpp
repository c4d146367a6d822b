#pragma once

#include "server/store/page.hpp"
#include "server/sub_units/sub_units_record.hpp"

namespace pqxx {
class transaction_base;
}

/// Lists of sub-units for the REST interface. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

struct SubUnitFilter {
    std::string kind{};       ///< empty: all
    std::string center{};     ///< id or name; of grants: either side; empty: all
    bool is_open_only{false}; ///< requests that have not ended
};

/// By name; `after` is a kind.
Page<SubUnitKindRecord> select_sub_unit_kinds(pqxx::transaction_base& transaction, std::int64_t size,
                                              const std::string& after);
/// Newest first; `after` is an id.
Page<SubUnitRequestRecord> select_sub_unit_requests(pqxx::transaction_base& transaction, const SubUnitFilter& filter,
                                                    std::int64_t size, const std::string& after);
Page<SubUnitGrantRecord> select_sub_unit_grants(pqxx::transaction_base& transaction, const SubUnitFilter& filter,
                                                std::int64_t size, const std::string& after);
/// Newest first; `after` is a number.
Page<SubUnitEventRecord> select_sub_unit_events(pqxx::transaction_base& transaction, const SubUnitFilter& filter,
                                                std::int64_t size, const std::string& after);

} // namespace fathom::server
