#include "core/decide/probing/match_code.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/probing/code_mix.hpp"
#include "core/decide/probing/operator_code.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace fathom {
namespace {

/// As in core/decide/probing/match: intensities this far apart have nothing in common.
constexpr double kCodeIntensityDecades = 2;
constexpr double kCodeIntensityWeight = 0.5;

/// The parts by the time that one of each takes: an address that has to come from memory first is waited for, as are
/// divisions and locks; integers and branches are worked on beside all else.
std::array<double, 11> weighed_parts(const CodeMix& mix)
{
    constexpr double kWaited = 4;
    constexpr double kGuessed = 2; // jumps that the processor foresees now and then
    constexpr double kBeside = 0.5;
    return {mix.floating, kWaited * mix.slow_floating, kBeside * mix.integer, mix.load,   kWaited * mix.indirect_load,
            mix.store,    kBeside * mix.branch,        kGuessed * mix.jump,   mix.string, kWaited * mix.atomic,
            mix.crypto};
}

double closeness_of_intensities(double a, double b)
{
    if (a <= 0 || b <= 0) return a <= 0 && b <= 0 ? 1 : 0;
    return std::max(0.0, 1 - std::abs(portable::log10(a / b)) / kCodeIntensityDecades);
}

} // namespace

double code_similarity(const CodeMix& a, const CodeMix& b)
{
    const std::array<double, 11> first = weighed_parts(a);
    const std::array<double, 11> second = weighed_parts(b);
    double common = 0;
    double all = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
        common += 2 * std::min(first[i], second[i]);
        all += first[i] + second[i];
    }
    if (all <= 0) return 0;
    const double closeness = closeness_of_intensities(a.flops_per_byte, b.flops_per_byte);
    return std::clamp(common / all * (1 - kCodeIntensityWeight * (1 - closeness)), 0.0, 1.0);
}

CodeMatch nearest_operator(const CodeMix& loop, std::span<const OperatorCode> operators)
{
    CodeMatch nearest;
    for (const OperatorCode& one : operators) {
        const double similarity = code_similarity(loop, one.mix);
        const bool is_nearer = similarity > nearest.similarity ||
                               (similarity == nearest.similarity && one.operator_id < nearest.operator_id);
        if (nearest.operator_id.empty() || is_nearer) nearest = {one.operator_id, similarity};
    }
    return nearest;
}

} // namespace fathom
