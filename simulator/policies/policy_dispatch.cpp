#include "simulator/policies/policy_dispatch.hpp"

#include "core/base/never.hpp"
#include "core/base/portable_math.hpp"
#include "simulator/knowledge/knowledge_draws.hpp"
#include "simulator/knowledge/knowledge_nominal.hpp"
#include "simulator/world/keyed_draw.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>

namespace fathom::simulation {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

bool is_same(const UnitTypeReport& a, const UnitTypeReport& b)
{
    const auto fields = [](const UnitTypeReport& one) {
        return std::tie(one.unit_count, one.free_units, one.queued_jobs, one.queued_units, one.queued_work,
                        one.running_work);
    };
    return fields(a) == fields(b);
}

/// A unit type as its newest report and what was sent there since make it look.
struct Load {
    std::int64_t unit_count{}; ///< in order
    std::int64_t free_units{}; ///< negative: more was sent than it can start
    bool has_queue{};
    double wanted_share{}; ///< units wanted, running and queued, over unit_count
    double work{};         ///< queued and running, by estimates

    bool can_start(std::int64_t units) const { return !has_queue && free_units >= units; }
};

/// What has been sent since the reports. Not thread-safe.
class SentJobs {
  public:
    SentJobs(std::size_t unit_types, double report_every_s) : report_every_s_(report_every_s), sent_(unit_types) {}

    void note(const PolicyView& view, std::size_t type, std::int64_t units, double work)
    {
        Sent& sent = update(view, type);
        if (sent.units == 0) sent.first_s = view.now_s;
        sent.units += units;
        sent.work += work;
    }

    Load load(const PolicyView& view, std::size_t type)
    {
        const Sent& sent = update(view, type);
        const UnitTypeReport& report = sent.report;
        const std::int64_t wanted = report.queued_units + report.unit_count - report.free_units + sent.units;
        return {.unit_count = report.unit_count,
                .free_units = report.free_units - sent.units,
                .has_queue = report.queued_jobs > 0,
                .wanted_share = report.unit_count > 0
                                    ? static_cast<double>(wanted) / static_cast<double>(report.unit_count)
                                    : kNever,
                .work = report.queued_work + report.running_work + sent.work};
    }

  private:
    struct Sent {
        UnitTypeReport report;
        double first_s{};
        std::int64_t units{};
        double work{};
    };

    /// A report that has changed, or must be newer by now, has in it what was sent.
    Sent& update(const PolicyView& view, std::size_t type)
    {
        Sent& sent = sent_[type];
        const bool is_old = sent.units > 0 && view.now_s > sent.first_s && view.now_s - sent.first_s >= report_every_s_;
        if (is_old || !is_same(sent.report, view.reports[type])) sent = {.report = view.reports[type]};
        return sent;
    }

    double report_every_s_;
    std::vector<Sent> sent_;
};

class DispatchPolicy final : public Policy {
  public:
    DispatchPolicy(DispatchRule rule, const Scenario& scenario, Knowledge& knowledge, std::uint64_t seed)
        : rule_(rule), scenario_(&scenario), knowledge_(&knowledge), seed_(seed),
          relative_peaks_(relative_peaks(scenario.network)),
          sent_(scenario.network.unit_types.size(), scenario.knowledge.report_every_s),
          turns_(scenario.network.unit_types.size()), favourites_(scenario.workload.users.size(), kNone)
    {
    }

    bool hands_over() const override { return true; }

    PolicyStart choose(const PolicyView& view, std::size_t job, std::span<const std::uint32_t> unit_types) override
    {
        const Job& facts = scenario_->workload.jobs[job];
        const std::uint32_t type = pick(view, job, unit_types);
        const double expected_s = knowledge_->expected_s(job, type, facts.unit_count);
        const double limit_s = held_s(view, job, type, expected_s * std::max(relative_peaks_[type], 1.0));
        sent_.note(view, type, facts.unit_count,
                   expected_s * relative_peaks_[type] * static_cast<double>(facts.unit_count));
        return {job, type, facts.unit_count, limit_s};
    }

  private:
    std::uint32_t pick(const PolicyView& view, std::size_t job, std::span<const std::uint32_t> unit_types)
    {
        switch (rule_) {
        case DispatchRule::kRandom:
            // By its moment, too: a job that comes back draws again.
            return at_random(
                view, unit_types,
                uniform_of(seed_, kRandomPlacePurpose, job, std::bit_cast<std::uint64_t>(view.now_s + 0.0)));
        case DispatchRule::kRoundRobin:
            return in_turn(view, unit_types);
        case DispatchRule::kLeastLoaded:
            return least_loaded(view, unit_types);
        case DispatchRule::kPeakFlops:
            return highest(view, job, unit_types, &UnitType::peak_flops);
        case DispatchRule::kBenchmark:
            return highest(view, job, unit_types, &UnitType::benchmark);
        case DispatchRule::kFavourite:
            return favourite_of(scenario_->workload.jobs[job].user, unit_types);
        case DispatchRule::kShortestCompletion:
            break;
        }
        return soonest_done(view, job, unit_types);
    }

    /// @param draw  0..1
    static std::uint32_t at_random(const PolicyView& view, std::span<const std::uint32_t> unit_types, double draw)
    {
        std::int64_t units = 0;
        for (const std::uint32_t type : unit_types)
            units += view.reports[type].unit_count;
        double left = draw * static_cast<double>(units);
        for (const std::uint32_t type : unit_types) {
            left -= static_cast<double>(view.reports[type].unit_count);
            if (left < 0) return type;
        }
        return unit_types[std::min(static_cast<std::size_t>(draw * static_cast<double>(unit_types.size())),
                                   unit_types.size() - 1)]; // no unit is in order anywhere
    }

    /// Each gains its units, and who is ahead is taken and pays what all gained.
    std::uint32_t in_turn(const PolicyView& view, std::span<const std::uint32_t> unit_types)
    {
        std::int64_t gained = 0;
        std::uint32_t best = unit_types.front();
        for (const std::uint32_t type : unit_types) {
            turns_[type] += view.reports[type].unit_count;
            gained += view.reports[type].unit_count;
            if (turns_[type] > turns_[best]) best = type;
        }
        turns_[best] -= gained;
        return best;
    }

    std::uint32_t least_loaded(const PolicyView& view, std::span<const std::uint32_t> unit_types)
    {
        return least(view, unit_types, [](std::uint32_t, const Load&) { return 0.0; });
    }

    std::uint32_t highest(const PolicyView& view, std::size_t job, std::span<const std::uint32_t> unit_types,
                          double UnitType::* value)
    {
        const std::int64_t units = scenario_->workload.jobs[job].unit_count;
        return least(view, unit_types, [&](std::uint32_t type, const Load& load) {
            return load.can_start(units) ? -(scenario_->network.unit_types[type].*value) : kNever;
        });
    }

    std::uint32_t soonest_done(const PolicyView& view, std::size_t job, std::span<const std::uint32_t> unit_types)
    {
        const std::int64_t units = scenario_->workload.jobs[job].unit_count;
        return least(view, unit_types, [&](std::uint32_t type, const Load& load) {
            const double work_per_s = static_cast<double>(load.unit_count) * relative_peaks_[type];
            const double wait_s = load.can_start(units) ? 0 : work_per_s > 0 ? load.work / work_per_s : kNever;
            return wait_s + held_s(view, job, type, knowledge_->expected_s(job, type, units));
        });
    }

    /// The unit type of least cost; of equal ones the least loaded.
    template <class Cost>
    std::uint32_t least(const PolicyView& view, std::span<const std::uint32_t> unit_types, Cost cost)
    {
        using Rank = std::tuple<double, double, std::int64_t>;
        std::uint32_t best = unit_types.front();
        Rank best_rank{};
        for (const std::uint32_t type : unit_types) {
            const Load load = sent_.load(view, type);
            const Rank rank{cost(type, load), load.wanted_share, -load.free_units};
            if (type != unit_types.front() && !(rank < best_rank)) continue;
            best = type;
            best_rank = rank;
        }
        return best;
    }

    /// The least of draws from exponential distributions whose rates are the units: the favourite of all, and the
    /// favourite of any part of them, are drawn by units, and a favourite of all is one of any part that it is in.
    std::uint32_t favourite_of(std::uint32_t user, std::span<const std::uint32_t> unit_types)
    {
        if (favourites_[user] == kNone) {
            std::vector<std::uint32_t> all(scenario_->network.unit_types.size());
            std::iota(all.begin(), all.end(), 0);
            favourites_[user] = draw_favourite(user, all);
        }
        const bool fits = std::find(unit_types.begin(), unit_types.end(), favourites_[user]) != unit_types.end();
        return fits ? favourites_[user] : draw_favourite(user, unit_types);
    }

    std::uint32_t draw_favourite(std::uint32_t user, std::span<const std::uint32_t> unit_types) const
    {
        std::uint32_t best = unit_types.front();
        double least = kNever;
        for (const std::uint32_t type : unit_types) {
            const auto units = static_cast<double>(scenario_->network.unit_types[type].unit_count);
            const double drawn = -portable::log(1 - uniform_of(seed_, kFavouritePurpose, user, type)) / units;
            if (!(drawn < least)) continue;
            best = type;
            least = drawn;
        }
        return best;
    }

    /// How long a job that starts now would hold its units.
    double held_s(const PolicyView& view, std::size_t job, std::size_t type, double run_s) const
    {
        const Center& center = scenario_->network.centers[scenario_->network.unit_types[type].center];
        const JobDetails& details = scenario_->workload.details[scenario_->workload.jobs[job].details];
        const double ready_s = view.now_s + center.start_up_s;
        const double in_s = true_transfer_s(center, ready_s, details.data_in_bytes);
        const double out_s = true_transfer_s(center, ready_s + in_s + run_s, details.data_out_bytes);
        return center.start_up_s + in_s + run_s + out_s;
    }

    DispatchRule rule_;
    const Scenario* scenario_;
    Knowledge* knowledge_;
    std::uint64_t seed_;
    std::vector<double> relative_peaks_; ///< by unit type
    SentJobs sent_;
    std::vector<std::int64_t> turns_;       ///< by unit type
    std::vector<std::uint32_t> favourites_; ///< of all unit types, by user; kNone: not drawn yet
};

} // namespace

PolicyMaker dispatch_policy(DispatchRule rule)
{
    return [rule](const Scenario& scenario, Knowledge& knowledge, std::uint64_t seed) {
        return std::make_unique<DispatchPolicy>(rule, scenario, knowledge, seed);
    };
}

} // namespace fathom::simulation
