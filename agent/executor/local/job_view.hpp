#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fathom::agent {

/// Where a job that runs as another user finds its folders, whatever folder the agent keeps them in.
inline constexpr const char* kViewWork = "/run/fathom-job/work";
inline constexpr const char* kViewPrograms = "/run/fathom-job/bin";
inline constexpr const char* kViewGpuMemory = "/run/fathom-job/gpu-memory";

/// What a job sees of the host's files: all but other jobs' temporary files, the agent's state (which its own
/// rights would let it read) and its user's home folder.
struct JobView {
    std::filesystem::path work;         ///< its working folder
    std::filesystem::path programs;     ///< folder of fathom-probe
    std::filesystem::path temporary{};  ///< folders `tmp` and `var-tmp` in it become /tmp and /var/tmp
    std::filesystem::path gpu_memory{}; ///< folder of the memory manager's socket; empty: none
    std::filesystem::path hidden{};     ///< folder of which only `work` and `gpu_memory` are seen, at their own paths.
                                        ///< Empty: they and `programs` are shown at kViewWork and so on
    std::filesystem::path home{};       ///< of its user, hidden too; may be empty
    std::vector<std::filesystem::path> shared{}; ///< seen as ever, also below /tmp, /var/tmp or /dev/shm
    std::vector<std::string> hidden_files{};     ///< that it must not open, whatever its rights: others' device files
    std::int64_t memory_bytes{};                 ///< of /dev/shm at most; 0: as the kernel has it
    bool own_shared_memory = true;               ///< else /dev/shm and the message queues are the host's
    bool own_processes{};                        ///< /proc of this process's PID namespace
};

/// Puts this process into mount and IPC namespaces with that view.
/// @return  empty, or the step that failed and why: then nothing is to be done with this process but to end it.
std::string enter_view(const JobView& view);

} // namespace fathom::agent
