#pragma once

#include "core/base/result.hpp"
#include "core/net/http.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace fathom::server {

/// How fast a reader takes what is written to it: bytes by the time that writing them took, over windows of such time.
/// Time in which there is nothing to write does not count. Not thread-safe.
class ReaderPace {
  public:
    /// Of time spent writing. What the kernel and the network buffer is taken at once, whoever reads.
    static constexpr std::chrono::seconds kWindow{30};

    /// @param took  from the begin of a write to its end.
    void note(std::size_t bytes, std::chrono::steady_clock::duration took);
    /// In the last whole window, in bytes a second; empty before the first has passed.
    std::optional<double> last() const { return last_; }

  private:
    std::size_t bytes_ = 0;
    std::chrono::steady_clock::duration took_{};
    std::optional<double> last_;
};

/// A pace for people: "64 KiB a second".
std::string kib_per_s(double bytes_per_s);

/// Notes what a reader has taken, and how long that took; an error ends its answer.
using NoteTaken = std::function<Result<void>(std::size_t bytes, std::chrono::steady_clock::duration took)>;

/// The stream of an answer, written in pieces that are noted; cut off when `note` says so. Cut off, not ended: the
/// client must not take what it has for all there was.
/// @param now  the time, for tests.
std::function<net::asio::awaitable<void>(std::shared_ptr<net::BodyWriter>)>
pace_stream(std::function<net::asio::awaitable<void>(std::shared_ptr<net::BodyWriter>)> stream, NoteTaken note,
            std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now);

} // namespace fathom::server
