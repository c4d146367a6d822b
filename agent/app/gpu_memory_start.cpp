#include "agent/app/gpu_memory_start.hpp"

#include "agent/catalog/nvidia.hpp"
#include "agent/executor/local/job_users.hpp"
#include "core/base/error_text.hpp"
#include "core/base/log.hpp"

#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr const char* kFolderName = "gpu-memory";

/// NVIDIA's tools write the UUID of a GPU and of a part with either prefix; CUDA tells the bytes alone.
std::string gpu_id(const std::string& id)
{
    return id.starts_with("MIG-") ? "GPU-" + id.substr(4) : id;
}

/// Whom jobs run as; empty when that is not known beforehand.
std::optional<UserIds> users_of_jobs(const AgentConfig& config)
{
    if (::getuid() != 0) return UserIds{::getuid(), ::getuid()};
    const Result<JobUsers> users = find_job_users(config.run_as, config.run_as_uids);
    if (!users) return std::nullopt;
    if (users->ids) return users->ids;
    return users->one ? UserIds{users->one->uid, users->one->uid} : UserIds{0, 0};
}

/// What the center says of all jobs, by the variables that it gives them.
gpu::TurnRight right_of_jobs(const AgentConfig& config)
{
    const auto number = [&](const char* name, std::int64_t otherwise) -> std::int64_t {
        const auto said = config.tables.environment.find(name);
        if (said == config.tables.environment.end()) return otherwise;
        char* end = nullptr;
        const std::int64_t value = std::strtoll(said->second.c_str(), &end, 10);
        return said->second.empty() || *end != '\0' ? otherwise : value;
    };
    return {.share = static_cast<double>(number("FATHOM_GPU_SHARE", 1000)) / 1000,
            .priority = number("FATHOM_GPU_PRIORITY", 0)};
}

} // namespace

Result<gpu::MemoryServiceSettings> memory_service_settings(const GpuMemoryConfig& config,
                                                           std::vector<std::string>& missing)
{
    const Result<std::vector<HostDevice>> found = find_nvidia_gpus(kNvmlLibrary, missing);
    if (!found) return found.error();
    gpu::MemoryServiceSettings settings;
    for (const HostDevice& device : *found)
        settings.coordinator.gpus[gpu_id(device.id)] = device.memory_bytes;
    if (settings.coordinator.gpus.empty())
        return Error{Errc::kUnavailable, "this node has no GPU that NVIDIA's driver tells of"};
    settings.coordinator.gap_bytes = config.gap_bytes;
    settings.coordinator.reserved_bytes = config.reserved_bytes;
    settings.coordinator.turns = config.turns;
    return settings;
}

Result<GpuMemoryPlace> prepare_gpu_memory(const AgentConfig& config)
{
    GpuMemoryPlace place;
    if (!config.tables.gpu_memory.enabled) return place;
    if (config.uses_kubernetes) {
        log_warning("gpu_memory_has_no_jobs", {{"reason", "jobs run in pods, which [gpu_memory] does not reach"}});
        return place;
    }
    if (config.uses_slurm) {
        log_warning("gpu_memory_has_no_jobs",
                    {{"reason", "jobs run on Slurm's nodes: start fathom-agent gpu-memory serve on each of them"}});
        return place;
    }
    // Without links: jobs must find the same place where much else is hidden from them.
    place.folder = std::filesystem::weakly_canonical(config.state_dir) / kFolderName;
    // Walked through by jobs of other users; what is in it is made by us.
    if ((::mkdir(place.folder.c_str(), 0755) != 0 && errno != EEXIST) || ::chmod(place.folder.c_str(), 0755) != 0)
        return Error{Errc::kUnavailable, "cannot make " + place.folder.string() + ": " + error_text(errno)};
    Result<OpenFile> listener = gpu::listen_for_programs(place.folder / gpu::kSocketName);
    if (!listener)
        return Error{listener.error().code,
                     "[gpu_memory]: " + listener.error().detail + "; choose another state_dir, or leave out the table"};
    place.listener = std::move(*listener);
    place.users = users_of_jobs(config);
    place.right = right_of_jobs(config);
    return place;
}

Result<std::unique_ptr<gpu::MemoryService>> start_gpu_memory(const GpuMemoryConfig& config, GpuMemoryPlace place)
{
    std::vector<std::string> missing;
    Result<gpu::MemoryServiceSettings> settings = memory_service_settings(config, missing);
    for (const std::string& sentence : missing)
        log_warning("gpu_not_shared", {{"reason", sentence}});
    if (!settings) return settings.error();
    if (place.users)
        settings->may_connect = [users = *place.users](uid_t user) {
            return users.first <= user && user <= users.last;
        };
    settings->coordinator.right = place.right;
    if (place.names)
        settings->coordinator.is_of_job = [names = *place.names](const std::string& job, std::int64_t proof) {
            return names.is_of_job(job, proof);
        };
    const std::size_t gpus = settings->coordinator.gpus.size();
    Result<std::unique_ptr<gpu::MemoryService>> service =
        gpu::MemoryService::start(std::move(*settings), std::move(place.listener));
    if (service) log_info("gpu_memory_ready", {{"folder", place.folder.string()}, {"gpus", gpus}});
    return service;
}

} // namespace fathom::agent
