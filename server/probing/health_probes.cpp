#include "server/probing/health_probes.hpp"

#include "server/probing/run_queue.hpp"
#include "server/probing/survey_task.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

constexpr const char* kActor = "fathom";

/// An operator to try on a unit type.
struct Trial {
    UnitTypeOffer offer;
    OperatorUse use;
};

/// Everything that could be tried, operator by operator, so that each turn comes to another unit type.
std::vector<Trial> trials_at(pqxx::work& transaction, const OperatorLibrary& library, const CenterId& center)
{
    std::vector<std::pair<UnitTypeOffer, std::vector<OperatorUse>>> offers;
    std::size_t most = 0;
    for (const UnitTypeOffer& offer : unit_type_offers(transaction)) {
        if (offer.center_id != center || offer.unit_count <= 0) continue;
        offers.emplace_back(offer, surveyed_operators(library, offer));
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

Result<std::optional<ProbeRunId>> HealthProbes::queue(pqxx::work& transaction, const CenterId& center,
                                                      std::int64_t turn) const
{
    const std::vector<Trial> trials = trials_at(transaction, *operators_->library(), center);
    if (trials.empty()) return std::optional<ProbeRunId>();
    const Trial& trial = trials[static_cast<std::size_t>(turn) % trials.size()];
    NewProbeTask task;
    task.origin = "default";
    task.created_by = kActor;
    task.state = ProbeTaskState::kReleased;
    task.document = survey_task({trial.use});
    const RunPlace place{.unit_type_id = trial.offer.id,
                         .center_id = center,
                         .unit_count = 1,
                         .selection = "catalog",
                         .cause = "quarantine",
                         .created_by = kActor};
    const Result<ProbeRunId> queued =
        queue_run(transaction, *writer_, find_or_insert_task(transaction, task).record, place);
    if (!queued && queued.error().code == Errc::kInfeasible) return std::optional<ProbeRunId>();
    if (!queued) return queued.error();
    notify(transaction, "route", "");
    return std::optional(*queued);
}

} // namespace fathom::server
