#include "core/decide/balance/gain_schedule.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/decide/balance/control_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace fathom {
namespace {

constexpr double kMaxGain = 1000;

bool are_alike(std::initializer_list<double> gains)
{
    const auto [least, most] = std::minmax(gains);
    return most - least <= kAlikeGains * most;
}

void check_thresholds(const GainSchedule& schedule, std::vector<FieldError>& errors)
{
    if (!(schedule.epsilon1 > schedule.epsilon2 && schedule.epsilon2 > 0))
        errors.push_back(
            {"epsilon1", fmt::format("breaks ε1 > ε2 > 0: ε1 = {}, ε2 = {}", schedule.epsilon1, schedule.epsilon2)});
    if (!(schedule.delta1 > 0)) errors.push_back({"delta1", fmt::format("breaks δ1 > 0: δ1 = {}", schedule.delta1)});
}

template <std::size_t kCount>
void read_gains(ObjectReader& reader, const char* name, std::array<double, kCount>& gains)
{
    const Json* const items = reader.has(name) ? reader.array(name, kCount, kCount) : nullptr;
    if (items == nullptr || items->size() != kCount) return;
    for (std::size_t i = 0; i < kCount; ++i) {
        const Json& item = (*items)[i];
        if (item.is_number() && item.get<double>() >= 0 && item.get<double>() <= kMaxGain)
            gains.at(i) = item.get<double>();
        else
            reader.fail(fmt::format("{}[{}]", name, i), fmt::format("must be a number from 0 to {}", kMaxGain));
    }
}

} // namespace

std::string_view to_string(GainRegion region)
{
    switch (region) {
    case GainRegion::kFar:
        return "far";
    case GainRegion::kMiddle:
        return "middle";
    case GainRegion::kNearFast:
        return "near, changing fast";
    case GainRegion::kNearSlow:
        return "near, changing slowly";
    }
    return "";
}

std::vector<FieldError> broken_gain_rules(const GainSchedule& schedule)
{
    std::vector<FieldError> errors;
    check_thresholds(schedule, errors);
    const auto& [p1, p2, p3] = schedule.proportional;
    const auto& [i1, i2, i3] = schedule.integral;
    const auto& [d1, d2, d3, d4] = schedule.derivative;
    if (!are_alike({p1, p3}) || !(p1 > p2) || !(p3 > p2))
        errors.push_back({"proportional", fmt::format("breaks K_p1 ≈ K_p3 > K_p2 (≈: within {} %): K_p1 = {}, K_p2 = "
                                                      "{}, K_p3 = {}",
                                                      100 * kAlikeGains, p1, p2, p3)});
    if (i1 != 0 || !(i2 > 0) || !(i3 > i2))
        errors.push_back(
            {"integral", fmt::format("breaks 0 = K_i1 < K_i2 < K_i3: K_i1 = {}, K_i2 = {}, K_i3 = {}", i1, i2, i3)});
    if (!are_alike({d1, d2, d4}) || !(std::max({d1, d2, d4}) < d3))
        errors.push_back({"derivative", fmt::format("breaks K_d1 ≈ K_d2 ≈ K_d4 < K_d3 (≈: within {} %): K_d1 = {}, "
                                                    "K_d2 = {}, K_d3 = {}, K_d4 = {}",
                                                    100 * kAlikeGains, d1, d2, d3, d4)});
    return errors;
}

GainRegion gain_region(const GainSchedule& schedule, double error, double change)
{
    if (std::abs(error) >= schedule.epsilon1) return GainRegion::kFar;
    if (std::abs(error) >= schedule.epsilon2) return GainRegion::kMiddle;
    return std::abs(change) >= schedule.delta1 ? GainRegion::kNearFast : GainRegion::kNearSlow;
}

Gains gains_of(const GainSchedule& schedule, GainRegion region)
{
    const auto& [p1, p2, p3] = schedule.proportional;
    const auto& [i1, i2, i3] = schedule.integral;
    const auto& [d1, d2, d3, d4] = schedule.derivative;
    switch (region) {
    case GainRegion::kFar:
        return {p1, i1, d1};
    case GainRegion::kMiddle:
        return {p2, i2, d2};
    case GainRegion::kNearFast:
        return {p3, i3, d3};
    case GainRegion::kNearSlow:
        break;
    }
    return {p3, i3, d4};
}

GainSchedule read_gain_schedule(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    const std::size_t before = errors.size();
    ObjectReader reader(json, path, errors);
    GainSchedule schedule;
    schedule.epsilon1 = reader.optional_number("epsilon1", 0, 1).value_or(schedule.epsilon1);
    schedule.epsilon2 = reader.optional_number("epsilon2", 0, 1).value_or(schedule.epsilon2);
    schedule.delta1 = reader.optional_number("delta1", 0, 2).value_or(schedule.delta1);
    read_gains(reader, "proportional", schedule.proportional);
    read_gains(reader, "integral", schedule.integral);
    read_gains(reader, "derivative", schedule.derivative);
    reader.finish(UnknownFields::kReject);
    if (errors.size() > before) return schedule;
    for (const FieldError& broken : broken_gain_rules(schedule))
        reader.fail(broken.field, broken.detail);
    return schedule;
}

Json to_json(const GainSchedule& schedule)
{
    return {{"epsilon1", schedule.epsilon1}, {"epsilon2", schedule.epsilon2},
            {"delta1", schedule.delta1},     {"proportional", schedule.proportional},
            {"integral", schedule.integral}, {"derivative", schedule.derivative}};
}

} // namespace fathom
