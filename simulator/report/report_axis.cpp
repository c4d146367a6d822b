#include "simulator/report/report_axis.hpp"

#include "cli/text/format_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace fathom::simulation {
namespace {

// Seconds.
constexpr double kMinute = 60;
constexpr double kHour = 3600;
constexpr double kDay = 86400;

/// Steps between ticks that people count in, seconds.
constexpr std::array kDurationSteps{1.0,        2.0,        5.0,        10.0,        15.0,        30.0,
                                    kMinute,    120.0,      300.0,      600.0,       900.0,       1800.0,
                                    kHour,      2 * kHour,  3 * kHour,  6 * kHour,   12 * kHour,  kDay,
                                    2 * kDay,   5 * kDay,   7 * kDay,   14 * kDay,   28 * kDay,   50 * kDay,
                                    100 * kDay, 200 * kDay, 500 * kDay, 1000 * kDay, 2000 * kDay, 5000 * kDay};

/// Round durations for logarithmic axes, seconds: first few, then more of them.
constexpr std::array kFewDurations{1e-3,  1e-2,      0.1,  1.0,       10.0,       kMinute,    600.0,
                                   kHour, 6 * kHour, kDay, 10 * kDay, 100 * kDay, 1000 * kDay};
constexpr std::array kManyDurations{1e-3,     2e-3,      5e-3,      1e-2,      2e-2,       5e-2,       0.1,
                                    0.2,      0.5,       1.0,       2.0,       5.0,        10.0,       20.0,
                                    30.0,     kMinute,   120.0,     300.0,     600.0,      1200.0,     1800.0,
                                    kHour,    2 * kHour, 3 * kHour, 6 * kHour, 12 * kHour, kDay,       2 * kDay,
                                    5 * kDay, 10 * kDay, 20 * kDay, 50 * kDay, 100 * kDay, 200 * kDay, 500 * kDay};

/// Round numbers for logarithmic axes, times powers of ten.
constexpr std::array kFewDigits{1.0};
constexpr std::array kManyDigits{1.0, 2.0, 5.0};

/// Without digits that say nothing: ticks are round.
std::string plain(double value)
{
    return fmt::format("{:g}", value);
}

std::string duration_label(double value, double step)
{
    if (value == 0) return "0";
    if (step >= kDay) return plain(value / kDay) + " d";
    if (step >= kHour) return plain(value / kHour) + " h";
    if (step >= kMinute) return plain(value / kMinute) + " min";
    if (step >= 1) return plain(value) + " s";
    return plain(value * 1000) + " ms";
}

std::string label_of(AxisUnit unit, double value, double step)
{
    switch (unit) {
    case AxisUnit::kDuration:
        return duration_label(value, step);
    case AxisUnit::kShare:
        return plain(value * 100) + " %";
    case AxisUnit::kFactor:
        return plain(value) + " ×";
    case AxisUnit::kCount:
        break;
    }
    return value == std::round(value) ? cli::format_count(std::llround(value)) : plain(value);
}

double decimal_step(double least)
{
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double digit : kManyDigits) {
        if (digit * power >= least * (1 - 1e-9)) return digit * power;
    }
    return 10 * power;
}

/// The smallest round step that makes at most so many of them.
double step_of(const Axis& axis, std::size_t most)
{
    const double least = (axis.to - axis.from) / static_cast<double>(most);
    if (axis.unit == AxisUnit::kShare) return std::max(decimal_step(least), 0.01);
    if (axis.unit == AxisUnit::kDuration && least > 0.5) {
        const auto step = std::find_if(kDurationSteps.begin(), kDurationSteps.end(),
                                       [&](double one) { return one >= least * (1 - 1e-9); });
        return step != kDurationSteps.end() ? *step : decimal_step(least / kDay) * kDay;
    }
    const double step = decimal_step(least);
    return axis.unit == AxisUnit::kCount ? std::max(step, 1.0) : step;
}

std::vector<AxisTick> linear_ticks(const Axis& axis, std::size_t most)
{
    const double step = step_of(axis, most);
    std::vector<AxisTick> ticks;
    const auto first = static_cast<std::int64_t>(std::ceil(axis.from / step - 1e-9));
    const auto last = static_cast<std::int64_t>(std::floor(axis.to / step + 1e-9));
    for (std::int64_t i = first; i <= last; ++i) {
        const double value = static_cast<double>(i) * step;
        ticks.push_back({value, label_of(axis.unit, value, step)});
    }
    return ticks;
}

std::vector<double> decimal_values(const Axis& axis, std::span<const double> digits)
{
    std::vector<double> values;
    if (axis.scale == AxisScale::kLogarithmicFrom0) values.push_back(0);
    const double least = axis.scale == AxisScale::kLogarithmicFrom0 ? 1 : axis.from;
    for (double power = std::pow(10, std::floor(std::log10(least))); power <= axis.to; power *= 10) {
        for (const double digit : digits) {
            const double value = digit * power;
            if (value >= least * (1 - 1e-9) && value <= axis.to * (1 + 1e-9)) values.push_back(value);
        }
    }
    return values;
}

std::vector<double> within(const Axis& axis, std::span<const double> values)
{
    std::vector<double> result;
    std::copy_if(values.begin(), values.end(), std::back_inserter(result),
                 [&](double value) { return value >= axis.from * (1 - 1e-9) && value <= axis.to * (1 + 1e-9); });
    return result;
}

/// Values that are a factor apart: many of them where they fit, else few, else each so manyth of these.
std::vector<double> logarithmic_values(const Axis& axis, std::size_t most)
{
    const bool is_duration = axis.unit == AxisUnit::kDuration;
    std::vector<double> many = is_duration ? within(axis, kManyDurations) : decimal_values(axis, kManyDigits);
    if (many.size() <= most) return many;
    std::vector<double> few = is_duration ? within(axis, kFewDurations) : decimal_values(axis, kFewDigits);
    const std::size_t every = (few.size() + most - 1) / std::max<std::size_t>(most, 1);
    std::vector<double> values;
    for (std::size_t i = 0; i < few.size(); i += std::max<std::size_t>(every, 1))
        values.push_back(few[i]);
    return values;
}

double scaled(AxisScale scale, double value)
{
    switch (scale) {
    case AxisScale::kLinear:
        break;
    case AxisScale::kLogarithmic:
        return std::log(value);
    case AxisScale::kLogarithmicFrom0:
        return std::log1p(value);
    }
    return value;
}

} // namespace

double position_on(const Axis& axis, double value)
{
    const double from = scaled(axis.scale, axis.from);
    return (scaled(axis.scale, value) - from) / (scaled(axis.scale, axis.to) - from);
}

std::vector<AxisTick> ticks_of(const Axis& axis, std::size_t most)
{
    if (axis.scale == AxisScale::kLinear) return linear_ticks(axis, most);
    std::vector<AxisTick> ticks;
    for (const double value : logarithmic_values(axis, most))
        ticks.push_back({value, label_of(axis.unit, value, value)});
    return ticks;
}

void round_up(Axis& axis, std::size_t most_ticks)
{
    const double step = step_of(axis, most_ticks);
    axis.to = std::ceil(axis.to / step - 1e-9) * step;
}

std::string_view to_string(AxisScale scale)
{
    switch (scale) {
    case AxisScale::kLinear:
        break;
    case AxisScale::kLogarithmic:
        return "log";
    case AxisScale::kLogarithmicFrom0:
        return "log1p";
    }
    return "linear";
}

std::string_view to_string(AxisUnit unit)
{
    switch (unit) {
    case AxisUnit::kCount:
        break;
    case AxisUnit::kDuration:
        return "duration";
    case AxisUnit::kShare:
        return "share";
    case AxisUnit::kFactor:
        return "factor";
    }
    return "count";
}

} // namespace fathom::simulation
