#pragma once

#include "simulator/figures/figures.hpp"
#include "simulator/setup/join_scenario.hpp"

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The same jobs in a network as it is and as it would be.
namespace fathom::simulation {

/// A network, and who decides in it.
struct ComparedCase {
    const CentersFile* centers{};
    std::string policy = "fathom"; ///< a name of policy_names()
};

struct ComparisonOrder {
    ComparedCase before;
    ComparedCase after;
    std::uint64_t seed = 1;                ///< of all chances, in both
    std::optional<CountedRange> counted{}; ///< empty: all jobs
    /// Called before each of the two simulations with its policy; may be empty.
    std::function<void(std::string_view)> on_begin{};
};

/// Upper bounds of waits, in seconds, by which jobs are counted; one class more for longer ones.
inline constexpr std::array<double, 7> kWaitBounds{1, 10, 60, 600, 3600, 21600, 86400};

struct CenterFigures {
    std::string center;
    std::int64_t unit_count{};
    Figures figures; ///< of the jobs that ran there last
};

/// The network at a moment.
struct ComparedMoment {
    double at_s{}; ///< after the first counted job came
    std::int64_t waiting_jobs{};
    std::int64_t running_jobs{};
    double busy_share{}; ///< units in use of all units, 0..1
};

struct ComparedResult {
    std::string policy;
    Figures figures;
    std::vector<CenterFigures> centers; ///< in the order of the file
    std::vector<InputSkips> left_out;   ///< jobs that the network cannot run, and lines that are no jobs
    std::array<std::int64_t, kWaitBounds.size() + 1> waits{}; ///< jobs that ended, by wait
    std::vector<ComparedMoment> moments;                      ///< at most 200
    bool has_prices = false;                                  ///< else costs say nothing
    bool was_stopped = false;
};

struct Comparison {
    std::string currency;
    std::uint64_t seed{};
    ComparedResult before;
    ComparedResult after;
};

/// Simulates the workload in both, one after the other. The same order gives the same figures on any machine.
/// @param hooks  of both simulations; when they are told to stop, figures are of what was simulated until then.
/// @error kInvalid   a policy is not known, or a network can run none of the jobs.
/// @error kInternal  as simulate().
Result<Comparison> compare_networks(const ComparisonOrder& order, const WorkloadInput& workload,
                                    const SimulationHooks& hooks = {});

/// As docs/simulation.md, "Before and after", and the REST interface have it. What there is nothing to take a figure of
/// is NaN, which is null as text; costs are null where nothing has a price.
Json to_json(const Comparison& comparison);

} // namespace fathom::simulation
