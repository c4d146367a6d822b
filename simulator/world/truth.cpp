#include "simulator/world/truth.hpp"

#include "core/base/portable_math.hpp"
#include "simulator/world/keyed_draw.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr double kStepS = 3600;
constexpr double kDayS = 86400;
constexpr std::int64_t kHoursPerMark = 64;
constexpr std::uint64_t kDriftPurpose = 1;
constexpr std::uint64_t kRunPurpose = 2;

} // namespace

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
