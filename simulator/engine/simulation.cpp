#include "simulator/engine/simulation.hpp"

#include "core/base/never.hpp"
#include "simulator/engine/device_sharing.hpp"
#include "simulator/engine/event.hpp"
#include "simulator/engine/network_state.hpp"
#include "simulator/engine/policy_checks.hpp"
#include "simulator/engine/series_recorder.hpp"
#include "simulator/engine/timed.hpp"
#include "simulator/engine/unit_times.hpp"
#include "simulator/world/check_scenario.hpp"
#include "simulator/world/truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr std::int64_t kMomentsPerProgress = 1024;
constexpr std::int64_t kMaxIdleMoments = 1'000'000; ///< units that break and are repaired while nothing can run
/// A job that broken units ended so often is longer than they ever hold: without a bound it would never end.
constexpr std::uint16_t kMaxAttempts = 10'000;

class Simulation {
  public:
    Simulation(const Scenario& scenario, Truth& truth, Knowledge& knowledge, Policy& policy, std::uint64_t seed,
               const SimulationHooks& hooks)
        : scenario_(scenario), jobs_(scenario.workload.jobs), truth_(truth), knowledge_(knowledge), policy_(policy),
          hooks_(hooks), counted_from_s_(jobs_[scenario.workload.first_counted].arrival_s),
          counted_to_s_(jobs_[scenario.workload.end_counted - 1].arrival_s),
          left_(static_cast<std::int64_t>(scenario.workload.end_counted - scenario.workload.first_counted)),
          state_(scenario.network, policy.hands_over(), seed, counted_from_s_, counted_to_s_),
          sharing_(scenario, counted_from_s_, counted_to_s_), held_(jobs_.size())
    {
        result_.jobs.resize(jobs_.size());
        for (std::size_t type = 0; type < state_.size(); ++type)
            plan_break(type);
        for (const Event& opening : openings_of(scenario.network))
            events_.push(opening);
    }

    Result<SimulationResult> run()
    {
        for (std::int64_t moment = 0; left_ > 0; ++moment) {
            if (look_up(moment)) break;
            const double next_s = next_moment_s();
            const bool is_idle = running_ == 0 && next_ == jobs_.size();
            idle_moments_ = is_idle ? idle_moments_ + 1 : 0;
            if (next_s == kNever || idle_moments_ > kMaxIdleMoments)
                return broken(fmt::format("{} jobs were left waiting for ever", waiting_));
            if (!(next_s >= now_s_)) return broken("time ran back");
            pass_to(next_s);
            if (Result<void> done = handle_events(); !done) return done.error();
            if (Result<void> done = decide(); !done) return done.error();
            note_series();
        }
        finish();
        return std::move(result_);
    }

  private:
    struct Held {
        double predicted_s{};
        double slowdown{1}; ///< as PolicyStart has it
        double compute_s{};
    };

    PolicyView view() const
    {
        return {now_s_, &scenario_, state_.reports(), sharing_.is_any_shared() ? &sharing_ : nullptr};
    }
    const UnitType& unit_type(std::size_t type) const { return scenario_.network.unit_types[type]; }
    const Center& center_of(std::size_t type) const { return scenario_.network.centers[unit_type(type).center]; }
    bool is_counted(std::size_t job) const
    {
        return scenario_.workload.first_counted <= job && job < scenario_.workload.end_counted;
    }

    /// True when the simulation is to stop.
    bool look_up(std::int64_t moment)
    {
        if (hooks_.progress && moment % kMomentsPerProgress == 0)
            hooks_.progress({now_s_, static_cast<std::int64_t>(next_), ended_, waiting_});
        result_.was_stopped = hooks_.stop != nullptr && hooks_.stop->load(std::memory_order_relaxed);
        return result_.was_stopped;
    }

    double next_moment_s() const
    {
        double next_s = next_ < jobs_.size() ? jobs_[next_].arrival_s : kNever;
        if (!events_.empty() && (running_ > 0 || waiting_ > 0 || next_ < jobs_.size()))
            next_s = std::min(next_s, events_.top().at_s);
        return std::min(next_s, wake_s_);
    }

    /// Lets time pass; nothing else changes meanwhile.
    void pass_to(double next_s)
    {
        state_.report_until(next_s, scenario_.knowledge.report_every_s);
        demand_unit_s_ += static_cast<double>(demanded_units_) * (next_s - now_s_);
        now_s_ = next_s;
        knowledge_.advance(now_s_);
    }

    Result<void> handle_events()
    {
        while (!events_.empty() && events_.top().at_s <= now_s_) {
            const Event event = events_.top();
            events_.pop();
            switch (event.kind) {
            case EventKind::kEnd:
                end(event);
                break;
            case EventKind::kRepair:
                state_.repair(event.subject, now_s_);
                break;
            case EventKind::kBreak:
                if (Result<void> done = break_unit(event.subject); !done) return done;
                break;
            case EventKind::kOpen:
                state_.touch_center(event.subject);
                break;
            }
            has_changed_ = true;
        }
        for (; next_ < jobs_.size() && jobs_[next_].arrival_s <= now_s_; ++next_) {
            if (Result<void> done = arrive(next_); !done) return done;
        }
        return {};
    }

    Result<void> arrive(std::size_t job)
    {
        JobOutcome& outcome = result_.jobs[job];
        possible_.clear();
        for (std::size_t type = 0; type < state_.size(); ++type) {
            if (fits(scenario_, jobs_[job], type)) possible_.push_back(static_cast<std::uint32_t>(type));
        }
        if (outcome.attempts == 0) outcome.demand_unit_s = demand_unit_s_;
        if (possible_.empty() || (!policy_.hands_over() && !policy_.arrive(view(), job))) {
            settle(job, JobState::kImpossible);
            return {};
        }
        demanded_units_ += jobs_[job].unit_count;
        result_.most_waiting = std::max(result_.most_waiting, ++waiting_);
        has_changed_ = true;
        if (!policy_.hands_over()) return {};
        const PolicyStart chosen = timed(result_.decide_wall_s, [&] { return policy_.choose(view(), job, possible_); });
        ++result_.decisions;
        if (Result<void> valid = check_choice(chosen, job, possible_, scenario_.network); !valid) return valid;
        state_.queue(chosen.unit_type)
            .push({job, chosen.unit_count, chosen.predicted_s, told_work(scenario_, job, chosen.unit_count)});
        state_.touch(chosen.unit_type);
        return {};
    }

    Result<void> decide()
    {
        if (!has_changed_ && now_s_ < wake_s_) return {};
        has_changed_ = false;
        if (policy_.hands_over()) return start_queued();
        wake_s_ = kNever;
        if (waiting_ == 0) return {};
        ++result_.decisions;
        for (const PolicyStart& one : timed(result_.decide_wall_s, [&] { return policy_.decide(view()); })) {
            if (Result<void> done = start(one); !done) return done;
        }
        for (const std::size_t job : policy_.take_given_up()) {
            if (Result<void> done = give_up(job); !done) return done;
        }
        wake_s_ = policy_.wake_at_s(view());
        if (!(wake_s_ > now_s_)) return broken("the policy wants to be asked again before time goes on");
        return {};
    }

    Result<void> start_queued()
    {
        for (std::size_t type = 0; type < state_.size(); ++type) {
            if (!state_.take_touch(type)) continue;
            const double free_for_s = open_for_s(center_of(type), now_s_);
            for (const CenterQueue::Waiting& one :
                 state_.queue(type).start(now_s_, state_.pool(type).free_units(), free_for_s)) {
                if (Result<void> done = start({one.job, type, one.unit_count, one.limit_s}); !done) return done;
            }
        }
        return {};
    }

    Result<void> give_up(std::size_t job)
    {
        if (job >= next_ || result_.jobs[job].state != JobState::kUnfinished || result_.jobs[job].unit_count > 0)
            return broken("the policy gave up a job that does not wait");
        settle(job, JobState::kImpossible);
        demanded_units_ -= jobs_[job].unit_count;
        --waiting_;
        return {};
    }

    /// Nothing more becomes of the job.
    void settle(std::size_t job, JobState state)
    {
        JobOutcome& outcome = result_.jobs[job];
        outcome.state = state;
        outcome.demand_unit_s = demand_unit_s_ - outcome.demand_unit_s;
        if (is_counted(job)) --left_;
    }

    Result<void> start(const PolicyStart& start)
    {
        const PolicySituation situation{&scenario_, result_.jobs, next_, now_s_};
        if (Result<void> valid = check_start(start, situation, state_); !valid) return valid;
        state_.take(start.job, start.unit_type, start.unit_count, now_s_);
        begin_attempt(start);
        --waiting_;
        ++running_;
        ++result_.starts;
        return {};
    }

    void begin_attempt(const PolicyStart& start)
    {
        JobOutcome& outcome = result_.jobs[start.job];
        const Center& center = center_of(start.unit_type);
        const JobDetails& details = scenario_.workload.details[jobs_[start.job].details];
        const double in_s =
            center.start_up_s + true_transfer_s(center, now_s_ + center.start_up_s, details.data_in_bytes);
        Held& held = held_[start.job];
        held.predicted_s = start.predicted_s;
        held.slowdown = start.slowdown;
        held.compute_s = truth_.run_s(start.job, start.unit_type, start.unit_count, outcome.attempts, now_s_ + in_s);
        const double computed_s = now_s_ + in_s + held.compute_s;
        outcome.start_s = now_s_;
        outcome.end_s = computed_s + true_transfer_s(center, computed_s, details.data_out_bytes);
        outcome.predicted_s = start.predicted_s;
        outcome.unit_type = static_cast<std::uint32_t>(start.unit_type);
        outcome.unit_count = static_cast<std::int32_t>(start.unit_count);
        ++outcome.attempts;
        events_.push({outcome.end_s, EventKind::kEnd, static_cast<std::uint32_t>(start.job), outcome.attempts});
        if (!sharing_.is_shared(start.unit_type)) return;
        for (const DeviceSharing::Computed& one : sharing_.take(start.job, start.unit_type, now_s_, now_s_ + in_s,
                                                                held.compute_s, now_s_ + start.predicted_s))
            end_later(one);
    }

    /// Or earlier: who comes and goes beside a job changes when it has computed.
    void end_later(const DeviceSharing::Computed& computed)
    {
        JobOutcome& outcome = result_.jobs[computed.job];
        const JobDetails& details = scenario_.workload.details[jobs_[computed.job].details];
        outcome.end_s =
            computed.at_s + true_transfer_s(center_of(outcome.unit_type), computed.at_s, details.data_out_bytes);
        events_.push({outcome.end_s, EventKind::kEnd, static_cast<std::uint32_t>(computed.job), outcome.attempts});
    }

    /// The same for who is left on a device that the job has left.
    void leave_device(std::size_t job, std::size_t type)
    {
        const DeviceSharing::Left left = sharing_.give_back(job, type, now_s_);
        held_[job].compute_s = left.computed_for_s;
        if (left.beside) end_later(*left.beside);
    }

    /// The job leaves its units, for whatever reason.
    void leave(std::size_t job, bool has_failed)
    {
        JobOutcome& outcome = result_.jobs[job];
        const std::size_t type = outcome.unit_type;
        state_.give_back(job, type, now_s_);
        if (sharing_.is_shared(type)) leave_device(job, type);
        const double held_s = now_s_ - outcome.start_s;
        const auto parts = static_cast<double>(unit_type(type).units_per_device);
        outcome.cost += unit_type(type).price.cost(moment_of(outcome.start_s), held_s, outcome.unit_count) / parts;
        outcome.energy_j += unit_type(type).price.energy_j(held_s, outcome.unit_count) / parts;
        --running_;
        demanded_units_ -= jobs_[job].unit_count;
        const PolicyStart start{job, type, outcome.unit_count, held_[job].predicted_s};
        policy_.end(view(), start, outcome.start_s, has_failed);
    }

    void end(const Event& event)
    {
        const std::size_t job = event.subject;
        const JobOutcome& outcome = result_.jobs[job];
        if (event.attempt != outcome.attempts || outcome.unit_count == 0) return;
        // Of one beside whom others came and went only the last word counts.
        if (outcome.state != JobState::kUnfinished || event.at_s != outcome.end_s) return;
        leave(job, false);
        settle(job, JobState::kEnded);
        ++ended_;
        const Held& held = held_[job];
        knowledge_.learn(job, outcome.unit_type, outcome.unit_count, held.slowdown, held.compute_s, now_s_);
    }

    void plan_break(std::size_t type)
    {
        const double at_s = state_.next_break_s(type, now_s_);
        if (at_s < kNever) events_.push({at_s, EventKind::kBreak, static_cast<std::uint32_t>(type), 0});
    }

    Result<void> break_unit(std::size_t type)
    {
        const NetworkState::Break what = state_.next_break(type, now_s_);
        plan_break(type);
        if (!what.has_happened) return {};
        if (what.job) leave(*what.job, true);
        state_.break_one(type, now_s_);
        events_.push({what.repaired_at_s, EventKind::kRepair, static_cast<std::uint32_t>(type), 0});
        if (!what.job) return {};
        ++result_.failures;
        result_.jobs[*what.job].unit_count = 0;
        if (result_.jobs[*what.job].attempts < kMaxAttempts) return arrive(*what.job);
        settle(*what.job, JobState::kImpossible);
        return {};
    }

    void note_series()
    {
        if (series_.wants(now_s_)) series_.note({now_s_, waiting_, running_, busy_units(state_, sharing_)});
    }

    void finish()
    {
        result_.end_s = now_s_;
        result_.counted_from_s = counted_from_s_;
        result_.counted_to_s = std::clamp(now_s_, counted_from_s_, counted_to_s_);
        add_unit_times(scenario_.network, now_s_, state_, sharing_, result_);
        // What still runs was not paid for yet, and what waits has only wanted.
        for (std::size_t job = 0; job < next_; ++job) {
            JobOutcome& outcome = result_.jobs[job];
            if (outcome.state == JobState::kUnfinished) outcome.demand_unit_s = demand_unit_s_ - outcome.demand_unit_s;
        }
        result_.series = series_.take();
        result_.measurements = knowledge_.measurements();
    }

    const Scenario& scenario_;
    const std::vector<Job>& jobs_;
    Truth& truth_;
    Knowledge& knowledge_;
    Policy& policy_;
    const SimulationHooks& hooks_;
    double counted_from_s_;
    double counted_to_s_;
    std::int64_t left_; ///< counted jobs that have not ended
    NetworkState state_;
    DeviceSharing sharing_;
    SimulationResult result_;
    SeriesRecorder series_;
    double now_s_ = 0;
    double wake_s_ = kNever;
    std::size_t next_ = 0; ///< next job to arrive
    std::int64_t ended_ = 0;
    std::int64_t waiting_ = 0;
    std::int64_t running_ = 0;
    std::int64_t idle_moments_ = 0;
    std::int64_t demanded_units_ = 0; ///< by what waits and what runs
    double demand_unit_s_ = 0;        ///< the same, summed over time
    bool has_changed_ = false;
    std::vector<Held> held_; ///< by job
    std::vector<std::uint32_t> possible_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

Result<SimulationResult> run_with(const Scenario& scenario, const PolicyMaker& make, KnowledgeKind kind,
                                  std::uint64_t seed, const SimulationHooks& hooks)
{
    if (Result<void> valid = check_scenario(scenario); !valid) return valid.error();
    Truth truth(scenario, seed);
    const std::unique_ptr<Knowledge> knowledge = make_knowledge(kind, scenario, truth, seed);
    const std::unique_ptr<Policy> policy = make(scenario, *knowledge, seed);
    return Simulation(scenario, truth, *knowledge, *policy, seed, hooks).run();
}

} // namespace

Result<SimulationResult> simulate(const Scenario& scenario, std::string_view policy, std::uint64_t seed,
                                  const SimulationHooks& hooks)
{
    const NamedPolicy found = find_policy(policy);
    if (!found.make) return Error{Errc::kInvalid, fmt::format("there is no policy {}", policy)};
    return run_with(scenario, found.make, found.knowledge, seed, hooks);
}

Result<SimulationResult> simulate(const Scenario& scenario, const PolicyMaker& policy, std::uint64_t seed,
                                  const SimulationHooks& hooks)
{
    return run_with(scenario, policy, KnowledgeKind::kMeasured, seed, hooks);
}

} // namespace fathom::simulation
