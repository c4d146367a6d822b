// The loop that balances transfer and compute, on models of units drawn by seeds (see tests/bench/balance).
#include "tests/core/decide/balance/closed_loop.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace fathom {
namespace {

/// Others than those of the tests, by which gains were chosen.
constexpr std::uint64_t kFirstSeed = 100'000;
constexpr int kDefaultWorlds = 1000;

/// What one policy did in all worlds.
struct PolicySum {
    double log_operations = 0; ///< of operations over those without regulation
    double log_per_joule = 0;  ///< the same of operations a joule
    double least_gain = 1e300; ///< of operations, in the worst world
    double settling_periods = 0;
    double overshoot = 0; ///< of all phases
    int phases = 0;
    int unsettled = 0;
    int let_go = 0; ///< phases that ended so
};

void add(PolicySum& sum, const LoopRun& run, const LoopRun& unregulated)
{
    const double gain = run.operations / unregulated.operations;
    sum.log_operations += std::log(gain);
    sum.log_per_joule += std::log(gain * unregulated.joules / run.joules);
    sum.least_gain = std::min(sum.least_gain, gain);
    for (const std::vector<LoopPeriod>& phase : run.phases) {
        const std::optional<std::int64_t> settled = settling_periods(phase);
        sum.settling_periods += static_cast<double>(settled.value_or(std::ssize(phase)));
        sum.unsettled += settled ? 0 : 1;
        sum.let_go += phase.back().outcome == StepOutcome::kLetGo ? 1 : 0;
        sum.overshoot += overshoot(phase, RegulatorSettings().band);
        ++sum.phases;
    }
}

RegulatorSettings aimd_settings()
{
    RegulatorSettings settings;
    settings.law = ControlLaw::kAimd;
    settings.let_go_reversals = 1'000'000; // it swings by design
    return settings;
}

void print_row(const char* name, const PolicySum& sum, int worlds)
{
    fmt::print("{:<6} {:>18.3f} {:>18.3f} {:>14.3f} {:>16.1f} {:>12.3f} {:>12.1f} {:>10.1f}\n", name,
               std::exp(sum.log_operations / worlds), std::exp(sum.log_per_joule / worlds), sum.least_gain,
               sum.settling_periods / sum.phases, sum.overshoot / sum.phases, 100.0 * sum.unsettled / sum.phases,
               100.0 * sum.let_go / sum.phases);
}

int run(int worlds)
{
    PolicySum ours;
    PolicySum aimd;
    for (int i = 0; i < worlds; ++i) {
        const std::uint64_t seed = kFirstSeed + static_cast<std::uint64_t>(i);
        const LoopWorld world = random_world(seed);
        const LoopRun none = run_closed_loop(world, std::nullopt, seed);
        add(ours, run_closed_loop(world, RegulatorSettings(), seed), none);
        add(aimd, run_closed_loop(world, aimd_settings(), seed), none);
    }
    fmt::print("{} units of chance, 3 phases of 200 periods each\n", worlds);
    fmt::print("{:<6} {:>18} {:>18} {:>14} {:>16} {:>12} {:>12} {:>10}\n", "", "work over none", "work a joule",
               "worst work", "settling periods", "overshoot", "unsettled %", "let go %");
    print_row("pid", ours, worlds);
    print_row("aimd", aimd, worlds);
    fmt::print("RESULT settling_periods {:.1f} periods\n", ours.settling_periods / ours.phases);
    fmt::print("RESULT settling_periods_aimd {:.1f} periods\n", aimd.settling_periods / aimd.phases);
    fmt::print("RESULT overshoot {:.3f} ratio\n", ours.overshoot / ours.phases);
    fmt::print("RESULT overshoot_aimd {:.3f} ratio\n", aimd.overshoot / aimd.phases);
    fmt::print("RESULT unsettled_pct {:.2f} %\n", 100.0 * ours.unsettled / ours.phases);
    fmt::print("RESULT throughput_over_none {:.3f} ratio\n", std::exp(ours.log_operations / worlds));
    fmt::print("RESULT worst_throughput_over_none {:.3f} ratio\n", ours.least_gain);
    fmt::print("RESULT throughput_over_aimd {:.3f} ratio\n",
               std::exp((ours.log_operations - aimd.log_operations) / worlds));
    fmt::print("RESULT work_per_joule_over_none {:.3f} ratio\n", std::exp(ours.log_per_joule / worlds));
    fmt::print("RESULT work_per_joule_over_aimd {:.3f} ratio\n",
               std::exp((ours.log_per_joule - aimd.log_per_joule) / worlds));
    fmt::print("RESULT golden_tops {:.0f} TOPS\n", run_golden_scenario().tops);
    return 0;
}

} // namespace
} // namespace fathom

int main(int argc, char** argv)
{
    const int worlds = argc > 1 ? std::atoi(argv[1]) : fathom::kDefaultWorlds;
    return worlds > 0 ? fathom::run(worlds) : 2;
}
