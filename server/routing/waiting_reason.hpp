#pragma once

#include "core/decide/route.hpp"

#include <string>

namespace fathom::server {

/// Why a job waits, in one phrase for people. Durations are rounded, so that it changes seldom.
std::string waiting_reason_of(const Decision& decision, Timestamp now);

} // namespace fathom::server
