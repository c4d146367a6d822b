#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// What a step of a unit's loop had measured and decided by (spec 3, R1 to R5).
struct BalanceFigures {
    double transfer{}; ///< P_p, the mean that the law saw
    double load{};     ///< P_d, likewise
    double sample_transfer{};
    double sample_load{};
    double error{};       ///< e = P_p − P_d
    double change{};      ///< ec
    std::string region{}; ///< of the gains, for people: "far", "middle" …
    double proportional{};
    double integral{};
    double derivative{};
    double output{}; ///< u

    friend bool operator==(const BalanceFigures&, const BalanceFigures&) = default;
};

/// One step of the loop that balances a unit, as its center's agent tells it (R10).
struct BalanceStep {
    Timestamp at{}; ///< by the center's clock
    std::string unit{};
    std::string attempt{}; ///< that runs on it; of several the first
    bool is_dry_run{};
    std::string outcome{};                   ///< "acted", "in_band", "no_sample" …; a newer agent may know others
    std::string law{};                       ///< "pid", "pi" …; empty: an agent that does not say
    std::optional<double> band{};            ///< nothing is done while |e| is within it; none: likewise
    std::optional<BalanceFigures> figures{}; ///< none: no sample, or none that could be trusted
    std::int64_t sub_units{};
    std::int64_t clock_mhz{};
    std::int64_t precision_steps{};
    std::optional<std::int64_t> wanted_sub_units{};
    std::string reason{};              ///< one sentence for people
    std::vector<std::string> faults{}; ///< actuators that are missing or refused

    friend bool operator==(const BalanceStep&, const BalanceStep&) = default;
};

/// Steps of all units of a center, those of each unit in their order.
struct BalanceSteps {
    std::vector<BalanceStep> steps{};
    std::int64_t dropped_count{}; ///< older ones that were not told since the last message: there were too many

    friend bool operator==(const BalanceSteps&, const BalanceSteps&) = default;
};

/// Bounds of what is read; texts that may be longer are cut by who writes them (fit_bounds).
inline constexpr std::size_t kMaxBalanceSteps = 1000;
inline constexpr std::size_t kMaxBalanceFaults = 8;
inline constexpr std::size_t kMaxBalanceUnitLength = 128;
inline constexpr std::size_t kMaxBalanceReasonLength = 1000;

/// Cuts reason and faults so that read_balance_steps() takes them, and takes NUL characters out.
void fit_bounds(BalanceStep& step);

/// `{"at", "unit", "attempt", "dry_run", "outcome", "law", "band", "transfer", "load", "sample_transfer",
/// "sample_load", "error", "change", "region", "gains": {"proportional", "integral", "derivative"}, "output",
/// "actions": {"sub_units", "clock_mhz", "precision_steps"}, "wanted_sub_units", "reason", "faults"}`; what was not
/// measured is null.
Json to_json(const BalanceStep& step);
/// `{"steps": […], "dropped_count"}`.
Json to_json(const BalanceSteps& steps);

/// Unknown fields are ignored: agents may be newer. Errors go to the reader's list.
BalanceStep read_balance_step(ObjectReader& reader, std::vector<FieldError>& errors);
BalanceSteps read_balance_steps(ObjectReader& reader, std::vector<FieldError>& errors);

} // namespace fathom
