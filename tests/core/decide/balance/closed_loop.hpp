#pragma once

#include "core/decide/balance/regulator.hpp"
#include "core/decide/balance/unit_model.hpp"

#include <cstdint>
#include <optional>
#include <vector>

/// A regulator and the model of a unit, one after the other: what tests and the benchmark of the loop have in common.
namespace fathom {

/// The same numbers for the same seed on any machine.
class LoopRandom {
  public:
    explicit LoopRandom(std::uint64_t seed) : state_(seed) {}

    double uniform(double from, double to);
    std::int64_t whole(std::int64_t from, std::int64_t to); ///< both may come
    double normal(double deviation);                        ///< the sum of twelve uniform numbers

  private:
    std::uint64_t next();

    std::uint64_t state_;
};

/// The work changes, as when another job comes.
struct LoopPhase {
    std::int64_t periods{};
    double link_rate{};   ///< see UnitModel
    double demand_rate{}; ///<
};

struct LoopWorld {
    UnitModel model;
    std::int64_t sub_units{};
    std::int64_t most_sub_units{};
    std::int64_t clock_mhz = 1000;
    std::int64_t least_clock_mhz = 600;
    std::int64_t most_clock_mhz = 1400;
    PrecisionRange precision{Precision::kInt8, Precision::kInt8};
    std::int64_t delay_periods = 0; ///< from an action to its effect
    double noise = 0;               ///< standard deviation of each measured occupancy
    std::vector<LoopPhase> phases;
};

/// A world of chance: bound by its link or its compute up to four times, delays up to four periods, noise up to 0.02,
/// three phases.
LoopWorld random_world(std::uint64_t seed);

/// One period of a run.
struct LoopPeriod {
    double error{}; ///< the true one
    StepOutcome outcome = StepOutcome::kNoSample;
    int direction = 0; ///< of what was done: 1 more capacity, −1 less, 0 nothing
};

struct LoopRun {
    double operations = 0;
    double joules = 0;
    std::vector<std::vector<LoopPeriod>> phases;
    ModelPosition end;
};

/// Without settings nothing is regulated. `seed` draws the noise.
LoopRun run_closed_loop(const LoopWorld& world, const std::optional<RegulatorSettings>& settings, std::uint64_t seed);

/// How often, from a period of a phase on, what was done went against what was done before.
int reversals_from(const std::vector<LoopPeriod>& phase, std::size_t first);

/// How the golden scenario (spec 3, R9) ends when two loops pass sub-units to each other.
struct GoldenEnd {
    std::int64_t sub_units_one{};
    std::int64_t sub_units_two{};
    std::int64_t clock_two_mhz{};
    double tops{}; ///< of both
};

/// Cluster I has a link that feeds 5 000 TOPS, cluster II one for 20 000; both begin with 100 vGPUs of 100 TOPS at 1.0
/// GHz. What one gives up the other may take; the clock of II may be raised by a tenth.
GoldenEnd run_golden_scenario();

/// Periods of a phase until the last one in which something was done; empty when that was in its last fifth.
std::optional<std::int64_t> settling_periods(const std::vector<LoopPeriod>& phase);

/// By how much the true error of a phase went beyond the band on the other side than where it began, at most; 0: it did
/// not, or began within the band.
double overshoot(const std::vector<LoopPeriod>& phase, double band);

} // namespace fathom
