#include "core/decide/order_jobs.hpp"

#include "core/decide/order_index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

namespace fathom {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Units of one type that are kept for a job whose patience is over.
struct Hold {
    double start_s{};           ///< when that job can start there; 0: not known, so that nothing runs before it
    std::int64_t spare_units{}; ///< units that it leaves free when it starts
};

/// What is still free while starts are decided.
class FreeUnits {
  public:
    explicit FreeUnits(std::span<const UnitTypeLoad> unit_types) : unit_types_(unit_types), holds_(unit_types.size())
    {
        for (const UnitTypeLoad& type : unit_types)
            free_.push_back(std::max<std::int64_t>(type.free_units, 0));
    }

    bool fits(const JobOption& option) const
    {
        const std::int64_t free = free_[option.unit_type];
        if (option.unit_count > free) return false;
        const std::optional<Hold>& hold = holds_[option.unit_type];
        return !hold || option.run_s <= hold->start_s || option.unit_count <= hold->spare_units;
    }
    void take(const JobOption& option)
    {
        free_[option.unit_type] -= option.unit_count;
        std::optional<Hold>& hold = holds_[option.unit_type];
        if (hold && option.run_s > hold->start_s) hold->spare_units -= option.unit_count;
    }
    void give_back(const JobOption& option)
    {
        free_[option.unit_type] += option.unit_count;
        std::optional<Hold>& hold = holds_[option.unit_type];
        if (hold && option.run_s > hold->start_s) hold->spare_units += option.unit_count;
    }
    bool is_exhausted(std::size_t unit_type) const { return free_[unit_type] == 0; }
    bool is_held(std::size_t unit_type) const { return holds_[unit_type].has_value(); }
    /// What a hold of so many units would be, from what frees when.
    Hold plan_hold(std::size_t unit_type, std::int64_t unit_count) const
    {
        std::vector<UnitRelease> releases = unit_types_[unit_type].releases;
        std::sort(releases.begin(), releases.end(), [](const UnitRelease& a, const UnitRelease& b) {
            return std::tie(a.in_s, a.unit_count) < std::tie(b.in_s, b.unit_count);
        });
        std::int64_t units = free_[unit_type];
        for (const UnitRelease& release : releases) {
            units += release.unit_count;
            if (units >= unit_count) return {std::max(release.in_s, 0.0), units - unit_count};
        }
        return {0, std::max<std::int64_t>(free_[unit_type] - unit_count, 0)};
    }
    void hold(std::size_t unit_type, const Hold& hold) { holds_[unit_type] = hold; }

  private:
    std::span<const UnitTypeLoad> unit_types_;
    std::vector<std::int64_t> free_;
    std::vector<std::optional<Hold>> holds_;
};

/// A place of a job in the line for its unit type.
struct Entry {
    double index{};
    std::uint32_t job{};
    std::uint32_t option{};
};

class Ordering {
  public:
    Ordering(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
             const OrderSettings& settings)
        : jobs_(jobs), settings_(settings), indices_(order_indices(jobs, unit_types, settings)),
          gangs_(complete_gangs(jobs)), free_(unit_types), is_done_(jobs.size(), false), lines_(unit_types.size())
    {
    }

    std::vector<OrderedStart> run()
    {
        if (settings_.rule == OrderRule::kFirstCome) {
            start_in_turn(in_turn([](const OrderIndex&) { return true; }), /*hold=*/false);
        } else {
            start_in_turn(in_turn([](const OrderIndex& own) { return own.is_overdue; }), /*hold=*/true);
            start_by_index();
        }
        return std::move(starts_);
    }

  private:
    /// Jobs that may be started at all and are wanted, longest wait first.
    template <class Wanted>
    std::vector<std::size_t> in_turn(Wanted wanted) const
    {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            const std::vector<double>& index = indices_[i].index;
            if (!wanted(indices_[i]) || std::all_of(index.begin(), index.end(), [](double x) { return x == kNever; }))
                continue;
            order.push_back(i);
        }
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::tie(indices_[b].waited_s, jobs_[a].id) < std::tie(indices_[a].waited_s, jobs_[b].id);
        });
        return order;
    }

    void start_in_turn(const std::vector<std::size_t>& order, bool hold)
    {
        for (const std::size_t job : order) {
            if (is_done_[job] || start(job) || !hold || !jobs_[job].gang.empty()) continue;
            hold_for(job);
        }
    }

    /// The best of the job's options that fits now.
    std::optional<std::size_t> best_fit(std::size_t job) const
    {
        std::optional<std::size_t> best;
        const std::vector<double>& index = indices_[job].index;
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

    /// Keeps units where the job would end first, unless an older job has them kept already.
    void hold_for(std::size_t job)
    {
        const std::vector<JobOption>& options = jobs_[job].options;
        std::optional<std::size_t> best;
        double best_end_s = kNever;
        for (std::size_t i = 0; i < options.size(); ++i) {
            if (indices_[job].index[i] == kNever || free_.is_held(options[i].unit_type)) continue;
            const Hold hold = free_.plan_hold(options[i].unit_type, options[i].unit_count);
            if (hold.start_s + options[i].run_s < best_end_s) {
                best = i;
                best_end_s = hold.start_s + options[i].run_s;
            }
        }
        if (!best) return;
        const JobOption& option = options[*best];
        free_.hold(option.unit_type, free_.plan_hold(option.unit_type, option.unit_count));
    }

    bool goes_after(const Entry& a, const Entry& b) const
    {
        if (a.index != b.index) return a.index > b.index;
        return std::tie(jobs_[a.job].id, a.option) > std::tie(jobs_[b.job].id, b.option);
    }

    /// One line a unit type, each a heap, so that only as much is sorted as starts.
    void start_by_index()
    {
        for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
            const std::vector<double>& index = indices_[job].index;
            if (is_done_[job]) continue;
            for (std::uint32_t option = 0; option < index.size(); ++option) {
                const std::size_t type = jobs_[job].options[option].unit_type;
                if (index[option] != kNever && !free_.is_exhausted(type))
                    lines_[type].push_back({index[option], job, option});
            }
        }
        const auto after = [this](const Entry& a, const Entry& b) { return goes_after(a, b); };
        const auto head_after = [this](std::size_t a, std::size_t b) {
            return goes_after(lines_[a].front(), lines_[b].front());
        };
        std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(head_after)> heads(head_after);
        for (std::size_t type = 0; type < lines_.size(); ++type) {
            std::make_heap(lines_[type].begin(), lines_[type].end(), after);
            if (!lines_[type].empty()) heads.push(type);
        }
        while (!heads.empty()) {
            const std::size_t type = heads.top();
            heads.pop();
            if (free_.is_exhausted(type)) continue;
            std::vector<Entry>& line = lines_[type];
            const Entry next = line.front();
            std::pop_heap(line.begin(), line.end(), after);
            line.pop_back();
            if (!line.empty()) heads.push(type);
            if (is_done_[next.job] || !free_.fits(jobs_[next.job].options[next.option])) continue;
            if (jobs_[next.job].gang.empty())
                start_at(next.job, next.option);
            else
                start(next.job);
        }
    }

    std::span<const WaitingJobView> jobs_;
    const OrderSettings& settings_;
    std::vector<OrderIndex> indices_;
    std::map<std::string_view, std::vector<std::size_t>> gangs_;
    FreeUnits free_;
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
    const std::vector<OrderIndex> indices = order_indices(jobs, unit_types, settings);
    std::vector<double> best(jobs.size(), kNever);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        order.push_back(i);
        for (const double index : indices[i].index)
            best[i] = std::min(best[i], index);
    }
    const auto in_turn = [&](std::size_t i) { return settings.rule == OrderRule::kFirstCome || indices[i].is_overdue; };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (in_turn(a) != in_turn(b)) return in_turn(a);
        if (in_turn(a) && indices[a].waited_s != indices[b].waited_s) return indices[a].waited_s > indices[b].waited_s;
        if (!in_turn(a) && best[a] != best[b]) return best[a] < best[b];
        return jobs[a].id < jobs[b].id;
    });
    return order;
}

} // namespace fathom
