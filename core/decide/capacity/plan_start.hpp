#pragma once

#include "core/decide/capacity/availability.hpp"
#include "core/decide/capacity/network_window.hpp"
#include "core/decide/capacity/unit_price.hpp"
#include "core/decide/prediction/predict_units.hpp"
#include "core/model/job.hpp"

#include <optional>

/// When a job that moves data had best start (M20, M23).
namespace fathom {

/// What the job moves over its center's network, and how long it may wait for that network to be good.
struct TransferRequest {
    double in_bytes{};  ///< before it computes
    double out_bytes{}; ///< after
    NetworkChoice network = NetworkChoice::kAuto;
    std::optional<Timestamp> deadline;
    Timestamp now{};

    bool moves_data() const { return in_bytes > 0 || out_bytes > 0; }
};

/// Why a start is later than its units are free.
struct WindowWait {
    Timestamp start{};
    double rate_now_bytes{};  ///< bytes per second, where it could have started
    double rate_then_bytes{}; ///< at `start`
    double transfer_now_s{};  ///< of all data, had it not waited
    bool is_for_price{};      ///< it waits for a cheaper hour: then the two costs say why
    double cost_now{};        ///< of the whole run, where it could have started
    double cost_then{};       ///< at `start`
};

/// A start with what follows from it. Durations in seconds; those that end in `start_s` and `completion_s` count
/// from now.
struct StartPlan {
    double start_s{};
    double in_s{};
    double out_s{};
    RunTime occupied; ///< how long the units are held: both transfers and the run between them
    double completion_s{};
    bool is_network_unknown{}; ///< there is data to move and no figure of the network: the transfers are left out
    double rate_bytes{};       ///< at the start; 0 without data
    WindowBasis basis{WindowBasis::kUnknown};
    std::optional<WindowWait> window;
};

/// The moment so many seconds after another; below 0 as 0, beyond 1e9 as that, which is later than any plan.
Timestamp moment_after(Timestamp from, double duration_s);

/// The start as soon as the units are free.
/// @param network  of the candidate; nullptr: never measured.
/// @param wait_s   until its units are free.
/// @param run      without transfers.
StartPlan plan_at_once(const TransferRequest& request, const NetworkProfile* network, double wait_s,
                       const RunTime& run);

/// What a start is judged by beside its time.
struct StartTerms {
    const UnitPrice* price = nullptr; ///< of the candidate; nullptr: it is free
    std::int64_t unit_count = 1;
    Preference prefer;
    std::optional<double> budget;
    /// When the units are free; nullptr: from wait_s on for ever. A start after that must find them free as well.
    const Availability* availability = nullptr;
};

/// The most that a run may cost within the budget: costs are sums, and a budget is written by people, so what differs
/// by a rounding only is not beyond it. Infinite without a budget.
double budget_limit(std::optional<double> budget);

/// The start at a time that suits, for a job that may wait and has a deadline; else the same as plan_at_once(): without
/// a deadline only the end counts, and a transfer that begins earlier never ends later.
/// Of the starts from which the job ends before its deadline even when all takes as long as its interval allows, and
/// within its budget: for a job that wants nothing but an early end, the one whose transfers take least; for one that
/// weighs cost or energy, and where the hour makes a difference, the one of least objective(). Within 1 % the earliest.
StartPlan plan_start(const TransferRequest& request, const NetworkProfile* network, double wait_s, const RunTime& run,
                     const StartTerms& terms = {});

/// Whether plan_start() may find a start that is cheaper than the first.
bool may_wait_for_price(const TransferRequest& request, const StartTerms& terms);

} // namespace fathom
