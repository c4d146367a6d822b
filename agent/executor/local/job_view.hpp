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
/// rights would let it read), its user's home folder, and the sockets in /run/user, by which a user's services start
/// programs that no limit of the job holds.
struct JobView {
    std::filesystem::path work;         ///< its working folder
    std::filesystem::path programs;     ///< folder of fathom-probe
    std::filesystem::path temporary{};  ///< folders `tmp` and `var-tmp` in it become /tmp and /var/tmp
    std::filesystem::path gpu_memory{}; ///< folder of the memory manager's socket; empty: none
    std::filesystem::path hidden{};     ///< the agent's folder, of a job with the agent's own user: only `work` and
                                        ///< `gpu_memory` are seen of it, at their own paths; control groups and
                                        ///< `programs` cannot be written. Empty: it has another user, and all of
                                        ///< these are shown at kViewWork and so on
    std::filesystem::path home{};       ///< of its user, hidden too; may be empty
    bool shows_home{};                  ///< what view_home() finds there is seen all the same, and cannot be written
    std::vector<std::filesystem::path> shared{}; ///< seen as ever, also below /tmp, /var/tmp, /dev/shm or `home`
    std::vector<std::string> hidden_files{};     ///< that it must not open, whatever its rights: others' device files
    std::int64_t memory_bytes{};                 ///< of /dev/shm at most; 0: as the kernel has it
    bool own_shared_memory = true;               ///< else /dev/shm and the message queues are the host's
    bool own_processes{};                        ///< /proc of this process's PID namespace
};

/// Puts this process into mount and IPC namespaces with that view.
/// @return  empty, or the step that failed and why: then nothing is to be done with this process but to end it.
std::string enter_view(const JobView& view);

} // namespace fathom::agent
