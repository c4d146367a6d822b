#pragma once

// Internal to server/centers.

#include <atomic>
#include <cstddef>
#include <memory>

namespace fathom::server {

/// Memory for what agents have sent of jobs' output and the database has no time for, of all sessions together. What
/// finds no room waits at its agent. Thread-safe.
class OutputRoom {
  public:
    explicit OutputRoom(std::size_t bytes) : state_(std::make_shared<State>(bytes)) {}

    /// Room until the last copy is gone; null: there is not so much.
    std::shared_ptr<const void> take(std::size_t bytes);

  private:
    struct State {
        explicit State(std::size_t all) : bytes(all) {}
        const std::size_t bytes;
        std::atomic<std::size_t> used{0};
    };

    std::shared_ptr<State> state_; ///< what was taken may outlive this
};

} // namespace fathom::server
