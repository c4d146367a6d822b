#pragma once

#include "core/model/probe_result.hpp"
#include "server/operators/operator_library.hpp"
#include "server/probing/tasks/probing_store.hpp"

#include <optional>

/// Rows of measurements. Takes the caller's transaction, blocks, and lets pqxx's exceptions through to Database::run.
namespace fathom::server {

/// Ends the run as succeeded and adds a measurement for each operator, scaled from the size that ran to the one
/// that was asked for. Of copies side by side, which are no measurements of a unit, the times of each copy are kept
/// apart.
/// @param seen_s  RunEvidence::seen_s
void store_result(pqxx::transaction_base& transaction, const EndingRun& run, const ProbeResult& result,
                  std::optional<double> seen_s, const OperatorLibrary& library);

} // namespace fathom::server
