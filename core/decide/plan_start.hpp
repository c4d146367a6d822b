#pragma once

#include "core/decide/network_window.hpp"
#include "core/decide/predict_units.hpp"
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

/// The start as soon as the units are free.
/// @param network  of the candidate; nullptr: never measured.
/// @param wait_s   until its units are free.
/// @param run      without transfers.
StartPlan plan_at_once(const TransferRequest& request, const NetworkProfile* network, double wait_s,
                       const RunTime& run);

/// The start in a network window, for a job that may wait for one and has a deadline; else the same as plan_at_once():
/// without a deadline only the end counts, and a transfer that begins earlier never ends later.
/// Of the starts from which the job ends before its deadline even when all takes as long as its interval allows, the
/// one whose transfers take least; within 1 % the earliest.
StartPlan plan_start(const TransferRequest& request, const NetworkProfile* network, double wait_s, const RunTime& run);

} // namespace fathom
