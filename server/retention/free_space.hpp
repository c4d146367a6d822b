#pragma once

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/net/task_group.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace fathom::server {

namespace asio = boost::asio;

/// Bytes that are free for us on the disk of `folder`; none when nobody can tell. Blocks, shortly.
std::optional<std::uint64_t> free_bytes_of(const std::filesystem::path& folder);

/// Whether the database's disk has room for new jobs. What centers report needs room too: new jobs are refused before
/// it is gone. Thread-safe; `metrics` must outlive it.
class FreeSpace {
  public:
    using Look = std::function<std::optional<std::uint64_t>()>;

    /// @param look        how many bytes are free; null: nobody can tell, and nothing is ever refused.
    /// @param least_bytes below it new jobs are refused; 0: never.
    FreeSpace(Look look, std::uint64_t least_bytes, Metrics& metrics);

    /// Looks, and again every few seconds on `executor`, whose thread waits for the answer.
    void start(net::TaskGroup& group, const asio::any_io_executor& executor);
    /// One look; called by the periodic task, and by tests.
    void look();

    bool is_low() const { return is_low_; }
    /// @error kUnavailable  too little is free.
    Result<void> check() const;

  private:
    asio::awaitable<void> follow();

    const Look look_;
    const std::uint64_t least_bytes_;
    Metrics* metrics_;
    std::atomic<bool> is_low_{false};
};

} // namespace fathom::server
