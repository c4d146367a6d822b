#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom {

/// What copies of an operator told in turn with bubbles (probes/runner/memory_pressure). Ratios of times, all > 0.
struct PressureRatios {
    double beside_bubbles{};          ///< the operator's beside bubbles, over that alone
    double reporter_beside{};         ///< the reporter's beside the operator's copies, over that alone
    double reporter_beside_bubbles{}; ///< the reporter's beside as many bubbles, over that alone
};

/// Of one sending.
struct PressureResult {
    std::string run_id;
    PressureRatios ratios;
};

/// By which two sendings of a probe differ, of ln(time).
inline constexpr double kSendingNoise = 0.05;
/// The pressure on memory of what nobody measured: between none, of what stays in its caches, and a bubble.
inline constexpr double kUsualPressure = 0.5;
/// More than as many bubbles as it has cores nothing is taken to be.
inline constexpr double kMaxPressure = 2;

/// The pressure on memory that an operator makes: as how many bubbles, each on one core, each of its cores counts. 0:
/// it stays in its caches; 1: it takes what a vector triad takes.
struct Pressure {
    double per_core{kUsualPressure}; ///< 0…kMaxPressure
    double deviation{};
    std::int64_t run_count{}; ///< sendings that told it
};

/// By least squares through nothing: ln of what the reporter lost beside the operator, over that beside as many
/// bubbles. Held towards the usual pressure, as if one sending with much noise had told that; so where bubbles
/// themselves cost the reporter nothing, nothing is learned, and nothing is lost either.
/// @return empty without results.
std::optional<Pressure> fit_pressure(std::vector<PressureResult> results);

/// What a job does to its neighbours on a host by memory, and they to it.
struct MemoryUse {
    double pressure{kUsualPressure}; ///< of each of its cores, in bubbles
    double sensitivity{};            ///< of ln(its time), for each core that has a bubble, >= 0

    friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

/// Of the jobs that hold units: sums over units.
struct HeldMemory {
    double units{}; ///< whose jobs' use of memory is known
    double pressure{};
    double sensitivity{};

    void add(const MemoryUse& use, double unit_count)
    {
        units += unit_count;
        pressure += unit_count * use.pressure;
        sensitivity += unit_count * use.sensitivity;
    }
    /// Of one unit on average, of so many that are held: of those that nobody knows, the usual pressure, and nothing
    /// that it could cost them.
    MemoryUse mean(double held_units) const
    {
        if (!(units > 0) || !(held_units > 0)) return {};
        const double known = units < held_units ? units / held_units : 1;
        return {known * pressure / units + (1 - known) * kUsualPressure, known * sensitivity / units};
    }

    friend bool operator==(const HeldMemory&, const HeldMemory&) = default;
};

} // namespace fathom
