#include "core/schedule/cycle_replay.hpp"

#include "core/decide/routing/decision_json.hpp"
#include "core/schedule/waiting_reason.hpp"

#include <algorithm>
#include <set>

namespace fathom {
namespace {

/// Jobs before it that are named.
constexpr std::size_t kMaxNamed = 32;

/// Ids of the unit types where the job could run at all.
std::set<std::string> places_of(const Decision& decision)
{
    std::set<std::string> places;
    for (const Candidate& one : decision.candidates) {
        if (one.feasible) places.insert(one.unit_type_id.value);
    }
    return places;
}

Json start_json(const ReadyJob& job, const Candidate& winner)
{
    return {{"job_id", job.id},
            {"center", winner.center},
            {"unit_type", winner.unit_type},
            {"unit_count", winner.unit_count},
            {"run_s", winner.prediction.run_s}};
}

/// The newest first: who started last before it took what it did not get.
Json starts_before(const CycleReplay& replay, std::size_t count, const Decision& decision)
{
    const std::set<std::string> places = places_of(decision);
    Json list = Json::array();
    for (std::size_t i = count; i > 0 && list.size() < kMaxNamed; --i) {
        const ScheduledStart& start = replay.plan.starts[i - 1];
        if (places.contains(start.winner.unit_type_id.value))
            list.push_back(start_json(replay.moment.input.jobs[start.job], start.winner));
    }
    return list;
}

Json planned_json(const ScheduledWait& wait)
{
    if (!wait.planned || !wait.decision->winner) return nullptr;
    const Candidate& winner = wait.decision->candidates[*wait.decision->winner];
    return {{"center", winner.center},
            {"unit_type", winner.unit_type},
            {"unit_count", wait.planned->unit_count},
            {"from_s", wait.planned->from_s}};
}

Json waiting_json(const CycleReplay& replay, const ScheduledWait& wait, std::string_view currency)
{
    const auto ahead =
        std::count_if(replay.plan.waits.begin(), replay.plan.waits.end(), [&](const ScheduledWait& other) {
            return other.waits_for_units && other.priority_rank < wait.priority_rank;
        });
    return {{"reason", waiting_reason_of(wait, replay.moment.now, currency)},
            {"priority_rank", wait.priority_rank},
            {"jobs_ahead", ahead},
            {"planned", planned_json(wait)}};
}

} // namespace

SchedulePlan decide_cycle(const CycleMoment& moment, const CycleCatalog& catalog,
                          std::optional<std::size_t> explained_job)
{
    UnitLedger units(catalog.unit_types, catalog.knowledge, moment.unit_state());
    if (!explained_job) return schedule(units, moment.input);
    ScheduleInput input = moment.input;
    input.explained_job = explained_job;
    return schedule(units, input);
}

Result<CycleReplay> replay_cycle(std::string_view cycle, std::span<const std::string> catalog, std::string_view plan)
{
    Result<CycleMoment> moment = read_cycle(cycle);
    if (!moment) return moment.error();
    Result<CycleCatalog> known = read_catalog(catalog);
    if (!known) return known.error();
    const Result<PlanRecord> stored = read_plan(plan);
    if (!stored) return stored.error();
    CycleReplay replay{std::move(*moment), std::move(*known), {}, {}};
    if (replay.catalog.loads) replay.moment.input.loads = replay.catalog.loads;
    replay.plan = decide_cycle(replay.moment, replay.catalog);
    replay.differences =
        plan_differences(*stored, record_of(replay.plan), replay.moment.input.jobs, replay.catalog.unit_types);
    return replay;
}

std::optional<Json> explain_in_cycle(const CycleReplay& replay, std::string_view job, std::string_view currency)
{
    const std::vector<ReadyJob>& jobs = replay.moment.input.jobs;
    const std::vector<ScheduledStart>& starts = replay.plan.starts;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const ReadyJob& own = jobs[starts[i].job];
        if (own.id != job) continue;
        return Json{{"job_id", own.id},
                    {"is_start", true},
                    {"position", i + 1},
                    {"decision", to_json(starts[i].decision, currency)},
                    {"starts_before", starts_before(replay, i, starts[i].decision)},
                    {"waiting", nullptr}};
    }
    const auto own = std::find_if(jobs.begin(), jobs.end(), [&](const ReadyJob& one) { return one.id == job; });
    if (own == jobs.end()) return std::nullopt;
    const auto index = static_cast<std::size_t>(own - jobs.begin());
    const SchedulePlan plan = decide_cycle(replay.moment, replay.catalog, index);
    for (const ScheduledWait& wait : plan.waits) {
        if (wait.job != index) continue;
        return Json{{"job_id", own->id},
                    {"is_start", false},
                    {"position", nullptr},
                    {"decision", to_json(*wait.decision, currency)},
                    {"starts_before", starts_before(replay, starts.size(), *wait.decision)},
                    {"waiting", waiting_json(replay, wait, currency)}};
    }
    return std::nullopt;
}

} // namespace fathom
