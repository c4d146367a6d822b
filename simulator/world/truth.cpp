#include "simulator/world/truth.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr double kStepS = 3600;
constexpr double kDayS = 86400;
constexpr std::int64_t kHoursPerMark = 64;
constexpr std::uint64_t kDriftPurpose = 1;
constexpr std::uint64_t kRunPurpose = 2;

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): each bit of the result depends on all of the
/// argument.
std::uint64_t mix(std::uint64_t x)
{
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
}

std::uint64_t bits_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a, std::uint64_t b)
{
    return mix(mix(mix(mix(seed) ^ purpose) ^ a) ^ b);
}

double to_unit(std::uint64_t bits)
{
    return static_cast<double>(bits >> 11U) * 0x1p-53;
}

} // namespace

double uniform_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a, std::uint64_t b)
{
    return to_unit(bits_of(seed, purpose, a, b));
}

double normal_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a, std::uint64_t b)
{
    const std::uint64_t bits = bits_of(seed, purpose, a, b);
    const double radius = std::sqrt(-2 * portable::log(1 - to_unit(bits))); // Box and Muller; 1 − u is never 0
    return radius * portable::cos_turns(to_unit(mix(bits)));
}

Truth::Truth(const Scenario& scenario, std::uint64_t seed) : scenario_(&scenario), seed_(seed)
{
    if (scenario.knowledge.drift_per_day > 0)
        walks_.resize(scenario.network.unit_types.size() * scenario.network.job_types.size());
}

double Truth::drift(std::size_t job_type, std::size_t unit_type, double at_s)
{
    if (walks_.empty()) return 1;
    const std::size_t place = unit_type * scenario_->network.job_types.size() + job_type;
    Walk& walk = walks_[place];
    const auto hour = static_cast<std::int64_t>(std::floor(std::max(at_s, 0.0) / kStepS));
    const double step = scenario_->knowledge.drift_per_day * std::sqrt(kStepS / kDayS);
    if (hour < walk.hour) {
        walk.hour = hour / kHoursPerMark * kHoursPerMark;
        walk.log_factor = walk.marks[static_cast<std::size_t>(hour / kHoursPerMark)];
    }
    for (; walk.hour < hour; ++walk.hour) {
        if (walk.hour == std::ssize(walk.marks) * kHoursPerMark) walk.marks.push_back(walk.log_factor);
        walk.log_factor += step * normal_of(seed_, kDriftPurpose, place, static_cast<std::uint64_t>(walk.hour));
    }
    return portable::exp(walk.log_factor);
}

double Truth::run_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count, std::int64_t attempt, double at_s)
{
    const Job& facts = scenario_->workload.jobs[job];
    const double run_s =
        true_run_s(scenario_->network, facts, unit_type, unit_count, drift(facts.job_type, unit_type, at_s));
    const double noise = scenario_->knowledge.run_noise;
    if (noise <= 0) return run_s;
    return run_s * portable::exp(noise * normal_of(seed_, kRunPurpose, job, static_cast<std::uint64_t>(attempt)));
}

} // namespace fathom::simulation
