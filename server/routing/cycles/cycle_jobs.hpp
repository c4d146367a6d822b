#pragma once

#include "core/base/json_reader.hpp"
#include "server/routing/cycles/cycle_store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// One of the jobs that a cycle decided on, and what became of it there.
struct CycleJob {
    std::int64_t number{}; ///< in the list, from 1
    std::string job_id;
    std::string project;
    bool is_probe{};
    std::int64_t priority{};
    double waited_s{};
    std::optional<std::int64_t> position; ///< among those that start, from 1; empty: it waits
    // Where it starts, or for which place it waits.
    std::string unit_type_id; ///< empty: there is none
    std::string center;       ///< its name now; empty until it is looked up
    std::string unit_type;
    std::int64_t unit_count{};
    double start_s{};      ///< when it starts there, from the moment of the cycle
    double run_s{};        ///< 0: not known
    double completion_s{}; ///< when it ends, from the moment of the cycle
    // Of one that waits.
    std::string waits_for;  ///< "units", "host" or "other"; empty: it starts
    double priority_rank{}; ///< smaller goes first
};

/// Those that start, as they do, then those that wait, in order of priority rank. Only computes; names are left out.
/// @error kConflict  another version of fathomd wrote the cycle in a form that this one does not read.
Result<std::vector<CycleJob>> read_cycle_jobs(const StoredCycle& cycle);

Json to_json(const CycleJob& job);

} // namespace fathom::server
