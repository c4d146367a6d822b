#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/balance/control_law.hpp"

#include <array>
#include <string_view>
#include <vector>

/// Initial gains by the region of the error and its change (spec 3, R4).
namespace fathom {

/// Rows of R4's table.
enum class GainRegion {
    kFar,      ///< |e| ≥ ε1
    kMiddle,   ///< ε2 ≤ |e| < ε1
    kNearFast, ///< |e| < ε2 and |ec| ≥ δ1
    kNearSlow, ///< |e| < ε2 and |ec| < δ1
};
std::string_view to_string(GainRegion region);

struct GainSchedule {
    double epsilon1 = 0.4;
    double epsilon2 = 0.15;
    double delta1 = 0.05;
    std::array<double, 3> proportional{2, 1.5, 2};        ///< K_p1 ≈ K_p3 > K_p2
    std::array<double, 3> integral{0, 0.1, 0.2};          ///< 0 = K_i1 < K_i2 < K_i3
    std::array<double, 4> derivative{0.3, 0.3, 0.6, 0.3}; ///< K_d1 ≈ K_d2 ≈ K_d4 < K_d3

    bool operator==(const GainSchedule&) const = default;
};

/// Gains count as alike (≈) when they differ by no more than this part of the larger.
inline constexpr double kAlikeGains = 0.1;

/// Each rule of R4 that the schedule breaks, by name, with the gains that break it.
std::vector<FieldError> broken_gain_rules(const GainSchedule& schedule);

GainRegion gain_region(const GainSchedule& schedule, double error, double change);
Gains gains_of(const GainSchedule& schedule, GainRegion region);

/// Reads `{"epsilon1", "epsilon2", "delta1", "proportional": […3], "integral": […3], "derivative": […4]}`; what is left
/// out has its default. Errors, broken rules among them, go to the reader's list.
GainSchedule read_gain_schedule(const Json& json, const std::string& path, std::vector<FieldError>& errors);
Json to_json(const GainSchedule& schedule);

} // namespace fathom
