#pragma once

#include "core/decide/routing/route.hpp"

#include <string>
#include <vector>

namespace fathom {

/// Why a job waits, in one phrase for people. Durations are rounded, so that it changes seldom.
/// @param currency  of the prices; may be empty.
std::string waiting_reason_of(const Decision& decision, Timestamp now, std::string_view currency = {});

/// Why it does not take the free place `left_free`, as the end of the reason that it waits for the winner.
std::string deferred_start_text(const Candidate& winner, const Candidate& left_free);

/// One of the reasons that a job waits.
struct WaitingCause {
    /// "metering", "quota", "window", "price", "maintenance", "units", "turn", "elsewhere", "closed", "impossible"
    std::string kind;
    std::string text; ///< for people
};

/// What a job that waits knows of itself beside the decision.
struct WaitingJobState {
    bool is_metering{false};
    std::int64_t jobs_ahead{};
    std::string_view stored_reason; ///< what the router noted last
};

/// All reasons that a job waits, what holds it back most first: what its best place waits for, why it does not take
/// what is free now, and which places are closed. At most 10.
std::vector<WaitingCause> list_waiting_causes(const RouteRequest& request, const Decision& decision,
                                              const WaitingJobState& job, std::string_view currency);

} // namespace fathom
