#pragma once

#include <chrono>

namespace fathom::agent {

/// How long to wait between attempts to connect.
struct BackoffPolicy {
    std::chrono::milliseconds base{500};
    std::chrono::milliseconds cap{15000};
    std::chrono::milliseconds least{50};
};

/// For a metascheduler that refuses this agent: a person has to act, so there is no hurry.
inline constexpr BackoffPolicy kRefusedBackoff{std::chrono::minutes(1), std::chrono::minutes(10),
                                               std::chrono::seconds(30)};

/// For the metascheduler to get to this agent, when all agents of the network have come back to it at once.
inline constexpr std::chrono::seconds kQueueTime{60};

/// The next wait: exponential, capped, with full jitter, so that a thousand agents do not return at once
/// when the metascheduler does. Pure.
/// @param failures  in a row, from 1.
/// @param random    uniform in [0, 1].
std::chrono::milliseconds backoff_delay(const BackoffPolicy& policy, int failures, double random);

/// Drawn anew at each call, uniform in [0, 1): for backoff_delay().
double random_fraction();

} // namespace fathom::agent
