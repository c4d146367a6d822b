#include "core/decide/prediction/split_steps.hpp"

#include <algorithm>

namespace fathom {
namespace {

/// Sums of other orders differ by their last digits: less than this is no gain.
constexpr double kMinGain = 1e-9;

/// The least cost of a step and of all that it reads, by where the step runs.
struct Costs {
    double on_cpu{};
    double on_gpu{};

    double on(bool gpu) const { return gpu ? on_gpu : on_cpu; }
};

/// Whether a step is better off on the other kind than its reader.
bool changes_device(const Costs& costs, bool reader_on_gpu, double passing_s)
{
    return costs.on(!reader_on_gpu) + passing_s < costs.on(reader_on_gpu);
}

/// Readers stand before what they read, so from the last step to the first each finds its own costs complete.
std::vector<Costs> least_costs(std::span<const DeviceStep> steps, double threshold)
{
    std::vector<Costs> costs(steps.size());
    for (std::size_t i = steps.size(); i-- > 0;) {
        const DeviceStep& step = steps[i];
        Costs& own = costs[i];
        own.on_cpu += step.cpu_s;
        own.on_gpu += threshold * step.gpu_s;
        if (!step.reader) continue;
        Costs& reader = costs[*step.reader];
        reader.on_cpu += std::min(own.on_cpu, own.on_gpu + step.passing_s);
        reader.on_gpu += std::min(own.on_gpu, own.on_cpu + step.passing_s);
    }
    return costs;
}

/// Each step where the least costs are; returns their sum.
double place_steps(std::span<const DeviceStep> steps, const std::vector<Costs>& costs, std::vector<PlacedStep>& placed)
{
    double sum = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::optional<std::size_t> reader = steps[i].reader;
        if (!reader) {
            placed[i].runs_on_gpu = costs[i].on_gpu < costs[i].on_cpu;
            sum += costs[i].on(placed[i].runs_on_gpu);
            continue;
        }
        const bool reader_on_gpu = placed[*reader].runs_on_gpu;
        const bool changes = changes_device(costs[i], reader_on_gpu, steps[i].passing_s);
        placed[i] = {changes != reader_on_gpu, changes ? steps[i].passing_s : 0};
    }
    return sum;
}

} // namespace

SplitAnswer split_steps(std::span<const DeviceStep> steps, double threshold)
{
    SplitAnswer answer;
    for (const DeviceStep& step : steps) {
        answer.cpu_s += step.cpu_s;
        answer.gpu_s += step.gpu_s;
    }
    answer.whole_runs_on_gpu = threshold * answer.gpu_s < answer.cpu_s;
    answer.steps.resize(steps.size());
    const double least = place_steps(steps, least_costs(steps, threshold), answer.steps);
    const double whole = answer.whole_runs_on_gpu ? threshold * answer.gpu_s : answer.cpu_s;
    const auto is_on_gpu = [](const PlacedStep& one) { return one.runs_on_gpu; };
    const bool is_on_both = std::any_of(answer.steps.begin(), answer.steps.end(), is_on_gpu) &&
                            !std::all_of(answer.steps.begin(), answer.steps.end(), is_on_gpu);
    answer.runs_as_steps = is_on_both && least < whole * (1 - kMinGain);
    if (!answer.runs_as_steps) {
        std::fill(answer.steps.begin(), answer.steps.end(), PlacedStep{answer.whole_runs_on_gpu, 0});
        answer.total_s = answer.whole_runs_on_gpu ? answer.gpu_s : answer.cpu_s;
        return answer;
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        answer.passing_s += answer.steps[i].passing_s;
        answer.total_s += answer.steps[i].runs_on_gpu ? steps[i].gpu_s : steps[i].cpu_s;
    }
    answer.total_s += answer.passing_s;
    return answer;
}

} // namespace fathom
