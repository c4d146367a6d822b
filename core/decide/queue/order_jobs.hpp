#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Which waiting job goes where first when units are scarce.
namespace fathom {

/// One place that a waiting job could run at.
struct JobOption {
    std::size_t unit_type{}; ///< index into the unit types
    std::int64_t unit_count{1};
    double run_s{}; ///< predicted; positive
    /// Objective of the place relative to the job's best place, at least 1, for owners that do not just want the job
    /// to end early: what run times say is known already.
    double relative_objective{1};
    /// What relative_objective cannot count yet of an option whose run time is not known: CountOffer::beyond_s.
    double beyond_s{};

    bool operator==(const JobOption&) const = default;
};

/// The places of a job. Jobs of one kind share one list: copies are the same list, which is weighed once for all of
/// them.
class JobOptions {
  public:
    JobOptions() = default;
    JobOptions(std::vector<JobOption> options)
        : list_(options.empty() ? nullptr : std::make_shared<const std::vector<JobOption>>(std::move(options))),
          options_(list_ == nullptr ? std::span<const JobOption>() : *list_)
    {
    }
    JobOptions(std::initializer_list<JobOption> options) : JobOptions(std::vector<JobOption>(options)) {}

    const JobOption* begin() const { return options_.data(); }
    const JobOption* end() const { return options_.data() + options_.size(); }
    const JobOption* data() const { return options_.data(); }
    std::size_t size() const { return options_.size(); }
    bool empty() const { return options_.empty(); }
    const JobOption& operator[](std::size_t option) const { return options_[option]; }
    /// Of the list itself: the same for its copies, as long as one of them is there.
    const void* list() const { return list_.get(); }
    bool is_shared() const { return list_.use_count() > 1; }

    bool operator==(const JobOptions& other) const
    {
        return list_ == other.list_ || std::equal(begin(), end(), other.begin(), other.end());
    }

  private:
    std::shared_ptr<const std::vector<JobOption>> list_; ///< nullptr: none
    std::span<const JobOption> options_;                 ///< of the list
};

/// A job that waits.
struct WaitingJobView {
    std::string id;
    JobOptions options; ///< none: it is left out
    double waited_s{};
    double fair_load{1};                  ///< of its project (FairShare::load)
    std::int64_t priority = 0;            ///< -100..100
    std::optional<double> latest_start_s; ///< from now: later it misses its deadline
    std::string gang;                     ///< project and gang; empty: none
    std::int64_t gang_size = 0;
};

/// Units that are busy now and are expected to be free later.
struct UnitRelease {
    double in_s{}; ///< from now
    std::int64_t unit_count{};
};

/// A unit type as the order sees it. `shadow_price` comes from find_shadow_prices() (core/decide/queue/shadow_price),
/// `load` from BusyShare (core/decide/queue/busy_share).
struct UnitTypeLoad {
    std::int64_t unit_count{};
    std::int64_t free_units{};
    double shadow_price{1}; ///< what one second of one unit is worth where units are scarce; positive, the mean unit 1
    /// How busy such units have been of late, 0..1. At 1 nothing waits for a place that suits better.
    double load{1};
    /// What frees when, as far as it is known, in any order. A run that is over its time is best expected to take as
    /// long again as it is late.
    std::vector<UnitRelease> releases{};
    /// Free units may be held so long: then a reservation or a maintenance takes them. What runs longer does not start.
    double free_for_s = std::numeric_limits<double>::infinity();
};

enum class OrderRule {
    kFirstCome,         ///< longest wait first, on the fastest free place
    kShortestFirst,     ///< shortest measured run time on a free place first
    kAdvantage,         ///< by shadow prices, with waiting for better places: the rule in use
    kMinCostAssignment, ///< as kAdvantage, but all free units against all waiting jobs at once, by min-cost flow
};
std::string_view to_string(OrderRule rule);
std::optional<OrderRule> parse_order_rule(std::string_view text);

struct OrderSettings {
    OrderRule rule = OrderRule::kAdvantage;
    double advantage_exponent = 6; ///< how much a place that suits others better is avoided
    /// A job that has waited so many times its shortest run time, and at least `starvation_limit_s`, goes before all
    /// that have not: nothing starves. Among those, who is longest beyond its starvation limit goes first.
    double starvation_limit_factor = 20;
    double starvation_limit_s = 3600;
    /// A wait for a better place counts (1 − load)^−wait_stretch times: the busier such units are, the less an
    /// expectation holds. Cycles are kept without it: who changes it must go on reading those as they were decided.
    double wait_stretch = 0.5;
};

/// A start that the rule decides.
struct OrderedStart {
    std::size_t job{};    ///< index into the jobs; of a WaitQueue: as add() numbered it
    std::size_t option{}; ///< index into its options
    JobOption place{};    ///< that option
};

/// The starts to make now, in the order in which they were found: never more units than are free, each job at most
/// once, gangs whole or not at all. The order of `jobs` does not matter: ties go to the smaller id.
///
/// What the rule in use does (docs/routing.md "Order under load"; numbers in docs/decisions/0004-order-under-load.md):
/// each job is taken with the free place of least opportunity cost · run time · relative objective; of these pairs the
/// one with the least index starts, again and again,
///
///     work  = shadow price of the unit type · units · run time          least = that of the job's best place
///     index = least · (work / least)^advantage_exponent · relative objective · fair_load · 2^(−priority / 20) ·
///     urgency
///
/// where urgency is latest_start / shortest run, from 0 to 1. A job passes a free place over while another is better
/// with its wait: wait there / √(1 − load) + opportunity cost · run time · relative objective is less, with opportunity
/// cost = (1 − load) + load · shadow price · units / fewest units.
///
/// It assumes that run times are known to within a factor of two or so, that jobs are not interrupted, that owners want
/// their jobs to end early (others say so by `relative_objective`), and that work comes as it came while shadow prices
/// and load were taken.
///
/// Work-conserving (as long as a job's option fits into what is free, something starts) with two exceptions: jobs that
/// wait for a better place, where load is below 1; and units reserved for the oldest job that is beyond its starvation
/// limit and does not fit anywhere yet: what could not end before that job starts does not start on them.
std::vector<OrderedStart> order_starts(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                                       const OrderSettings& settings);

/// Waiting jobs in order of priority rank, for a router that plans each by itself: indices, first to last; the
/// same index as order_starts(), of each job's best option.
std::vector<std::size_t> order_waiting(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                                       const OrderSettings& settings);

} // namespace fathom
