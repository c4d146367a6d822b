#include "simulator/corun/corun_simulation.hpp"

#include "simulator/world/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace fathom::simulation {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// What is left of a stage after rounding counts as done: of the stage, and of the time by which it was computed.
constexpr double kDone = 1e-12;
constexpr double kTimeStep = 8 * std::numeric_limits<double>::epsilon();
constexpr std::int64_t kEventsBetweenLooks = 1024;
/// A policy that still changes something after so many steps at one moment goes in circles.
constexpr int kMaxSteps = 1000;
constexpr double kMaxShareOfAlone = 1.5;

/// A job that has arrived and not ended.
struct JobState {
    std::size_t stage{};
    double stage_left_s{};
    bool was_preempted{};
};

/// One simulation.
class GpuSimulation {
  public:
    GpuSimulation(const CorunWorld& world, const CorunWorkload& workload, CorunPolicy& policy, std::uint64_t seed,
                  const CorunHooks& hooks)
        : world_(world), workload_(workload), policy_(policy), draw_(seed), hooks_(hooks),
          states_(workload.jobs.size()), program_s_(workload.programs.size())
    {
        result_.jobs.resize(workload.jobs.size());
        for (std::size_t i = 0; i < workload.programs.size(); ++i) {
            for (const CorunStage& stage : workload.programs[i])
                program_s_[i] += stage.solo_s;
        }
        for (const CorunJob& job : workload.jobs)
            to_end_ += job.repeats ? 0 : 1;
    }

    Result<CorunResult> run()
    {
        for (std::int64_t event = 0; to_end_ > 0; ++event) {
            if (event % kEventsBetweenLooks == 0 && is_stopped()) break;
            const double next_s = next_event_s();
            if (next_s == kNever)
                return Error{Errc::kInternal,
                             fmt::format("the policy leaves {} jobs waiting for ever", waiting_.size())};
            advance_to(next_s);
            end_switch();
            arrive();
            end_stages();
            observe_running();
            if (switch_end_s_ < kNever) continue;
            if (const Result<void> decided = decide(); !decided) return decided.error();
        }
        observe_period();
        result_.end_s = now_s_;
        return std::move(result_);
    }

  private:
    const CorunStage& stage_of(std::size_t job) const
    {
        return workload_.programs[workload_.jobs[job].program][states_[job].stage];
    }

    /// Of what runs: the victims that are being taken off have nothing.
    double speed(std::size_t job) const
    {
        const bool is_switching = switch_end_s_ < kNever;
        if (is_switching && std::find(victims_.begin(), victims_.end(), job) != victims_.end()) return 0;
        double share = 1;
        for (const std::size_t other : running_) {
            if (other != job) share *= world_.shares.at(stage_of(job).kind, stage_of(other).kind);
        }
        const bool keeps = world_.kinds[stage_of(job).kind].kernel_class == KernelClass::kCompute;
        return is_switching && !keeps ? share * world_.memory_decay : share;
    }

    double next_event_s() const
    {
        double next = switch_end_s_;
        if (next_arrival_ < workload_.jobs.size()) next = std::min(next, workload_.jobs[next_arrival_].arrival_s);
        for (const std::size_t job : running_) {
            const double made = speed(job);
            if (made > 0) next = std::min(next, now_s_ + states_[job].stage_left_s / made);
        }
        if (awaits_observation()) next = std::min(next, period_begin_s_ + world_.observe_s);
        return next;
    }

    void advance_to(double time_s)
    {
        const double passed_s = time_s - now_s_;
        for (const std::size_t job : running_) {
            const double done = std::min(states_[job].stage_left_s, speed(job) * passed_s);
            states_[job].stage_left_s -= done;
            result_.jobs[job].work_s += done;
        }
        if (!running_.empty()) result_.busy_s += passed_s;
        if (running_.size() > 1) result_.shared_s += passed_s;
        if (switch_end_s_ < kNever) result_.preempting_s += passed_s;
        now_s_ = time_s;
    }

    void arrive()
    {
        while (next_arrival_ < workload_.jobs.size() && workload_.jobs[next_arrival_].arrival_s <= now_s_) {
            begin_stage(next_arrival_, 0);
            waiting_.insert(next_arrival_++);
        }
    }

    void begin_stage(std::size_t job, std::size_t stage)
    {
        states_[job].stage = stage;
        states_[job].stage_left_s = stage_of(job).solo_s * workload_.jobs[job].scale;
        states_[job].was_preempted = false;
    }

    void end_stages()
    {
        for (std::size_t i = 0; i < running_.size();) {
            const std::size_t job = running_[i];
            const double whole_s = stage_of(job).solo_s * workload_.jobs[job].scale;
            if (states_[job].stage_left_s > std::max(kDone * whole_s, kTimeStep * now_s_)) {
                ++i;
                continue;
            }
            result_.jobs[job].work_s += states_[job].stage_left_s;
            leave(job);
            std::erase(victims_, job); // it ended on its way off
            end_stage(job);
        }
    }

    void end_stage(std::size_t job)
    {
        const std::size_t next = states_[job].stage + 1;
        const bool has_next = next < workload_.programs[workload_.jobs[job].program].size();
        if (has_next || workload_.jobs[job].repeats) {
            begin_stage(job, has_next ? next : 0);
            waiting_.insert(job);
            return;
        }
        result_.jobs[job].end_s = now_s_;
        --to_end_;
    }

    void join(std::size_t job)
    {
        observe_period();
        running_.push_back(job);
        waiting_.erase(job);
        if (result_.jobs[job].start_s < 0) result_.jobs[job].start_s = now_s_;
        begin_period();
    }

    void leave(std::size_t job)
    {
        observe_period();
        std::erase(running_, job);
        begin_period();
    }

    // A period: the same jobs run.

    void begin_period()
    {
        period_begin_s_ = now_s_;
        is_observed_ = false;
    }
    bool awaits_observation() const
    {
        return running_.size() == 2 && !is_observed_ && world_.observe_s > 0 && switch_end_s_ == kNever;
    }
    /// While it lasts, as soon as it has lasted for long enough.
    void observe_running()
    {
        if (awaits_observation() && now_s_ >= period_begin_s_ + world_.observe_s) observe_pair();
    }
    /// At its end.
    void observe_period()
    {
        const double lasted_s = now_s_ - period_begin_s_;
        if (running_.size() == 2 && !is_observed_ && switch_end_s_ == kNever && lasted_s > 0 &&
            lasted_s >= world_.observe_s)
            observe_pair();
    }
    void observe_pair()
    {
        is_observed_ = true;
        const std::size_t a = stage_of(running_[0]).kind;
        const std::size_t b = stage_of(running_[1]).kind;
        policy_.observe({a, b, measured(world_.shares.at(a, b)), measured(world_.shares.at(b, a))});
    }
    double measured(double share)
    {
        return std::clamp(share * (1 + world_.measurement_noise * draw_.normal()), 0.01, kMaxShareOfAlone);
    }

    Result<void> decide()
    {
        for (int steps = 0; steps < kMaxSteps; ++steps) {
            const CorunStep step = policy_.next(view());
            ++result_.decisions;
            if (step.is_keep()) return {};
            if (const Result<void> can = check(step); !can) return can;
            if (!step.victims.empty()) {
                begin_switch(step);
                return {};
            }
            join(*step.launch);
        }
        return Error{Errc::kInternal, fmt::format("the policy changes its mind without end at {} s", now_s_)};
    }

    Result<void> check(const CorunStep& step) const
    {
        std::vector<std::size_t> stay = running_;
        for (const std::size_t victim : step.victims) {
            if (std::erase(stay, victim) == 0)
                return Error{Errc::kInternal, fmt::format("job {} does not run and cannot be pre-empted", victim)};
        }
        if (!step.victims.empty() && !world_.can_interrupt)
            return Error{Errc::kInternal, "nothing can be pre-empted in this world"};
        if (!step.launch) return {};
        if (!waiting_.contains(*step.launch))
            return Error{Errc::kInternal, fmt::format("job {} does not wait and cannot be launched", *step.launch)};
        if (stay.size() >= world_.limit) return Error{Errc::kInternal, "more jobs than the limit would run"};
        for (const std::size_t other : stay) {
            if (!world_.shares.fits(stage_of(*step.launch).kind, stage_of(other).kind))
                return Error{Errc::kInternal, fmt::format("jobs {} and {} do not fit", *step.launch, other)};
        }
        return {};
    }

    void begin_switch(const CorunStep& step)
    {
        observe_period();
        begin_period();
        victims_ = step.victims;
        launch_ = step.launch;
        switch_end_s_ = now_s_ + world_.preempt_s * static_cast<double>(victims_.size());
        if (world_.preempt_s <= 0) end_switch();
    }

    void end_switch()
    {
        if (now_s_ < switch_end_s_) return;
        for (const std::size_t victim : victims_) {
            leave(victim);
            waiting_.insert(victim);
            states_[victim].was_preempted = true;
            ++result_.jobs[victim].preemptions;
            ++result_.preemptions;
        }
        victims_.clear();
        switch_end_s_ = kNever;
        if (launch_) join(*launch_);
        launch_.reset();
        begin_period();
    }

    CorunActive active(std::size_t job) const
    {
        const CorunJob& known = workload_.jobs[job];
        const double ratio = known.expected_scale / known.scale;
        const double done_s = known.repeats ? 0 : result_.jobs[job].work_s;
        const double expected_s = known.expected_scale * program_s_[known.program];
        const double stage_s = stage_of(job).solo_s * known.scale;
        const double stage_done_s = stage_s - states_[job].stage_left_s;
        // What has taken longer than expected is expected to end soon, whenever that is.
        const double soon_s = 0.05 * expected_s;
        return {.job = job,
                .kind = stage_of(job).kind,
                .is_high_priority = known.is_high_priority,
                .was_preempted = states_[job].was_preempted,
                .arrival_s = known.arrival_s,
                .left_s = std::max(expected_s - done_s, soon_s),
                .stage_left_s = std::max(stage_s * ratio - stage_done_s, 0.05 * stage_s * ratio)};
    }

    CorunView view()
    {
        running_view_.clear();
        waiting_view_.clear();
        for (const std::size_t job : running_)
            running_view_.push_back(active(job));
        for (const std::size_t job : waiting_)
            waiting_view_.push_back(active(job));
        return {now_s_, &world_, running_view_, waiting_view_};
    }

    bool is_stopped() const
    {
        if (hooks_.progress) {
            std::size_t ended = 0;
            for (const CorunOutcome& job : result_.jobs)
                ended += job.end_s >= 0 ? 1 : 0;
            hooks_.progress({now_s_, ended, waiting_.size()});
        }
        return hooks_.stop != nullptr && *hooks_.stop;
    }

    const CorunWorld& world_;
    const CorunWorkload& workload_;
    CorunPolicy& policy_;
    Draw draw_;
    const CorunHooks& hooks_;
    CorunResult result_;
    std::vector<JobState> states_;
    std::vector<double> program_s_;
    std::vector<std::size_t> running_;
    std::set<std::size_t> waiting_;
    std::size_t next_arrival_{};
    std::size_t to_end_{};
    double now_s_{};
    double period_begin_s_{};
    bool is_observed_{};
    std::vector<std::size_t> victims_;  ///< being taken off
    std::optional<std::size_t> launch_; ///< what comes in their place
    double switch_end_s_{kNever};
    std::vector<CorunActive> running_view_;
    std::vector<CorunActive> waiting_view_;
};

Error wrong(std::string text)
{
    return {Errc::kInvalid, std::move(text)};
}

Result<void> check_shares(const CorunWorld& world)
{
    const std::size_t kinds = world.kinds.size();
    for (std::size_t a = 0; a < kinds; ++a) {
        for (std::size_t b = 0; b < kinds; ++b) {
            const double share = world.shares.at(a, b);
            if (!(share >= 0 && share <= kMaxShareOfAlone) || world.shares.fits(a, b) != world.shares.fits(b, a))
                return wrong(fmt::format("the throughput of {} beside {} is no share of that alone",
                                         world.kinds[a].name, world.kinds[b].name));
        }
    }
    return {};
}

Result<void> check_jobs(const CorunWorkload& workload)
{
    double before_s = 0;
    bool has_end = false;
    for (const CorunJob& job : workload.jobs) {
        if (job.program >= workload.programs.size() || !(job.scale > 0) || !(job.expected_scale > 0))
            return wrong("a job has no program or no length");
        if (!(job.arrival_s >= before_s) || !std::isfinite(job.arrival_s)) return wrong("jobs must come by arrival");
        before_s = job.arrival_s;
        has_end = has_end || !job.repeats;
    }
    if (!has_end) return wrong("no job ends");
    return {};
}

} // namespace

Result<void> check_corun(const CorunWorld& world, const CorunWorkload& workload)
{
    if (Result<void> valid = check_shares(world); !valid) return valid;
    if (world.limit < 1 || !(world.preempt_s >= 0) || !(world.observe_s >= 0) || !(world.measurement_noise >= 0))
        return wrong("the limit must be at least 1, times and noise not negative");
    for (const std::vector<CorunStage>& program : workload.programs) {
        const bool is_valid = !program.empty() && std::all_of(program.begin(), program.end(), [&](const auto& stage) {
            return stage.kind < world.kinds.size() && stage.solo_s > 0 && std::isfinite(stage.solo_s);
        });
        if (!is_valid) return wrong("a program has no stages, or one of an unknown kind or without length");
    }
    return check_jobs(workload);
}

Result<CorunResult> simulate_corun(const CorunWorld& world, const CorunWorkload& workload, CorunPolicy& policy,
                                   std::uint64_t seed, const CorunHooks& hooks)
{
    if (const Result<void> valid = check_corun(world, workload); !valid) return valid.error();
    return GpuSimulation(world, workload, policy, seed, hooks).run();
}

} // namespace fathom::simulation
