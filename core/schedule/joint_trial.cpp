#include "core/schedule/joint_trial.hpp"

#include "core/decide/explanation/route_trial.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "core/decide/routing/route_columns.hpp"

#include <algorithm>

namespace fathom {
namespace {

constexpr std::int64_t kHighestPriority = 100;
/// Among so many statements the one of the priority stands.
constexpr std::size_t kMaxStatements = 8;

/// What a plan says of one job.
struct JobOutcome {
    const Decision* decision = nullptr; ///< never null in a plan of the job's cycle
    bool is_start{};
};

JobOutcome outcome_of(const SchedulePlan& plan, std::size_t job)
{
    for (const ScheduledStart& start : plan.starts) {
        if (start.job == job) return {&start.decision, true};
    }
    for (const ScheduledWait& wait : plan.waits) {
        if (wait.job == job) return {wait.decision.get(), false};
    }
    return {};
}

/// Decides the whole cycle, with one thing changed at a time.
class JointTrial : public DecisionTrial {
  public:
    /// All must outlive it.
    JointTrial(const CycleReplay& replay, std::size_t job, const JobOutcome& outcome, const UnitTypeList& views,
               const std::function<bool()>& is_over)
        : DecisionTrial(replay.moment.input.jobs[job].request, *outcome.decision, views), replay_(&replay), job_(job),
          input_(replay.moment.input), is_over_(&is_over),
          columns_(std::make_shared<RouteColumns>(replay.catalog.unit_types, replay.catalog.knowledge.estimates))
    {
        input_.jobs[job].kind += '*'; // decided by itself, as it may be changed
        input_.explained_job = job;
    }

    bool wins_with(std::size_t index, const Change& change) override
    {
        if ((*is_over_)()) return false;
        UnitLedger units = ledger();
        units.change(view(index).id, change);
        const SchedulePlan plan = schedule(units, input_);
        return wins(*outcome_of(plan, job_).decision, index);
    }

    Decision decide(const RouteRequest& request) override
    {
        if ((*is_over_)()) return {};
        RouteRequest& own = input_.jobs[job_].request;
        const RouteRequest before = std::exchange(own, request);
        UnitLedger units = ledger();
        const SchedulePlan plan = schedule(units, input_);
        own = before;
        return *outcome_of(plan, job_).decision;
    }

    /// Whether the job starts at once with that priority, at this place, or, without one, anywhere; nullptr: no.
    std::optional<Candidate> start_with(std::int64_t priority, const std::optional<UnitTypeId>& place)
    {
        if ((*is_over_)()) return std::nullopt;
        std::int64_t& own = input_.jobs[job_].priority;
        const std::int64_t before = std::exchange(own, priority);
        UnitLedger units = ledger();
        const SchedulePlan plan = schedule(units, input_);
        own = before;
        const JobOutcome outcome = outcome_of(plan, job_);
        if (!outcome.is_start) return std::nullopt;
        const Candidate& winner = outcome.decision->candidates[*outcome.decision->winner];
        if (place && winner.unit_type_id != *place) return std::nullopt;
        return winner;
    }

  private:
    UnitLedger ledger() const
    {
        return {replay_->catalog.unit_types, replay_->catalog.knowledge, replay_->moment.unit_state(), columns_};
    }

    const CycleReplay* replay_;
    std::size_t job_;
    ScheduleInput input_;
    const std::function<bool()>* is_over_;
    std::shared_ptr<RouteColumns> columns_;
};

/// The least priority that would have started the job at once, or where it would go alone.
std::optional<Counterfactual> find_priority(JointTrial& trial, const ReadyJob& job, const JobOutcome& outcome,
                                            const Decision& alone)
{
    if (!outcome.decision->winner || !alone.winner || job.priority >= kHighestPriority) return std::nullopt;
    const UnitTypeId& best = alone.candidates[*alone.winner].unit_type_id;
    std::optional<UnitTypeId> wanted;
    if (outcome.is_start) {
        if (outcome.decision->candidates[*outcome.decision->winner].unit_type_id == best) return std::nullopt;
        wanted = best;
    }
    std::optional<Candidate> start = trial.start_with(kHighestPriority, wanted);
    if (!start) return std::nullopt;
    std::int64_t yes = kHighestPriority;
    for (std::int64_t no = job.priority; yes - no > 1;) {
        const std::int64_t middle = no + (yes - no) / 2;
        if (std::optional<Candidate> there = trial.start_with(middle, wanted)) {
            yes = middle;
            start = std::move(there);
        } else {
            no = middle;
        }
    }
    return Counterfactual{.kind = "priority",
                          .center = start->center,
                          .unit_type = start->unit_type,
                          .needed = static_cast<double>(yes),
                          .text = place_text(*start) + " would run it now if its priority were " + std::to_string(yes) +
                                  " instead of " + std::to_string(job.priority)};
}

} // namespace

std::vector<Counterfactual> joint_counterfactuals(const CycleReplay& replay, std::size_t job, std::string_view currency,
                                                  const std::function<bool()>& is_over)
{
    const CycleMoment& moment = replay.moment;
    const SchedulePlan plan = decide_cycle(moment, replay.catalog, job);
    const JobOutcome outcome = outcome_of(plan, job);
    if (outcome.decision == nullptr) return {};
    // As the cycle began: what is free then, and where the job would go if it were alone.
    UnitLedger units(replay.catalog.unit_types, replay.catalog.knowledge, moment.unit_state());
    units.know_pairs(moment.input.gpu_pairs);
    JointTrial trial(replay, job, outcome, units.views(), is_over);
    if (!trial.is_complete()) return {};
    std::optional<Counterfactual> priority =
        find_priority(trial, moment.input.jobs[job], outcome, units.decide(moment.input.jobs[job].request));
    std::vector<Counterfactual> found = find_counterfactuals(trial, currency);
    if (!priority) return found;
    if (found.size() == kMaxStatements) found.pop_back();
    found.insert(found.begin(), std::move(*priority));
    return found;
}

} // namespace fathom
