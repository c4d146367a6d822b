#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::simulation {

enum class AxisScale {
    kLinear,
    kLogarithmic,
    kLogarithmicFrom0, ///< by log(1 + value): counts of which some are 0 and some are large
};

enum class AxisUnit {
    kCount,
    kDuration, ///< seconds, shown in what people read: "30 min", "2 d"
    kShare,    ///< 0..1, in per cent
    kFactor,   ///< "10 ×"
};

/// An axis of a drawing.
struct Axis {
    std::string title;
    AxisScale scale = AxisScale::kLinear;
    AxisUnit unit = AxisUnit::kCount;
    double from{}; ///< positive on a logarithmic axis
    double to{1};  ///< above `from`
};

/// Where on the axis a value lies: 0 its beginning, 1 its end; beyond these for what lies outside.
double position_on(const Axis& axis, double value);

struct AxisTick {
    double value{};
    std::string label;
};

/// Round values on the axis, ascending: about as many as `most`, and hardly more.
std::vector<AxisTick> ticks_of(const Axis& axis, std::size_t most);

/// Extends the end of a linear axis to the next round value.
void round_up(Axis& axis, std::size_t most_ticks);

/// "linear", "log" or "log1p": as scripts of the page know it.
std::string_view to_string(AxisScale scale);
/// "count", "duration", "share" or "factor".
std::string_view to_string(AxisUnit unit);

} // namespace fathom::simulation
