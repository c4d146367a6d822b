#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "core/decide/measurement/advice.hpp"
#include "core/decide/probing/probe_budget.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of centers and unit types. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

struct CenterRecord {
    CenterId id;
    std::string name;
    std::string state; ///< "enrolled", "online", "suspect", "lost"
    bool drained{};
    std::string drain_reason; ///< empty: it is not drained, or nobody said why
    std::int64_t version{};
    Timestamp created_at{};
    std::optional<Timestamp> certificate_not_after;
    std::optional<Timestamp> revoked_at;
    std::optional<Timestamp> connected_at;
    std::optional<Timestamp> last_seen_at;
    std::string agent_version;
    Json facts;
    std::int64_t unit_type_count{}; ///< active ones
    std::int64_t unit_count{};      ///< of these
    std::int64_t units_in_use{};    ///< of these, by attempts that have not ended
    ProbeBudget probe_budget{};
    std::optional<Timestamp> probe_requested_at{}; ///< it waits for new measurements since then
    std::string probe_request_reason{};
    std::optional<Timestamp> quarantined_at{}; ///< it takes probes only since then
    std::string quarantine_reason{};
};

struct UnitTypeRecord {
    UnitTypeId id;
    CenterId center_id;
    std::string center;
    std::string name;
    std::string resource_type;
    std::int64_t unit_count{};
    std::int64_t units_in_use{};
    /// When a job submitted at queue_told_at would start, by the center's own batch system; empty: it does not say.
    std::optional<Timestamp> queue_expected_start;
    std::optional<Timestamp> queue_told_at;
    std::int64_t cores_per_unit{};
    std::int64_t memory_bytes_per_unit{};
    std::vector<std::string> operators;
    Json facts;
    bool active{};
    Timestamp changed_at{};
    std::vector<Advice> advice{}; ///< from its newest probe result
};

/// Ordered by name; `after` is a name.
Page<CenterRecord> select_centers(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after);
/// By id or name.
std::optional<CenterRecord> select_center(pqxx::transaction_base& transaction, const std::string& key);
/// The same, and nobody else changes it until the transaction ends.
std::optional<CenterRecord> lock_center(pqxx::transaction_base& transaction, const std::string& key);

/// What people set of a center; what is empty stays as it is.
struct CenterChange {
    std::optional<bool> drained{};             ///< it gets no new work
    std::optional<std::string> drain_reason{}; ///< of a drain
    std::optional<double> probe_share{};       ///< of its unit-seconds, what probes may use at most, 0…1
};
void update_center(pqxx::transaction_base& transaction, const CenterId& id, const CenterChange& change);
/// Revokes the certificate, ends the session on whichever replica holds it, and makes unused enrolment
/// tokens of the same name worthless: else one that was issued before could undo this.
void update_revoked(pqxx::transaction_base& transaction, const CenterId& id);

/// Of the unit types of a page, all, or those alone that have advice: then it may have fewer than asked for, or none,
/// while there are more.
enum class UnitTypesWanted { kAll, kAdvised };

/// Ordered by center name, then name; `center` is an id, a name, or empty for all. `after` is opaque.
Page<UnitTypeRecord> select_unit_types(pqxx::transaction_base& transaction, const std::string& center,
                                       std::int64_t size, const std::string& after,
                                       UnitTypesWanted wanted = UnitTypesWanted::kAll);
std::optional<UnitTypeRecord> select_unit_type(pqxx::transaction_base& transaction, const UnitTypeId& id);

Json to_json(const CenterRecord& center);
Json to_json(const UnitTypeRecord& unit_type);

} // namespace fathom::server
