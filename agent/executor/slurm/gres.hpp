#pragma once

#include "agent/executor/slurm/slurm_text.hpp"

namespace fathom::agent {

/// Devices of one kind of a node, of what Slurm calls generic resources.
struct SlurmDevices {
    std::string name; ///< such as gpu
    std::string type; ///< such as a100; empty: Slurm tells none
    std::int64_t count{};

    bool operator==(const SlurmDevices&) const = default;
};

/// Reads SlurmNode::gres, such as `gpu:a100:4(S:0-1),nvme:1`. What cannot be counted is left out. Pure.
std::vector<SlurmDevices> parse_gres(std::string_view text);

/// A node's GPUs: those of the first type that contains `model`, or, where that is empty, all of them without a type.
/// Pure. Empty: it has none.
std::optional<SlurmDevices> gpus_of(const SlurmNode& node, const std::string& model);

/// The nodes with so many GPUs, at least, all of the first one's type, by which they are asked for. Pure.
std::vector<const SlurmNode*> with_gpus(const std::vector<const SlurmNode*>& nodes, const std::string& model,
                                        std::int64_t least_count);

} // namespace fathom::agent
