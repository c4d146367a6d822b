#include "server/probing/refresh/copies_refresh.hpp"

#include "core/decide/probing/copies_plan.hpp"
#include "core/decide/probing/probe_plan.hpp"
#include "core/model/probe_result.hpp"
#include "server/centers/unit_type_directory.hpp"
#include "server/probing/refresh/refresh_store.hpp"
#include "server/probing/tasks/probe_naming.hpp"
#include "server/probing/tasks/run_queue.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// For who comes first to the free units.
constexpr auto kMaxStartDelay = std::chrono::minutes(5);
/// Each copy's samples are taken alone first and together last; between, it is measured beside bubbles, and the
/// reporter beside it.
constexpr double kTurns = 4;

struct Item {
    const UnitTypeOffer* offer{};
    const ProbeTaskRecord* task{};
    std::int64_t copies{};
};

bool can_run_copies(const UnitTypeOffer& offer)
{
    return offer.closed_reason.empty() && offer.copies_obstacle.empty() && offer.unit_count >= 2 &&
           offer.units_in_use == 0;
}

std::vector<std::string> operators_of(const ProbeTaskRecord& task)
{
    std::vector<std::string> ids;
    for (const OperatorUse& use : task.document.operators)
        ids.push_back(use.id);
    return ids;
}

/// Of what was measured longest ago; empty: something never was.
std::optional<double> age_of(const CopiesAges& ages, const UnitTypeOffer& offer, const std::vector<std::string>& ids,
                             Timestamp now)
{
    double age_s = 0;
    for (const std::string& id : ids) {
        const auto found = ages.find({offer.id.value, id});
        if (found == ages.end()) return std::nullopt;
        age_s = std::max(age_s, Seconds(now - found->second).count());
    }
    return age_s;
}

Result<void> queue_copies(pqxx::work& transaction, ProbeJobWriter& writer, const Item& item,
                          const CopiesRefreshTerms& terms)
{
    const auto limit = std::chrono::ceil<std::chrono::seconds>(Seconds(copies_limit_s(item.task->document.limit_s)));
    const RunPlace place{.unit_type_id = item.offer->id,
                         .center_id = item.offer->center_id,
                         .unit_count = item.copies,
                         .mode = ScalingMode::kThroughput,
                         .selection = "catalog",
                         .cause = terms.cause,
                         .created_by = kOwnActor,
                         .count_by = "scaling",
                         .deadline = terms.now + kMaxStartDelay + limit};
    const Result<ProbeRunId> queued = queue_run(transaction, writer, *item.task, place);
    if (!queued) return queued.error().code == Errc::kInfeasible ? Result<void>() : queued.error();
    notify(transaction, "route", "");
    log_after_commit(LogLevel::kInfo, "copies_refreshed",
                     {{"probe_run_id", queued->value}, {"center", item.offer->center}, {"copies", item.copies}});
    return {};
}

} // namespace

Result<void> refresh_copies(pqxx::work& transaction, ProbeJobWriter& writer, std::span<const TaskInUse> tasks,
                            const CopiesRefreshTerms& terms)
{
    if (tasks.empty()) return {};
    std::vector<UnitTypeOffer> offers = unit_type_offers(transaction, terms.center);
    std::vector<std::string> served;
    for (const ScalingMode mode : {ScalingMode::kStrong, ScalingMode::kThroughput}) {
        const std::vector<std::string> of_mode =
            select_served_unit_types(transaction, terms.center, terms.cause, std::nullopt, mode);
        served.insert(served.end(), of_mode.begin(), of_mode.end());
    }
    std::erase_if(offers, [&](const UnitTypeOffer& offer) {
        return !can_run_copies(offer) || std::find(served.begin(), served.end(), offer.id.value) != served.end();
    });
    if (offers.empty()) return {};
    const CopiesAges ages = select_copies_ages(transaction, terms.center);
    std::vector<ProbeCandidate> candidates;
    std::vector<Item> items; // of each candidate
    for (const UnitTypeOffer& offer : offers) {
        for (const TaskInUse& one : tasks) {
            const std::vector<std::string> ids = operators_of(one.task);
            if (!offer.runs(ids)) continue;
            const std::int64_t copies = std::min(offer.unit_count, kMaxProbeCopies);
            const double run_s = kTurns * one.task.pretest_s.value_or(one.task.document.limit_s);
            candidates.push_back({.id = offer.id.value + " " + one.task.id.value,
                                  .age_s = age_of(ages, offer, ids, terms.now),
                                  .use = one.share,
                                  .cost_s = run_s * static_cast<double>(copies)});
            items.push_back({&offer, &one.task, copies});
        }
    }
    const ProbePlanRule rule{.metering_period_s = terms.metering_period_s};
    const std::vector<std::size_t> picks = plan_probes(candidates, rule, terms.allowance_s);
    // Units are free for one of them at once; the next look is for the next.
    if (picks.empty()) return {};
    return queue_copies(transaction, writer, items[picks.front()], terms);
}

} // namespace fathom::server
