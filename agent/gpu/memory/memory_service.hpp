#pragma once

#include "agent/gpu/memory/coordinator.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <sys/types.h>

namespace fathom::gpu {

struct MemoryServiceSettings {
    std::filesystem::path socket;     ///< made anew; programs of all users may connect
    std::filesystem::path state_file; ///< Coordinator::state(), written five times a second at most; empty: not written
    CoordinatorSettings coordinator;
    std::size_t most_connections = kMostClients;
    std::size_t most_connections_of_user = 256;
    /// Whether a user may take part; all when empty.
    std::function<bool(uid_t)> may_connect;
};

/// The memory manager of a node (G9): hears the programs that share its GPUs, on a thread of its own. Who connects is
/// known by the kernel's word (SO_PEERCRED), not by its own. A program that ends, in any way, has given everything
/// back; one that does not read is disconnected.
class MemoryService {
  public:
    /// @error kInvalid      settings of a GPU.
    /// @error kUnavailable  the socket cannot be made.
    static Result<std::unique_ptr<MemoryService>> start(MemoryServiceSettings settings);

    MemoryService(const MemoryService&) = delete;
    MemoryService& operator=(const MemoryService&) = delete;
    /// Ends the thread; programs go on with what they have.
    ~MemoryService();

    /// As of now.
    Json state() const;

  private:
    class Loop;
    explicit MemoryService(std::unique_ptr<Loop> loop);

    std::unique_ptr<Loop> loop_;
};

} // namespace fathom::gpu
