#pragma once

#include "server/probing/results/run_comparison.hpp"
#include "server/probing/tasks/probing_store.hpp"

namespace fathom::server {

/// Runs that belong together, with what they measured, and what the newest results of the same places say together: one
/// report. Void measurements are left out.
struct RunReport {
    std::vector<ProbeRunRecord> runs; ///< by id; without their results
    std::vector<ComparedResult> results;
};

// Both take the caller's transaction, block, and let pqxx's exceptions through.

/// All runs of an order, repeats of lost ones included; at most 1000. Empty when there is no such order.
RunReport select_order_report(pqxx::transaction_base& transaction, const std::string& order_id);
/// The newest run of a task, not of copies of it, that succeeded on each unit type at each count; at most 1000.
RunReport select_task_report(pqxx::transaction_base& transaction, const std::string& probe_task_id);

} // namespace fathom::server
