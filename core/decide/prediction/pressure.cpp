#include "core/decide/prediction/pressure.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace fathom {
namespace {

/// Of the usual pressure, as a deviation.
constexpr double kUsualDeviation = 0.5;

bool is_ratio(double value)
{
    return std::isfinite(value) && value > 0;
}

bool are_ratios(const PressureResult& result)
{
    const PressureRatios& ratios = result.ratios;
    return is_ratio(ratios.beside_bubbles) && is_ratio(ratios.reporter_beside) &&
           is_ratio(ratios.reporter_beside_bubbles);
}

} // namespace

std::optional<Pressure> fit_pressure(std::vector<PressureResult> results)
{
    std::erase_if(results, [](const PressureResult& result) { return !are_ratios(result); });
    if (results.empty()) return std::nullopt;
    // Sorted: sums of floating-point numbers depend on their order.
    std::sort(results.begin(), results.end(), [](const PressureResult& a, const PressureResult& b) {
        return std::tie(a.run_id, a.ratios.reporter_beside, a.ratios.reporter_beside_bubbles) <
               std::tie(b.run_id, b.ratios.reporter_beside, b.ratios.reporter_beside_bubbles);
    });
    const double noise_square = portable::square(kSendingNoise);
    double told = noise_square / portable::square(kUsualDeviation);
    double product = told * kUsualPressure;
    Pressure pressure;
    const std::string* run = nullptr;
    for (const PressureResult& one : results) {
        const double bubbles = std::max(portable::log(one.ratios.reporter_beside_bubbles), 0.0);
        const double beside = std::max(portable::log(one.ratios.reporter_beside), 0.0);
        told += portable::square(bubbles);
        product += bubbles * beside;
        if (run == nullptr || *run != one.run_id) ++pressure.run_count;
        run = &one.run_id;
    }
    pressure.per_core = std::min(product / told, kMaxPressure);
    pressure.deviation = std::sqrt(noise_square / told);
    return pressure;
}

} // namespace fathom
