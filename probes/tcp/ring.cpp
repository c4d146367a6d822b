#include "probes/tcp/ring.hpp"

#include "probes/tcp/connection.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace fathom::probes {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are sent as they lie in memory");

/// @return the bytes that could be moved at once, 0 when none can yet
Result<std::size_t> moved(ssize_t count, const char* failed)
{
    if (count > 0) return static_cast<std::size_t>(count);
    if (count == 0) return Error{Errc::kUnavailable, "a neighbour in the ring has ended"};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return std::size_t{0};
    return tcp_error(failed);
}

} // namespace

Ring::Ring(std::size_t rank, std::size_t size, OpenFile next, OpenFile previous, std::chrono::milliseconds idle_limit)
    : rank_(rank), size_(size), next_(std::move(next)), previous_(std::move(previous)), idle_limit_(idle_limit)
{
}

Result<void> Ring::meet()
{
    // A byte goes around twice: once to learn that all are there, once to say so.
    std::array<std::byte, 1> token{};
    for (int round = 0; round < 2; ++round) {
        if (rank_ != 0) {
            if (const Result<void> come = exchange({}, token); !come) return come.error();
        }
        if (const Result<void> gone = exchange(token, {}); !gone) return gone.error();
        if (rank_ == 0) {
            if (const Result<void> come = exchange({}, token); !come) return come.error();
        }
    }
    return {};
}

Result<void> Ring::allreduce(std::span<const double> own, std::span<double> sum)
{
    std::copy(own.begin(), own.end(), sum.begin());
    received_.resize(sum.size() / size_ + 1);
    // Indices are those of parts, counted so that none is negative.
    const std::size_t here = rank_ + 2 * size_;
    for (std::size_t step = 0; step + 1 < size_; ++step) {
        const std::span<double> part = part_of(sum, here - step - 1);
        const std::span<double> come = std::span(received_).first(part.size());
        const Result<void> done = exchange(std::as_bytes(part_of(sum, here - step)), std::as_writable_bytes(come));
        if (!done) return done.error();
        for (std::size_t i = 0; i < part.size(); ++i)
            part[i] += come[i];
    }
    // Each has the sum of one part now, the one after its own.
    for (std::size_t step = 0; step + 1 < size_; ++step) {
        const Result<void> done =
            exchange(std::as_bytes(part_of(sum, here + 1 - step)), std::as_writable_bytes(part_of(sum, here - step)));
        if (!done) return done.error();
    }
    return {};
}

std::span<double> Ring::part_of(std::span<double> vector, std::size_t index) const
{
    const std::size_t part = index % size_;
    const std::size_t begin = part * vector.size() / size_;
    return vector.subspan(begin, (part + 1) * vector.size() / size_ - begin);
}

Result<void> Ring::exchange(std::span<const std::byte> out, std::span<std::byte> in)
{
    while (!out.empty() || !in.empty()) {
        std::size_t bytes = 0;
        if (!out.empty()) {
            const Result<std::size_t> sent =
                moved(::send(next_.number(), out.data(), out.size(), MSG_NOSIGNAL), "cannot send to the next process");
            if (!sent) return sent.error();
            out = out.subspan(*sent);
            bytes += *sent;
        }
        if (!in.empty()) {
            const Result<std::size_t> come =
                moved(::recv(previous_.number(), in.data(), in.size(), 0), "cannot receive from the process before");
            if (!come) return come.error();
            in = in.subspan(*come);
            bytes += *come;
        }
        if (bytes > 0) continue;
        std::array<pollfd, 2> waiting{
            {{in.empty() ? -1 : previous_.number(), POLLIN, 0}, {out.empty() ? -1 : next_.number(), POLLOUT, 0}}};
        const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(idle_limit_.count()));
        if (ready < 0 && errno != EINTR) return tcp_error("cannot wait for a neighbour");
        if (ready == 0) return Error{Errc::kUnavailable, "a neighbour in the ring does not answer"};
    }
    return {};
}

} // namespace fathom::probes
