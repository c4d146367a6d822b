#include "probes/tcp/member.hpp"

#include "probes/operators/checksum.hpp"
#include "probes/operators/own_processor.hpp"
#include "probes/operators/reduction/truth.hpp"
#include "probes/tcp/handshake.hpp"
#include "probes/tcp/ring.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <unistd.h>

namespace fathom::probes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTeamLimit{60};   ///< for the team to be there, from this process's start
constexpr std::chrono::seconds kConnectLimit{5}; ///< for one address of several

/// Two containers of one host share it, and so they share the host's processors.
std::string host_identity()
{
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string identity;
    if (std::getline(file, identity) && !identity.empty()) return identity;
    ShortText name{};
    ::gethostname(name.data(), name.size() - 1);
    return to_text(name);
}

Result<OpenFile> reach(const TcpAddress& address, std::string_view secret, std::uint32_t rank, Deadline deadline)
{
    Result<OpenFile> socket = connect_to(address, std::min(deadline, Clock::now() + kConnectLimit));
    if (!socket) return socket.error();
    if (const Result<void> known = introduce(socket->number(), secret, rank, deadline); !known) return known.error();
    return std::move(*socket);
}

Result<OpenFile> reach_coordinator(const Meeting& meeting, Deadline deadline)
{
    Error last{Errc::kUnavailable, "there is no address of the coordinator"};
    for (const TcpAddress& address : meeting.addresses) {
        Result<OpenFile> socket = reach(address, meeting.secret, kNoRank, deadline);
        if (socket) return std::move(*socket);
        last = socket.error();
    }
    return last;
}

/// Rank 0 begins, each other one answers before it goes on: nobody waits for one that waits for it.
Result<Ring> join_ring(const Place& place, TcpListener listener, std::string_view secret, Deadline deadline)
{
    std::vector<TcpListener> listeners;
    listeners.push_back(std::move(listener));
    const TcpAddress next{to_text(place.next_address), static_cast<std::uint16_t>(place.next_port)};
    Result<OpenFile> after = Error{Errc::kUnavailable, ""};
    if (place.rank == 0) after = reach(next, secret, place.rank, deadline);
    if (place.rank == 0 && !after) return after.error();
    Result<OpenFile> before = accept_member(listeners, secret, (place.rank + place.size - 1) % place.size, deadline);
    if (!before) return before.error();
    if (place.rank != 0) after = reach(next, secret, place.rank, deadline);
    if (!after) return after.error();
    return Ring(place.rank, place.size, std::move(*after), std::move(*before));
}

/// The vectors and the truth of the operator reduction.
class Vectors {
  public:
    Vectors(const TeamVector& vector, const Place& place)
        : seed_(vector.seed), own_(vector.elements), sum_(vector.elements)
    {
        for (std::size_t i = 0; i < own_.size(); ++i)
            own_[i] = reduction_input(seed_, place.rank, place.size, i);
    }

    Result<Answer> execute(Ring& ring, const ExchangeCommand& command)
    {
        return command.task == ExchangeTask::kRun ? run(ring, command.count) : check();
    }

  private:
    Result<Answer> run(Ring& ring, std::int64_t count)
    {
        std::fill(sum_.begin(), sum_.end(), std::numeric_limits<double>::quiet_NaN());
        if (const Result<void> met = ring.meet(); !met) return met.error();
        const Clock::time_point start = Clock::now();
        for (std::int64_t i = 0; i < count; ++i) {
            if (const Result<void> done = ring.allreduce(own_, sum_); !done) return done.error();
        }
        return Answer{.seconds = std::chrono::duration<double>(Clock::now() - start).count()};
    }

    Result<Answer> check()
    {
        Answer answer{.error = reduction_error(sum_, sum_.size(), seed_)};
        const std::string digest = reduction_checksum(sum_, sum_.size());
        std::copy_n(digest.begin(), std::min(digest.size(), answer.checksum.size()), answer.checksum.begin());
        return answer;
    }

    std::uint64_t seed_;
    std::vector<double> own_;
    std::vector<double> sum_;
};

/// Says where the one before it finds this process, and learns its own place.
Result<Place> find_place(int coordinator, const TcpListener& listener, const cpu_set_t& processors, Deadline deadline)
{
    const Hello hello{.processors = processors,
                      .host = to_short(host_identity()),
                      .address = to_short(listener.address.host),
                      .port = listener.address.port};
    if (const Result<void> sent = send_message(coordinator, hello, deadline); !sent) return sent.error();
    const Result<Place> place = receive_message<Place>(coordinator, deadline);
    if (place && (place->size < 2 || place->rank >= place->size))
        return Error{Errc::kUnavailable, "the coordinator gives a place that cannot be"};
    return place;
}

Result<void> serve(int coordinator, Ring& ring, Vectors& vectors)
{
    while (true) {
        const Result<ExchangeCommand> command = receive_message<ExchangeCommand>(coordinator, Deadline::max());
        if (!command || command->task == ExchangeTask::kEnd) return {};
        const Result<Answer> answer = vectors.execute(ring, *command);
        if (!answer) return answer.error();
        if (!send_message(coordinator, *answer, Clock::now() + kTeamLimit)) return {};
    }
}

} // namespace

ShortText to_short(std::string_view text)
{
    ShortText result{};
    std::copy_n(text.begin(), std::min(text.size(), result.size() - 1), result.begin());
    return result;
}

std::string to_text(const ShortText& text)
{
    return {text.begin(), std::find(text.begin(), text.end() - 1, '\0')};
}

Result<void> serve_as_member(const Meeting& meeting, const TeamVector& vector)
{
    const Deadline deadline = Clock::now() + kTeamLimit;
    const Result<OpenFile> coordinator = reach_coordinator(meeting, deadline);
    if (!coordinator) return coordinator.error();
    const Result<TcpAddress> here = own_end(coordinator->number());
    if (!here) return here.error();
    // Where the coordinator has reached it the others can.
    Result<TcpListener> listener = listen_at(here->host);
    if (!listener) return listener.error();
    const cpu_set_t processors = allowed_processors();
    const Result<Place> place = find_place(coordinator->number(), *listener, processors, deadline);
    if (!place) return place.error();
    bind_to_own_processor(static_cast<int>(place->host_rank), static_cast<int>(place->host_size), processors);
    Result<Ring> ring = join_ring(*place, std::move(*listener), meeting.secret, deadline);
    if (!ring) return ring.error();
    Vectors vectors(vector, *place);
    if (const Result<void> ready = send_message(coordinator->number(), Answer{}, deadline); !ready)
        return ready.error();
    return serve(coordinator->number(), *ring, vectors);
}

} // namespace fathom::probes
