#pragma once

#include "core/model/probe_result.hpp"

#include <string>

namespace fathom::probes {

/// A result for people: a line for each operator with its median, what the median is known to, how many samples were
/// taken and how many of them were disturbed, by what; then what disturbed the run as a whole.
std::string result_table(const ProbeResult& result);

} // namespace fathom::probes
