#include "cli/simulate/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

namespace fathom {
namespace {

constexpr std::size_t kRemembered = 1000; ///< arrivals that a rule may look back at

Error unsound(std::string detail)
{
    return {Errc::kInvalid, std::move(detail)};
}

Result<void> check(const SimulatedWorld& world)
{
    const auto is_time = [](double s) { return std::isfinite(s) && s > 0; };
    if (world.first_counted >= world.end_counted || world.end_counted > world.jobs.size())
        return unsound("no jobs are counted");
    for (const SimulatedUnitType& type : world.unit_types) {
        if (type.unit_count < 0) return unsound(fmt::format("unit type {} has a negative count", type.name));
    }
    double last_s = 0;
    for (std::size_t i = 0; i < world.jobs.size(); ++i) {
        const SimulatedJob& job = world.jobs[i];
        if (!std::isfinite(job.arrival_s) || job.arrival_s < last_s)
            return unsound(fmt::format("job {} arrives before the one ahead of it", i));
        last_s = job.arrival_s;
        bool fits = false;
        for (const SimulatedOption& option : job.options) {
            if (option.unit_type >= world.unit_types.size() || option.unit_count < 1 || !is_time(option.run_s) ||
                !is_time(option.predicted_s))
                return unsound(fmt::format("job {} has an option that makes no sense", i));
            fits = fits || option.unit_count <= world.unit_types[option.unit_type].unit_count;
        }
        if (!fits) return unsound(fmt::format("job {} fits nowhere", i));
    }
    return {};
}

/// A job that runs. Ordered by its end, then by its number, so that equal times have one order.
struct Running {
    double end_s{};
    std::size_t job{};
    bool operator>(const Running& other) const { return std::tie(end_s, job) > std::tie(other.end_s, other.job); }
};

class Simulation {
  public:
    Simulation(const SimulatedWorld& world, const StartRule& rule) : world_(world), rule_(rule)
    {
        result_.outcomes.resize(world.jobs.size());
        result_.busy_unit_s.assign(world.unit_types.size(), 0);
        for (const SimulatedUnitType& type : world.unit_types)
            loads_.push_back({type.unit_count, type.unit_count, 1, 1, {}});
        predicted_ends_.resize(world.unit_types.size());
        used_unit_s_.assign(world.unit_types.size(), 0);
        left_ = world.end_counted - world.first_counted;
        count_from_s_ = world.jobs[world.first_counted].arrival_s;
        count_to_s_ = world.jobs[world.end_counted - 1].arrival_s;
    }

    Result<SimulationResult> run()
    {
        while (left_ > 0) {
            const bool has_arrival = next_ < world_.jobs.size();
            if (!has_arrival && running_.empty())
                return Error{Errc::kInternal, fmt::format("{} jobs were left waiting for ever", waiting_.size())};
            const double arrival_s = has_arrival ? world_.jobs[next_].arrival_s : 0;
            const double before_s = now_s_;
            now_s_ = running_.empty() || (has_arrival && arrival_s < running_.top().end_s) ? arrival_s
                                                                                           : running_.top().end_s;
            note_use(now_s_ - before_s);
            while (!running_.empty() && running_.top().end_s <= now_s_)
                end_next();
            while (next_ < world_.jobs.size() && world_.jobs[next_].arrival_s <= now_s_)
                arrive();
            if (Result<void> decided = decide(); !decided) return decided.error();
        }
        result_.end_s = now_s_;
        return std::move(result_);
    }

  private:
    void note_use(double passed_s)
    {
        FATHOM_ASSERT(passed_s >= 0);
        for (std::size_t type = 0; type < loads_.size(); ++type)
            used_unit_s_[type] += passed_s * static_cast<double>(loads_[type].unit_count - loads_[type].free_units);
    }

    void arrive()
    {
        WaitingJobView view;
        view.id = fmt::format("{:09}", next_); // so that ids sort as jobs arrive
        for (const SimulatedOption& option : world_.jobs[next_].options)
            view.options.push_back({option.unit_type, option.unit_count, option.predicted_s, 1});
        view.priority = world_.jobs[next_].priority;
        if (arrived_.size() == 2 * kRemembered)
            arrived_.erase(arrived_.begin(), arrived_.begin() + std::ptrdiff_t{kRemembered});
        arrived_.push_back(view.options);
        waiting_.push_back(std::move(view));
        waiting_jobs_.push_back(next_++);
        result_.most_waiting = std::max(result_.most_waiting, std::ssize(waiting_));
    }

    void end_next()
    {
        const std::size_t job = running_.top().job;
        running_.pop();
        const JobOutcome& outcome = result_.outcomes[job];
        const SimulatedOption& option = world_.jobs[job].options[outcome.option];
        loads_[option.unit_type].free_units += option.unit_count;
        FATHOM_ASSERT(loads_[option.unit_type].free_units <= loads_[option.unit_type].unit_count);
        std::erase_if(predicted_ends_[option.unit_type], [&](const Running& one) { return one.job == job; });
        const double counted_s = std::min(outcome.end_s, count_to_s_) - std::max(outcome.start_s, count_from_s_);
        if (counted_s > 0) result_.busy_unit_s[option.unit_type] += counted_s * static_cast<double>(option.unit_count);
        FATHOM_ASSERT(!outcome.has_ended);
        result_.outcomes[job].has_ended = true;
        if (world_.first_counted <= job && job < world_.end_counted) --left_;
    }

    Result<void> decide()
    {
        const bool has_free =
            std::any_of(loads_.begin(), loads_.end(), [](const UnitTypeLoad& load) { return load.free_units > 0; });
        if (waiting_.empty() || !has_free) return {};
        for (std::size_t i = 0; i < waiting_.size(); ++i)
            waiting_[i].waited_s = now_s_ - world_.jobs[waiting_jobs_[i]].arrival_s;
        for (std::size_t type = 0; type < loads_.size(); ++type)
            tell_releases(type);
        ++result_.decisions;
        started_.clear();
        const std::size_t known = std::min(arrived_.size(), kRemembered);
        const SimulatedQueue queue{
            now_s_, waiting_,    loads_, std::span(arrived_).last(known), now_s_ - world_.jobs[next_ - known].arrival_s,
            next_,  used_unit_s_};
        for (const OrderedStart& start : rule_(queue)) {
            if (Result<void> done = this->start(start); !done) return done;
        }
        std::sort(started_.begin(), started_.end(), std::greater<>());
        for (const std::size_t place : started_)
            remove(place);
        return {};
    }

    /// When units are expected back. What runs longer than predicted is expected to take as long again as it is late.
    void tell_releases(std::size_t type)
    {
        std::vector<UnitRelease>& releases = loads_[type].releases;
        releases.clear();
        for (const Running& one : predicted_ends_[type]) {
            const SimulatedOption& option = world_.jobs[one.job].options[result_.outcomes[one.job].option];
            releases.push_back({std::abs(one.end_s - now_s_), option.unit_count});
        }
    }

    Result<void> start(const OrderedStart& start)
    {
        if (start.job >= waiting_.size()) return Error{Errc::kInternal, "the rule started a job that does not wait"};
        if (std::find(started_.begin(), started_.end(), start.job) != started_.end())
            return Error{Errc::kInternal, "the rule started a job twice"};
        const std::size_t job = waiting_jobs_[start.job];
        if (start.option >= world_.jobs[job].options.size())
            return Error{Errc::kInternal, "the rule chose an option that the job does not have"};
        const SimulatedOption& option = world_.jobs[job].options[start.option];
        if (option.unit_count > loads_[option.unit_type].free_units)
            return Error{Errc::kInternal, "the rule used units twice"};
        loads_[option.unit_type].free_units -= option.unit_count;
        result_.outcomes[job] = {now_s_, now_s_ + option.run_s, start.option, false};
        running_.push({now_s_ + option.run_s, job});
        predicted_ends_[option.unit_type].push_back({now_s_ + option.predicted_s, job});
        started_.push_back(start.job);
        return {};
    }

    void remove(std::size_t place)
    {
        std::swap(waiting_[place], waiting_.back());
        std::swap(waiting_jobs_[place], waiting_jobs_.back());
        waiting_.pop_back();
        waiting_jobs_.pop_back();
    }

    const SimulatedWorld& world_;
    const StartRule& rule_;
    SimulationResult result_;
    double now_s_ = 0;
    double count_from_s_{};
    double count_to_s_{};
    std::size_t left_{};   ///< counted jobs that have not ended
    std::size_t next_ = 0; ///< next job to arrive
    std::vector<UnitTypeLoad> loads_;
    std::vector<double> used_unit_s_; ///< by unit type, since the beginning
    std::vector<WaitingJobView> waiting_;
    std::vector<std::size_t> waiting_jobs_;            ///< the jobs behind waiting_
    std::vector<std::vector<JobOption>> arrived_;      ///< the last one or two thousand
    std::vector<std::size_t> started_;                 ///< places in waiting_ that this decision has started
    std::vector<std::vector<Running>> predicted_ends_; ///< by unit type
    std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
};

} // namespace

Result<SimulationResult> simulate(const SimulatedWorld& world, const StartRule& rule)
{
    if (Result<void> sound = check(world); !sound) return sound.error();
    return Simulation(world, rule).run();
}

} // namespace fathom
