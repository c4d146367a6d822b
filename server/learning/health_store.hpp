#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/decide/trust/health.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows that tell whether centers and unit types do what they should. All functions take the caller's transaction,
/// block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// What jobs came to at a center lately.
struct CenterAttempts {
    CenterId id;
    std::string name;
    bool is_judged{}; ///< it takes jobs: it is neither quarantined nor revoked
    /// That count: of jobs, neither cancelled nor pre-empted, and decided since it was last let back in.
    std::vector<EndedAttempt> attempts;
    std::vector<std::string> types_that_succeed; ///< job types, each once
    std::set<std::string> submitters;            ///< of all its attempts
};
/// Of every center at which an attempt ended within the window; the newest 20 000 attempts count.
std::vector<CenterAttempts> select_center_attempts(pqxx::transaction_base& transaction, std::chrono::seconds window);

/// A center that gets probes only.
struct QuarantinedCenter {
    CenterId id;
    std::string name;
    bool is_reachable{};        ///< online and not drained: it can be probed
    bool has_probe_queued{};    ///< within the hour: it may tell whether it is good again
    std::int64_t good_probes{}; ///< in a row, the newest ones since it was quarantined that were not pre-empted
    std::int64_t bad_probes{};  ///< likewise; one of the two is 0
    std::int64_t probe_count{}; ///< that have ended since it was quarantined
    Timestamp last_word_at{};   ///< when its last probe ended, or it was quarantined
};
/// In order of name.
std::vector<QuarantinedCenter> select_quarantined(pqxx::transaction_base& transaction);

/// What the metascheduler's own probes (cause "quarantine") tell about a center that takes jobs and is suspected. Those
/// count that were asked for since it was last let back in, and ended within a day.
struct SuspectProbes {
    bool is_reachable{};       ///< online and not drained: it can be probed
    bool has_probe_queued{};   ///< one has not ended yet
    bool has_failed{};         ///< or was lost: the newest of those sent there that ended within the window
    std::int64_t count{};      ///< that have ended
    Timestamp last_ended_at{}; ///< of any of them; the epoch: there is none
};
SuspectProbes select_suspect_probes(pqxx::transaction_base& transaction, const CenterId& center,
                                    std::chrono::seconds window);

/// When each active unit type of a center that takes work was last measured, network aside: its windows are measured
/// all the time, and run times are predicted without them.
std::map<std::string, Timestamp> select_last_measured(pqxx::transaction_base& transaction);

/// What of a unit type is known for the log.
struct DriftedUnitType {
    CenterId center_id;
    std::string center;
    std::string name;
};
/// Asks for new measurements of a unit type, unless that was asked within `pause`, or not followed by a measurement
/// since.
/// @return empty: not asked.
std::optional<DriftedUnitType> request_drift_probes(pqxx::transaction_base& transaction, const std::string& unit_type,
                                                    Timestamp measured_at, std::chrono::seconds pause);

} // namespace fathom::server
