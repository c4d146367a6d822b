#pragma once

#include "core/schedule/schedule.hpp"

#include <string>
#include <vector>

namespace fathom {

/// Why a job waits, in one phrase for people. Durations are rounded, so that it changes seldom.
/// @param currency  of the prices; may be empty.
std::string waiting_reason_of(const Decision& decision, Timestamp now, std::string_view currency = {});

/// The same of a job of a cycle: also of one that waits for its host, or leaves a free place.
std::string waiting_reason_of(const ScheduledWait& wait, Timestamp now, std::string_view currency = {});

/// One of the reasons that a job waits.
struct WaitingCause {
    /// "metering", "host", "quota", "window", "price", "maintenance", "units", "priority_rank", "elsewhere", "closed",
    /// "impossible"
    std::string kind;
    std::string text; ///< for people
};

/// What a job that waits knows of itself beside the decision.
struct WaitingJobState {
    bool is_metering{false};
    bool waits_for_host{false}; ///< a probe; another one is at the host of its best place
    std::int64_t jobs_ahead{};
    std::string_view stored_reason; ///< what the router noted last
};

/// All reasons that a job waits, what holds it back most first: what its best place waits for, why it does not take
/// what is free now, and which places are closed. At most 10.
std::vector<WaitingCause> list_waiting_causes(const RouteRequest& request, const Decision& decision,
                                              const WaitingJobState& job, std::string_view currency);

} // namespace fathom
