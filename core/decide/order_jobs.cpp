#include "core/decide/order_jobs.hpp"

#include "core/decide/assign_free.hpp"
#include "core/decide/better_place.hpp"
#include "core/decide/free_units.hpp"
#include "core/decide/order_index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

namespace fathom {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A place of a job in the line for its unit type.
struct Entry {
    double index{};
    std::uint32_t job{};
    std::uint32_t option{};
};

/// The order of jobs that have their turn whatever they weigh: who is longest beyond its patience, or, as nobody's
/// patience counts when the first come are the first served, who has waited longest.
bool comes_first(const OrderIndex& a, const WaitingJobView& a_job, const OrderIndex& b, const WaitingJobView& b_job)
{
    const double a_s = a.is_overdue ? a.overdue_s : a.waited_s;
    const double b_s = b.is_overdue ? b.overdue_s : b.waited_s;
    return std::tie(b_s, a_job.id) < std::tie(a_s, b_job.id);
}

class Ordering {
  public:
    Ordering(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
             const OrderSettings& settings)
        : jobs_(jobs), unit_types_(unit_types), settings_(settings),
          storage_(order_indices(jobs, unit_types, settings)), indices_(storage_.jobs), gangs_(complete_gangs(jobs)),
          free_(unit_types), is_done_(jobs.size(), false), lines_(unit_types.size())
    {
        const bool has_room =
            std::any_of(unit_types.begin(), unit_types.end(), [](const UnitTypeLoad& type) { return type.load < 1; });
        if (weighs_places() && has_room) better_.emplace(jobs, indices_, unit_types);
    }

    std::vector<OrderedStart> run()
    {
        if (settings_.rule == OrderRule::kFirstCome) {
            start_in_turn(in_turn([](const OrderIndex&) { return true; }), IfNoneFits::kGoOn);
        } else {
            start_in_turn(in_turn([](const OrderIndex& own) { return own.is_overdue; }), IfNoneFits::kKeepUnits);
            if (settings_.rule == OrderRule::kMinCostAssignment) start_assigned();
            start_by_index();
        }
        return std::move(starts_);
    }

  private:
    enum class IfNoneFits { kGoOn, kKeepUnits };

    bool weighs_places() const
    {
        return settings_.rule == OrderRule::kAdvantage || settings_.rule == OrderRule::kMinCostAssignment;
    }

    /// Jobs that may be started at all and are wanted, those whose turn it is longest first.
    template <class Wanted>
    std::vector<std::size_t> in_turn(Wanted wanted) const
    {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            const std::span<const double> index = indices_[i].index;
            if (!wanted(indices_[i]) || std::all_of(index.begin(), index.end(), [](double x) { return x == kNever; }))
                continue;
            order.push_back(i);
        }
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return comes_first(indices_[a], jobs_[a], indices_[b], jobs_[b]);
        });
        return order;
    }

    void start_in_turn(const std::vector<std::size_t>& order, IfNoneFits otherwise)
    {
        for (const std::size_t job : order) {
            if (is_done_[job] || start(job)) continue;
            if (otherwise == IfNoneFits::kKeepUnits && jobs_[job].gang.empty()) keep_units_for(job);
        }
    }

    /// The best of the job's options that fits now.
    std::optional<std::size_t> best_fit(std::size_t job) const
    {
        std::optional<std::size_t> best;
        const std::span<const double> index = indices_[job].index;
        for (std::size_t i = 0; i < index.size(); ++i) {
            if (index[i] == kNever || !free_.fits(jobs_[job].options[i])) continue;
            if (!best || index[i] < index[*best]) best = i;
        }
        return best;
    }

    /// Starts the job, and its gang, where each suits best. Whatever comes of it, the job has had its turn.
    bool start(std::size_t job)
    {
        if (!jobs_[job].gang.empty()) return start_gang(gangs_.at(jobs_[job].gang));
        const std::optional<std::size_t> option = best_fit(job);
        if (!option) return false;
        start_at(job, *option);
        return true;
    }
    void start_at(std::size_t job, std::size_t option)
    {
        free_.take(jobs_[job].options[option]);
        is_done_[job] = true;
        starts_.push_back({job, option});
    }
    bool start_gang(const std::vector<std::size_t>& members)
    {
        const std::size_t before = starts_.size();
        for (const std::size_t member : members) {
            if (const std::optional<std::size_t> option = best_fit(member)) {
                start_at(member, *option);
                continue;
            }
            for (; starts_.size() > before; starts_.pop_back())
                free_.give_back(jobs_[starts_.back().job].options[starts_.back().option]);
            // What is free only gets less from here: the gang need not be tried again.
            for (const std::size_t each : members)
                is_done_[each] = true;
            return false;
        }
        return true;
    }

    /// Keeps units where the job would end first, as far as that is known, unless an older job has them kept already.
    void keep_units_for(std::size_t job)
    {
        const std::vector<JobOption>& options = jobs_[job].options;
        std::optional<std::size_t> best;
        KeptUnits best_kept;
        const auto rank = [](const KeptUnits& kept, const JobOption& option) {
            return std::tuple(!kept.is_known, kept.start_s + option.run_s);
        };
        for (std::size_t i = 0; i < options.size(); ++i) {
            if (indices_[job].index[i] == kNever || free_.is_kept(options[i].unit_type)) continue;
            const KeptUnits kept = free_.plan_keeping(options[i].unit_type, options[i].unit_count);
            if (best && rank(kept, options[i]) >= rank(best_kept, options[*best])) continue;
            best = i;
            best_kept = kept;
        }
        if (best) free_.keep(options[*best].unit_type, best_kept);
    }

    bool goes_after(const Entry& a, const Entry& b) const
    {
        if (a.index != b.index) return a.index > b.index;
        return std::tie(jobs_[a.job].id, a.option) > std::tie(jobs_[b.job].id, b.option);
    }

    /// Starts jobs by index. A job that left a place because a better one was free, which another then took, has
    /// another turn.
    void start_by_index()
    {
        std::vector<std::uint32_t> jobs;
        for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
            if (!is_done_[job]) jobs.push_back(job);
        }
        while (!jobs.empty()) {
            const std::size_t before = starts_.size();
            jobs = start_by_index_once(jobs);
            if (starts_.size() == before) return;
        }
    }

    /// One line a unit type, each a heap, so that only as much is sorted as starts. Returns those that have another
    /// turn.
    std::vector<std::uint32_t> start_by_index_once(const std::vector<std::uint32_t>& jobs)
    {
        stand_in_line(jobs);
        const auto after = [this](const Entry& a, const Entry& b) { return goes_after(a, b); };
        const auto head_after = [this](std::size_t a, std::size_t b) {
            return goes_after(lines_[a].front(), lines_[b].front());
        };
        std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(head_after)> heads(head_after);
        for (std::size_t type = 0; type < lines_.size(); ++type) {
            std::make_heap(lines_[type].begin(), lines_[type].end(), after);
            if (!lines_[type].empty()) heads.push(type);
        }
        std::vector<std::uint32_t> again;
        while (!heads.empty()) {
            const std::size_t type = heads.top();
            heads.pop();
            if (free_.count(type) == 0) continue;
            std::vector<Entry>& line = lines_[type];
            const Entry next = line.front();
            std::pop_heap(line.begin(), line.end(), after);
            line.pop_back();
            if (!line.empty()) heads.push(type);
            if (offer(next) == Answer::kPrefersAnotherFreePlace) again.push_back(next.job);
        }
        std::sort(again.begin(), again.end());
        again.erase(std::unique(again.begin(), again.end()), again.end());
        std::erase_if(again, [this](std::uint32_t job) { return is_done_[job]; });
        return again;
    }

    void stand_in_line(const std::vector<std::uint32_t>& jobs)
    {
        const auto for_each_place = [&](const auto& act) {
            for (const std::uint32_t job : jobs) {
                const std::vector<JobOption>& options = jobs_[job].options;
                for (std::uint32_t option = 0; option < options.size(); ++option) {
                    const std::size_t type = options[option].unit_type;
                    if (indices_[job].index[option] != kNever && free_.count(type) > 0) act(type, job, option);
                }
            }
        };
        // Counted first: lines that grow while they are filled take longer than all the rest.
        std::vector<std::size_t> lengths(lines_.size(), 0);
        for_each_place([&](std::size_t type, std::uint32_t, std::uint32_t) { ++lengths[type]; });
        for (std::size_t type = 0; type < lines_.size(); ++type) {
            lines_[type].clear();
            lines_[type].reserve(lengths[type]);
        }
        for_each_place([&](std::size_t type, std::uint32_t job, std::uint32_t option) {
            lines_[type].push_back({indices_[job].index[option], job, option});
        });
    }

    enum class Answer { kDone, kPrefersAnotherFreePlace };

    /// Starts the job on the place unless it cannot or does better elsewhere.
    Answer offer(const Entry& entry)
    {
        if (is_done_[entry.job] || !free_.fits(jobs_[entry.job].options[entry.option])) return Answer::kDone;
        if (!jobs_[entry.job].gang.empty()) {
            start(entry.job);
            return Answer::kDone;
        }
        if (better_) {
            if (better_->is_worth_waiting(entry.job, entry.option)) return Answer::kDone;
            if (better_->is_better_one_free(entry.job, entry.option, free_)) return Answer::kPrefersAnotherFreePlace;
        }
        start_at(entry.job, entry.option);
        return Answer::kDone;
    }

    /// Starts what the free places and the waiting jobs are best for together; the rest is for start_by_index().
    void start_assigned()
    {
        std::vector<PossibleStart> possible;
        for (std::size_t job = 0; job < jobs_.size(); ++job) {
            if (is_done_[job] || !jobs_[job].gang.empty()) continue;
            for (std::size_t option = 0; option < jobs_[job].options.size(); ++option) {
                const JobOption& place = jobs_[job].options[option];
                if (indices_[job].index[option] == kNever || !free_.fits(place)) continue;
                if (better_ &&
                    (better_->is_worth_waiting(job, option) || better_->is_better_one_free(job, option, free_)))
                    continue;
                possible.push_back({job, option, place.unit_type, indices_[job].index[option]});
            }
        }
        const auto goes_before = [this](const PossibleStart& a, const PossibleStart& b) {
            return std::tie(a.index, jobs_[a.job].id, a.option) < std::tie(b.index, jobs_[b.job].id, b.option);
        };
        std::sort(possible.begin(), possible.end(), goes_before);
        std::vector<std::int64_t> free;
        for (std::size_t type = 0; type < unit_types_.size(); ++type)
            free.push_back(free_.count(type));
        std::vector<PossibleStart> starts = assign_free(possible, free);
        std::sort(starts.begin(), starts.end(), goes_before);
        for (const PossibleStart& one : starts) {
            if (free_.fits(jobs_[one.job].options[one.option])) start_at(one.job, one.option);
        }
    }

    std::span<const WaitingJobView> jobs_;
    std::span<const UnitTypeLoad> unit_types_;
    const OrderSettings& settings_;
    OrderIndices storage_;
    std::span<const OrderIndex> indices_; ///< by job
    std::map<std::string_view, std::vector<std::size_t>> gangs_;
    FreeUnits free_;
    std::optional<BetterPlaces> better_; ///< where the rule weighs places and there is room to wait
    std::vector<bool> is_done_;
    std::vector<std::vector<Entry>> lines_; ///< by unit type
    std::vector<OrderedStart> starts_;
};

struct RuleName {
    OrderRule rule;
    std::string_view name;
};
constexpr RuleName kRuleNames[] = {{OrderRule::kFirstCome, "first_come"},
                                   {OrderRule::kShortestFirst, "shortest_first"},
                                   {OrderRule::kAdvantage, "advantage"},
                                   {OrderRule::kMinCostAssignment, "min_cost_assignment"}};

} // namespace

std::string_view to_string(OrderRule rule)
{
    for (const RuleName& one : kRuleNames) {
        if (one.rule == rule) return one.name;
    }
    return "";
}

std::optional<OrderRule> parse_order_rule(std::string_view text)
{
    for (const RuleName& one : kRuleNames) {
        if (one.name == text) return one.rule;
    }
    return std::nullopt;
}

std::vector<OrderedStart> order_starts(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                                       const OrderSettings& settings)
{
    return Ordering(jobs, unit_types, settings).run();
}

std::vector<std::size_t> order_waiting(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                                       const OrderSettings& settings)
{
    const OrderIndices indices = order_indices(jobs, unit_types, settings);
    std::vector<double> best(jobs.size(), kNever);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        order.push_back(i);
        for (const double index : indices.jobs[i].index)
            best[i] = std::min(best[i], index);
    }
    const auto has_turn = [&](std::size_t i) {
        return settings.rule == OrderRule::kFirstCome || indices.jobs[i].is_overdue;
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (has_turn(a) != has_turn(b)) return has_turn(a);
        if (has_turn(a)) return comes_first(indices.jobs[a], jobs[a], indices.jobs[b], jobs[b]);
        return std::tie(best[a], jobs[a].id) < std::tie(best[b], jobs[b].id);
    });
    return order;
}

} // namespace fathom
