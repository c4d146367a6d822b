#include "tests/bench/interrupted.hpp"

#include "core/decide/queue/busy_share.hpp"
#include "core/decide/queue/order_jobs.hpp"
#include "core/decide/queue/shadow_price.hpp"
#include "simulator/world/truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

namespace fathom::simulation {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Where a job runs, and since when it gets on.
struct RunningAt {
    std::size_t unit_type{};
    double since_s{};
    double from_s{};    ///< its start-up is over
    double left_then{}; ///< share of its work
};

struct PresentJob {
    std::size_t job{};
    double left = 1; ///< of its work, where it does not run
    bool was_interrupted = false;
    double held_s = 0;                   ///< units, where it does not run
    std::optional<std::size_t> center{}; ///< that has its checkpoints
    std::optional<RunningAt> runs;
};

class InterruptedSimulation {
  public:
    InterruptedSimulation(const Scenario& scenario, const Checkpoints& checkpoints, std::uint64_t seed)
        : scenario_(&scenario), checkpoints_(checkpoints)
    {
        Truth truth(scenario, seed);
        const std::size_t types = scenario.network.unit_types.size();
        run_s_.assign(scenario.workload.jobs.size() * types, kNever);
        for (std::size_t job = 0; job < scenario.workload.jobs.size(); ++job) {
            const Job& facts = scenario.workload.jobs[job];
            for (std::size_t type = 0; type < types; ++type) {
                if (fits(scenario, facts, type))
                    run_s_[job * types + type] = truth.run_s(job, type, facts.unit_count, 0, facts.arrival_s);
            }
        }
        set_unit_types();
    }

    InterruptedRun run()
    {
        const Workload& workload = scenario_->workload;
        const std::size_t counted = workload.end_counted - workload.first_counted;
        std::size_t next = 0; // to come
        std::size_t ended = 0;
        double now_s = 0;
        InterruptedRun result;
        while (ended < counted) {
            const double arrival_s = next < workload.jobs.size() ? workload.jobs[next].arrival_s : kNever;
            now_s = std::min(arrival_s, first_end_s());
            if (now_s == kNever) throw std::runtime_error("jobs are left that fit nowhere");
            const auto gone = std::partition(present_.begin(), present_.end(),
                                             [&](const PresentJob& one) { return end_s(one) > now_s; });
            for (auto one = gone; one != present_.end(); ++one) {
                const bool is_counted = one->job >= workload.first_counted && one->job < workload.end_counted;
                if (!is_counted) continue;
                ++ended;
                result.mean_completion_s += (now_s - workload.jobs[one->job].arrival_s) / static_cast<double>(counted);
            }
            present_.erase(gone, present_.end());
            for (; next < workload.jobs.size() && workload.jobs[next].arrival_s <= now_s; ++next)
                present_.push_back({.job = next, .runs = {}});
            decide(now_s);
        }
        result.interruptions =
            static_cast<double>(interruptions_) / static_cast<double>(std::max<std::size_t>(next, 1));
        return result;
    }

  private:
    double run_s(std::size_t job, std::size_t type) const { return run_s_[job * unit_types_.size() + type]; }

    double end_s(const PresentJob& one) const
    {
        return one.runs ? one.runs->from_s + one.runs->left_then * run_s(one.job, one.runs->unit_type) : kNever;
    }

    double first_end_s() const
    {
        double first_s = kNever;
        for (const PresentJob& one : present_)
            first_s = std::min(first_s, end_s(one));
        return first_s;
    }

    /// All units free, shadow prices of all jobs that ever come.
    void set_unit_types()
    {
        for (const UnitType& type : scenario_->network.unit_types) {
            UnitTypeLoad& load = unit_types_.emplace_back();
            load.unit_count = load.free_units = type.unit_count;
        }
        busy_.resize(unit_types_.size());
        used_.resize(unit_types_.size());
        std::vector<JobOptions> all;
        for (std::size_t job = 0; job < scenario_->workload.jobs.size(); ++job) {
            std::vector<JobOption> options;
            for (std::size_t type = 0; type < unit_types_.size(); ++type) {
                if (run_s(job, type) < kNever)
                    options.push_back({type, scenario_->workload.jobs[job].unit_count, run_s(job, type)});
            }
            all.emplace_back(std::move(options));
        }
        const std::vector<UnitShadowPrice> prices = find_shadow_prices(all, 1, unit_types_);
        for (std::size_t type = 0; type < unit_types_.size(); ++type)
            unit_types_[type].shadow_price = prices[type].shadow_price;
    }

    /// Without the time in which it had units: who has them keeps its turn.
    double waited_s(const PresentJob& one, double now_s) const
    {
        const double held_s = one.held_s + (one.runs ? now_s - one.runs->since_s : 0);
        return now_s - scenario_->workload.jobs[one.job].arrival_s - held_s;
    }

    /// If it were interrupted now.
    double left_at_checkpoint(const PresentJob& one, double now_s) const
    {
        if (!one.runs) return one.left;
        const double done_s = std::max(now_s - one.runs->from_s, 0.0);
        const double kept_s = std::floor(done_s / checkpoints_.every_s) * checkpoints_.every_s;
        return one.runs->left_then - kept_s / run_s(one.job, one.runs->unit_type);
    }

    /// Until a job that starts there gets on.
    double start_up_s(const PresentJob& one, std::size_t type) const
    {
        const Network& network = scenario_->network;
        const bool goes_on = one.was_interrupted || one.runs;
        return network.centers[network.unit_types[type].center].start_up_s + (goes_on ? checkpoints_.restart_s : 0);
    }

    bool may_run_at(const PresentJob& one, std::size_t type) const
    {
        const std::vector<UnitType>& types = scenario_->network.unit_types;
        return checkpoints_.go_elsewhere || !one.center || types[type].center == *one.center;
    }

    std::vector<JobOption> options_of(const PresentJob& one, double now_s) const
    {
        std::vector<JobOption> options;
        for (std::size_t type = 0; type < unit_types_.size(); ++type) {
            if (run_s(one.job, type) == kNever || !may_run_at(one, type)) continue;
            const bool stays = one.runs && one.runs->unit_type == type;
            const double left_s = stays ? end_s(one) - now_s
                                        : left_at_checkpoint(one, now_s) * run_s(one.job, type) + start_up_s(one, type);
            options.push_back({type, scenario_->workload.jobs[one.job].unit_count, std::max(left_s, 1e-3)});
        }
        return options;
    }

    /// How busy units are taken to be: as they were of late. By the jobs that are there right now, as the rule in use
    /// has it, too, jobs would be moved to and fro with each that comes or ends.
    void set_loads(double now_s)
    {
        for (std::size_t type = 0; type < unit_types_.size(); ++type) {
            UnitTypeLoad& load = unit_types_[type];
            busy_[type].note(static_cast<double>(used_[type]) / static_cast<double>(load.unit_count),
                             now_s - loads_at_s_);
            load.load = busy_[type].mean();
        }
        loads_at_s_ = now_s;
    }

    void note_used()
    {
        std::fill(used_.begin(), used_.end(), 0);
        for (const PresentJob& one : present_) {
            if (one.runs) used_[one.runs->unit_type] += scenario_->workload.jobs[one.job].unit_count;
        }
    }

    void decide(double now_s)
    {
        std::vector<WaitingJobView> views(present_.size());
        for (std::size_t i = 0; i < present_.size(); ++i) {
            views[i].id = fmt::format("{:09}", present_[i].job);
            views[i].options = options_of(present_[i], now_s);
            views[i].waited_s = waited_s(present_[i], now_s);
        }
        set_loads(now_s);
        std::vector<std::optional<std::size_t>> chosen(present_.size());
        for (const OrderedStart& start : order_starts(views, unit_types_, {}))
            chosen[start.job] = start.place.unit_type;
        for (std::size_t i = 0; i < present_.size(); ++i)
            put(present_[i], chosen[i], now_s);
        note_used();
    }

    void put(PresentJob& one, std::optional<std::size_t> type, double now_s)
    {
        if (one.runs && type && *type == one.runs->unit_type) return;
        if (one.runs) {
            one.left = left_at_checkpoint(one, now_s);
            one.held_s += now_s - one.runs->since_s;
            one.was_interrupted = true;
            one.runs.reset();
            ++interruptions_;
        }
        if (!type) return;
        one.runs = RunningAt{*type, now_s, now_s + start_up_s(one, *type), one.left};
        one.center = scenario_->network.unit_types[*type].center;
    }

    const Scenario* scenario_;
    Checkpoints checkpoints_;
    std::vector<double> run_s_; ///< by job and unit type; kNever: it does not fit
    std::vector<UnitTypeLoad> unit_types_;
    std::vector<BusyShare> busy_;    ///< by unit type, until loads_at_s_
    std::vector<std::int64_t> used_; ///< by unit type, since then
    double loads_at_s_ = 0;
    std::vector<PresentJob> present_;
    std::int64_t interruptions_ = 0;
};

} // namespace

InterruptedRun run_interrupted(const Scenario& scenario, const Checkpoints& checkpoints, std::uint64_t seed)
{
    return InterruptedSimulation(scenario, checkpoints, seed).run();
}

} // namespace fathom::simulation
