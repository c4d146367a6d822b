#pragma once

#include "core/base/clock.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

/// What probes may take from a center: measuring must not cost what it is to save.
namespace fathom {

/// Over how long a center's probes are added up.
inline constexpr std::chrono::seconds kProbeBudgetWindow = std::chrono::days(30);

/// How a center's budget stands. A unit-second is one unit for one second.
struct ProbeBudget {
    double share{};            ///< of all its unit-seconds of the window, 0…1
    std::int64_t unit_count{}; ///< of all its active unit types
    double used_s{};           ///< unit-seconds of probes that ended within the window
    double reserved_s{};       ///< unit-seconds that those which are queued or run may use at most
};

/// share × unit_count × window, in unit-seconds.
double limit_s(const ProbeBudget& budget);
/// What is neither used nor reserved, at least 0.
double left_s(const ProbeBudget& budget);

/// A probe that ended within the window.
struct SpentProbe {
    Timestamp ended_at{};
    double unit_s{};
};

/// When a probe that may take `cost_s` unit-seconds has room, as probes leave the window; `now` when it has room now.
/// Empty when none of what was used needs to leave: it asks for more than the whole limit, or for what is reserved.
/// @param spent  in any order; their sum is budget.used_s.
std::optional<Timestamp> earliest_room(const ProbeBudget& budget, double cost_s, std::span<const SpentProbe> spent,
                                       Timestamp now);

/// Why a probe has no room, with the figures and the way out, for people.
std::string explain_refusal(const std::string& center, const ProbeBudget& budget, double cost_s,
                            std::span<const SpentProbe> spent, Timestamp now);

} // namespace fathom
