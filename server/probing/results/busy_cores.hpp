#pragma once

#include "core/base/id.hpp"

#include <optional>

namespace pqxx {
class transaction_base;
}

namespace fathom::server {

/// How many cores of its host other jobs held while a probe ran, on average over that time: those of all centers that
/// share the host, by the cores of the units that they had. What the host's other users do is not in it.
/// @param job  the probe's; it may have ended or be about to.
/// @return empty: it never started, its host is not known, or its center's units are on many.
/// Blocks; pqxx's exceptions pass through.
std::optional<double> select_busy_cores(pqxx::transaction_base& transaction, const JobId& job);

} // namespace fathom::server
