#pragma once

#include "agent/gpu/memory/coordinator.hpp"
#include "core/base/open_file.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <sys/types.h>

namespace fathom::gpu {

struct MemoryServiceSettings {
    std::filesystem::path socket;     ///< made anew, and removed at the end; empty where start() is given a listener
    std::filesystem::path state_file; ///< Coordinator::state(), written five times a second at most; empty: not written
    CoordinatorSettings coordinator;
    std::size_t most_connections = kMaxClients;
    std::size_t most_connections_of_user = 256;
    /// Whether a user may take part; all when empty.
    std::function<bool(uid_t)> may_connect;
};

/// A socket at which programs of all users find the memory manager. What stood at that path is removed.
/// @error kInvalid      the path is too long for a socket.
/// @error kUnavailable  it cannot be made.
Result<OpenFile> listen_for_programs(const std::filesystem::path& path);

/// The memory manager of a node (G9): hears the programs that share its GPUs, on a thread of its own. Who connects is
/// known by the kernel's word (SO_PEERCRED), not by its own. A program that ends, in any way, has given everything
/// back; one that does not read is disconnected.
class MemoryService {
  public:
    /// @error kInvalid      settings of a GPU; the socket's path is too long.
    /// @error kUnavailable  the socket cannot be made.
    static Result<std::unique_ptr<MemoryService>> start(MemoryServiceSettings settings);
    /// The same with a socket of listen_for_programs().
    static Result<std::unique_ptr<MemoryService>> start(MemoryServiceSettings settings, OpenFile listener);

    MemoryService(const MemoryService&) = delete;
    MemoryService& operator=(const MemoryService&) = delete;
    /// Ends the thread; programs go on with what they have.
    ~MemoryService();

    /// As of now.
    GpuMemoryReport report() const;
    /// As Coordinator's.
    void know_pairs(std::span<const GpuPair> pairs);

  private:
    class Loop;
    explicit MemoryService(std::unique_ptr<Loop> loop);

    std::unique_ptr<Loop> loop_;
};

} // namespace fathom::gpu
