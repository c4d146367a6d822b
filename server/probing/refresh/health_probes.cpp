#include "server/probing/refresh/health_probes.hpp"

#include "server/probing/refresh/refresh_store.hpp"
#include "server/probing/tasks/full_benchmark_task.hpp"
#include "server/probing/tasks/probe_naming.hpp"
#include "server/probing/tasks/run_queue.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// Units that are not to be had for so long may not be for days; others of the center could tell earlier.
constexpr std::chrono::hours kMaxWait{1};

constexpr const char* kNoRoom =
    "its probe budget has no room for the probes that would let it back in: raise its probe share, or release it";
constexpr const char* kNothingToProbe = "none of its units can be probed now; an administrator can release it";

/// An operator to try on a unit type.
struct Trial {
    UnitTypeOffer offer;
    OperatorUse use;
};

bool contains(const std::vector<std::string>& ids, const UnitTypeId& id)
{
    return std::find(ids.begin(), ids.end(), id.value) != ids.end();
}

/// Everything that could be tried, operator by operator, so that each turn comes to another unit type.
std::vector<Trial> trials_at(pqxx::work& transaction, const OperatorLibrary& library, const HealthProbePlace& where)
{
    std::vector<std::pair<UnitTypeOffer, std::vector<OperatorUse>>> offers;
    std::size_t most = 0;
    const std::vector<std::string> held = select_held_unit_types(transaction, where.center);
    for (const UnitTypeOffer& offer : unit_type_offers(transaction)) {
        if (offer.center_id != where.center || offer.unit_count <= 0 || contains(held, offer.id)) continue;
        if (!where.unit_types.empty() && !contains(where.unit_types, offer.id)) continue;
        // At default sizes, whatever the caches: whether it runs well is asked, not how fast its memory is.
        UnitTypeOffer small = offer;
        small.memory = {};
        std::vector<OperatorUse> operators = full_benchmark_operators(library, small);
        offers.emplace_back(std::move(small), std::move(operators));
        most = std::max(most, offers.back().second.size());
    }
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < most; ++i) {
        for (const auto& [offer, operators] : offers)
            if (i < operators.size()) trials.push_back({offer, operators[i]});
    }
    return trials;
}

} // namespace

Result<HealthProbe> HealthProbes::queue(pqxx::work& transaction, const HealthProbePlace& where, Timestamp now) const
{
    const std::vector<Trial> trials = trials_at(transaction, *operators_->library(), where);
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const Trial& trial = trials[(static_cast<std::size_t>(where.turn) + i) % trials.size()];
        NewProbeTask task;
        task.origin = "default";
        task.created_by = kOwnActor;
        task.state = ProbeTaskState::kReleased;
        task.document = full_benchmark_task({trial.use});
        const ProbeTaskRecord record = find_or_insert_task(transaction, task).record;
        const RunPlace place{.unit_type_id = trial.offer.id,
                             .center_id = where.center,
                             .unit_count = 1,
                             .selection = "catalog",
                             .cause = "quarantine",
                             .created_by = kOwnActor,
                             .deadline = now + kMaxWait};
        if (find_queued_run(transaction, record.id, place.unit_type_id, place.unit_count)) continue;
        const Result<ProbeRunId> queued = queue_run(transaction, *writer_, record, place);
        if (!queued && queued.error().code == Errc::kInfeasible) return HealthProbe{.obstacle = kNoRoom};
        if (!queued) return queued.error();
        notify(transaction, "route", "");
        return HealthProbe{.run = *queued};
    }
    return HealthProbe{.obstacle = kNothingToProbe};
}

} // namespace fathom::server
