#pragma once

#include "agent/config/agent_config.hpp"
#include "agent/gpu/memory/job_names.hpp"
#include "agent/gpu/memory/memory_service.hpp"
#include "core/base/open_file.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace fathom::agent {

/// For the memory manager of the GPUs of this host that NVIDIA's driver tells of. Programs know a GPU, or the part of
/// one that they were given, by its UUID. `missing` gets a sentence for each that does not answer.
/// @error kUnavailable  there are none.
Result<gpu::MemoryServiceSettings> memory_service_settings(const GpuMemoryConfig& config,
                                                           std::vector<std::string>& missing);

/// STATE/gpu-memory: where jobs find the memory manager of this host's GPUs, which the agent's process runs.
struct GpuMemoryPlace {
    std::filesystem::path folder;       ///< empty: this center's jobs do not share GPU memory
    OpenFile listener;                  ///< its socket
    std::optional<UserIds> users;       ///< of jobs, who alone may connect; empty: all
    gpu::TurnRight right;               ///< of all jobs: a job's own word does not put it before others
    std::optional<gpu::JobNames> names; ///< by which programs are known to be a job's
};

/// Makes the folder and the socket, anew, with the rights of whoever starts the agent: nobody else can put another in
/// its place.
/// @error kInvalid      the folder's path is too long for a socket.
/// @error kUnavailable  it cannot be made.
Result<GpuMemoryPlace> prepare_gpu_memory(const AgentConfig& config);

/// Starts the memory manager. Jobs that were there before say so.
/// @error kUnavailable  this host has no GPU.
Result<std::unique_ptr<gpu::MemoryService>> start_gpu_memory(const GpuMemoryConfig& config, GpuMemoryPlace place);

} // namespace fathom::agent
