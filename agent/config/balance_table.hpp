#pragma once

#include "core/decide/balance/regulator.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::agent {

/// A unit whose transfer and compute are balanced: a `[[balance.unit]]` table. Either a GPU or some processors.
struct BalancedUnit {
    std::string name;
    std::string device;             ///< of NVIDIA's, by its UUID; empty: processors
    std::vector<std::int64_t> cpus; ///< ascending
    std::string cgroup; ///< of processors: the control group (version 2) whose counters are read, as a path below
                        ///< its root; empty: all that runs on the processors
    double link_bytes_per_s{}; ///< 0: what the driver says of a GPU's bus
    std::int64_t clock_mhz{};  ///< that a GPU is locked to without the loop; 0: it is not locked
};

/// The table `[balance]`.
struct BalanceConfig {
    bool enabled = false;
    bool dry_run = true; ///< only says what it would do
    double period_s = 1;
    std::int64_t trace_bytes = 4LL << 20U; ///< kept of the trace, and as much again of what came before
    RegulatorSettings regulator;
    std::vector<BalancedUnit> units;
};

/// Errors go to the reader's list.
BalanceConfig read_balance(ObjectReader& reader, std::vector<FieldError>& errors);

} // namespace fathom::agent
