#pragma once

#include <cstdint>
#include <string>

namespace fathom::agent {

/// What a batch system is asked for when it is to find hosts for units of a type.
struct BatchPlace {
    std::string partition;
    std::string constraint;               ///< features that nodes must have, as sbatch takes them; empty: any node
    std::int64_t cpus_per_unit{1};        ///< processors as the batch system counts them: hardware threads, often
    std::int64_t units_per_node{1};       ///< an attempt of more units spans nodes
    std::int64_t units_per_switch{};      ///< most whose nodes share a leaf switch; 0: nobody knows
    std::int64_t memory_bytes_per_unit{}; ///< 0: the batch system's default
    std::int64_t devices_per_unit{};      ///< 0: none
    std::string devices{};                ///< what they are called there, such as gpu:a100

    bool operator==(const BatchPlace&) const = default;
};

} // namespace fathom::agent
