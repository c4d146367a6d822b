#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace fathom::profile {

/// What a thread was doing when it was looked at.
enum class ThreadState { kRunning, kIo, kWaiting };

/// A thread as /proc tells.
struct ThreadView {
    pid_t process{};
    pid_t thread{};
    ThreadState state{ThreadState::kWaiting};
};

/// The processes of a program, found again and again from its first one down, and what their threads do.
/// Not thread-safe.
class ProcessTree {
  public:
    explicit ProcessTree(pid_t root) : root_(root) {}

    /// Looks at every thread. `known` are processes that may have left the tree (their parent has ended).
    std::vector<ThreadView> look(const std::vector<pid_t>& known);

    /// Every process seen so far, by id, with its program's name.
    const std::map<pid_t, std::string>& seen() const { return seen_; }
    /// Those alive at the last look.
    const std::vector<pid_t>& alive() const { return alive_; }
    /// Processor time of the processes alive at the last look, and of their ended children, in seconds.
    double cpu_s() const { return cpu_s_; }

  private:
    struct Times {
        std::uint64_t system_ticks{};
        std::uint64_t io_bytes{};
    };
    void find_processes(const std::vector<pid_t>& known);
    ThreadView look_at(pid_t process, pid_t thread, bool moves_bytes);
    bool moves_bytes(pid_t process);

    pid_t root_;
    int looks_ = 0;
    double cpu_s_ = 0;
    std::vector<pid_t> alive_;
    std::map<pid_t, std::string> seen_;
    std::map<pid_t, std::uint64_t> io_bytes_;
    std::map<pid_t, std::uint64_t> system_ticks_; ///< by thread
};

} // namespace fathom::profile
