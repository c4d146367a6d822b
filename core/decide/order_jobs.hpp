#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
    double regret{1};
};

/// A job that waits.
struct WaitingJobView {
    std::string id;
    std::vector<JobOption> options; ///< none: it is left out
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

/// A unit type as the order sees it.
struct UnitTypeLoad {
    std::int64_t unit_count{};
    std::int64_t free_units{};
    /// What one second of one unit is worth: the mean over the waiting jobs of how much faster it is than the others,
    /// or a given price. Positive.
    double worth{1};
    /// What frees when, as far as it is known, in any order. It decides how long units are kept for a job that needs
    /// several and has waited beyond its patience; not known: as long as it takes.
    std::vector<UnitRelease> releases{};
};

enum class OrderRule {
    kFirstCome,
    kShortestFirst,     ///< by measured run time on the free unit type
    kAdvantage,         ///< the rule in use
    kMinCostAssignment, ///< the free units against the waiting jobs at once, by min-cost flow (LEMON)
};
std::string_view to_string(OrderRule rule);
std::optional<OrderRule> parse_order_rule(std::string_view text);

struct OrderSettings {
    OrderRule rule = OrderRule::kAdvantage;
    double advantage_exponent = 4; ///< how much a place that suits others better is avoided
    /// A job that has waited so many times its shortest run time, and at least `patience_s`, goes before all that have
    /// not: nothing starves. Among those, first come first served.
    double patience_factor = 20;
    double patience_s = 3600;
};

/// A start that the rule decides.
struct OrderedStart {
    std::size_t job{};    ///< index into the jobs
    std::size_t option{}; ///< index into its options
};

/// The starts to make now, best first: never more units than are free, each job at most once, gangs whole or not at
/// all. Work-conserving: as long as a job's option fits into what is free, something starts. The one exception: for the
/// oldest job whose patience is over and that does not fit anywhere yet, units of one type are kept, and what could not
/// end before it starts does not start on them. The order of `jobs` does not matter: ties go to the smaller id.
std::vector<OrderedStart> order_starts(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                                       const OrderSettings& settings);

/// The order in which waiting jobs get their turn, for a router that plans each by itself: indices, first to last; the
/// same index as order_starts(), of each job's best option.
std::vector<std::size_t> order_waiting(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                                       const OrderSettings& settings);

/// The worth of each unit type for these jobs: for each job the harmonic mean of its run times over its options,
/// divided by its run time there; of that the geometric mean over the jobs that can run there, 1 where none can.
std::vector<double> unit_worths(std::span<const WaitingJobView> jobs, std::size_t unit_type_count);

} // namespace fathom
