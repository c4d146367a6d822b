#pragma once

#include "server/store/page.hpp"
#include "server/sub_units/sub_units_record.hpp"

#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of sub-units. All functions take the caller's transaction, block, and let pqxx's exceptions through to
/// Database::run. What changes rows of a kind asks for its lock first.
namespace fathom::server {

/// Nobody else changes anything of the kind until the transaction ends. False: there is no such kind.
bool lock_sub_unit_kind(pqxx::transaction_base& transaction, const std::string& kind);
void insert_sub_unit_kind(pqxx::transaction_base& transaction, const std::string& kind);
/// Of which a change is under way, or something waits.
std::vector<std::string> select_moving_sub_unit_kinds(pqxx::transaction_base& transaction);

/// By center id.
std::vector<SubUnitHoldingRecord> select_sub_unit_holdings(pqxx::transaction_base& transaction,
                                                           const std::string& kind);
/// What a center has, by kind.
std::vector<SubUnitHoldingRecord> select_center_sub_units(pqxx::transaction_base& transaction,
                                                          const std::string& center_id);
void upsert_sub_unit_holding(pqxx::transaction_base& transaction, const SubUnitHoldingRecord& holding);

/// Requests that are open, and releases of which something is free: by turn.
std::vector<SubUnitRequestRecord> select_live_sub_unit_requests(pqxx::transaction_base& transaction,
                                                                const std::string& kind);
void insert_sub_unit_request(pqxx::transaction_base& transaction, const SubUnitRequestRecord& request);
void update_sub_unit_request(pqxx::transaction_base& transaction, const SubUnitRequestRecord& request);
std::optional<SubUnitRequestRecord> select_sub_unit_request(pqxx::transaction_base& transaction, const std::string& id);
/// The request that an agent's message made; empty when there is none.
std::optional<SubUnitRequestRecord> select_sub_unit_request_of(pqxx::transaction_base& transaction,
                                                               const std::string& center_id,
                                                               const std::string& message_id);
/// Of each kind that a center has, the last request that its agent has made.
std::vector<SubUnitRequestRecord> select_last_agent_requests(pqxx::transaction_base& transaction,
                                                             const std::string& center_id);

/// Grants that have not reached their center.
std::vector<SubUnitGrantRecord> select_moving_sub_unit_grants(pqxx::transaction_base& transaction,
                                                              const std::string& kind);
void insert_sub_unit_grant(pqxx::transaction_base& transaction, const SubUnitGrantRecord& grant);
void update_sub_unit_grant(pqxx::transaction_base& transaction, const SubUnitGrantRecord& grant);
std::optional<SubUnitGrantRecord> select_sub_unit_grant(pqxx::transaction_base& transaction, const std::string& id);

/// `event.id`, `event.at` and `event.center` are the database's.
void insert_sub_unit_event(pqxx::transaction_base& transaction, const SubUnitEventRecord& event);

/// How often an agent may ask for something else, say another total or refuse in ten minutes: twice for each of the
/// hundred kinds that a center may have. Each of these is recorded, and more would let one agent fill the database.
inline constexpr std::int64_t kMaxSubUnitRecords = 200;
/// Whether a center's agent has done so as often as it may.
bool is_beyond_sub_unit_pace(pqxx::transaction_base& transaction, const std::string& center_id);

/// What a center offers of a unit type, and what jobs have of it.
struct SubUnitTypeUse {
    std::int64_t offered_units{}; ///< 0: it does not offer that unit type
    std::int64_t used_units{};
    std::int64_t largest_attempt{}; ///< units of the attempt that has, or waits for, most
};
/// No attempt is placed there until the transaction ends.
SubUnitTypeUse lock_unit_type_use(pqxx::transaction_base& transaction, const std::string& center_id,
                                  const std::string& unit_type);

/// The center of that name or id; empty when there is none.
std::string select_center_id(pqxx::transaction_base& transaction, const std::string& center);
/// Whether the session of that center's agent is the newest.
bool is_center_session(pqxx::transaction_base& transaction, const std::string& center_id, std::int64_t epoch);

} // namespace fathom::server
