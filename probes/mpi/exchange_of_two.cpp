#include "probes/mpi/exchange.hpp"
#include "probes/mpi/payload.hpp"
#include "probes/operators/checksum.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <mpi.h>
#include <vector>

namespace fathom::probes {
namespace {

/// There and back: the sides are 0, which is rank 0, and 1, which is its peer.
constexpr MessageWay kThere{0, 1};
constexpr MessageWay kBack{1, 0};

/// Messages that are under way at the same time: so many, and so many bytes of them, at most.
constexpr std::size_t kMaxUnderWay = 64;
constexpr std::size_t kMaxBytesUnderWay = 16UL << 20U;

constexpr int kMessageTag = 1;
constexpr int kReceiptTag = 2;
constexpr int kDigestTag = 3;
constexpr int kDigestLength = 16;

using Clock = std::chrono::steady_clock;

double seconds_from(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double share_of_wrong(std::size_t wrong, std::size_t all)
{
    return all == 0 ? 0 : static_cast<double>(wrong) / static_cast<double>(all);
}

/// How many of the turns 0 … turns − 1, which peers take one after the other, are those of a peer.
std::int64_t turns_of(std::int64_t turns, std::int64_t peer, std::int64_t peers)
{
    return peer >= turns ? 0 : (turns - peer - 1) / peers + 1;
}

class ExchangeOfTwo : public Exchange {
  public:
    ExchangeOfTwo(const MpiWorld& world, std::size_t bytes, std::uint64_t seed)
        : world_(world), bytes_(bytes), seed_(seed)
    {
    }

  protected:
    bool is_first() const { return world_.rank == 0; }
    bool is_peer() const { return world_.peer_index() >= 0; }
    int count() const { return static_cast<int>(bytes_); }
    std::int64_t peers() const { return static_cast<std::int64_t>(world_.peers.size()); }
    /// Whose turn it is.
    int peer_of(std::int64_t turn) const { return world_.peers[static_cast<std::size_t>(turn % peers())]; }
    /// In a peer: how many of these turns are its own.
    std::int64_t own_turns(std::int64_t turns) const { return turns_of(turns, world_.peer_index(), peers()); }

    const MpiWorld world_;
    const std::size_t bytes_;
    const std::uint64_t seed_;
};

/// A message to a peer and one back, and so on: an execution is one of the two.
class Latency final : public ExchangeOfTwo {
  public:
    Latency(const MpiWorld& world, std::size_t bytes, std::uint64_t seed)
        : ExchangeOfTwo(world, bytes, seed), sent_(bytes), received_(bytes)
    {
        fill_message(sent_, seed_, is_first() ? kThere : kBack);
    }

    double run(std::int64_t count) override
    {
        spoil(received_);
        MPI_Barrier(MPI_COMM_WORLD);
        const std::int64_t rounds = (count + 1) / 2;
        took_part_ = is_first() ? rounds > 0 : is_peer() && own_turns(rounds) > 0;
        exchange(peers()); // all are awake then, and know each other
        const Clock::time_point start = Clock::now();
        exchange(rounds);
        return seconds_from(start) * static_cast<double>(count) / static_cast<double>(2 * rounds);
    }

    double error() override
    {
        if (!took_part_) return 0;
        return share_of_wrong(wrong_bytes(received_, seed_, is_first() ? kBack : kThere), bytes_);
    }

    std::string checksum() override { return exact_checksum(received_); }

  private:
    void exchange(std::int64_t rounds)
    {
        if (is_first()) {
            for (std::int64_t round = 0; round < rounds; ++round) {
                send(peer_of(round));
                receive(peer_of(round));
            }
        } else if (is_peer()) {
            for (std::int64_t turn = own_turns(rounds); turn > 0; --turn) {
                receive(0);
                send(0);
            }
        }
    }

    void send(int to) { MPI_Send(sent_.data(), count(), MPI_BYTE, to, kMessageTag, MPI_COMM_WORLD); }
    void receive(int from)
    {
        MPI_Recv(received_.data(), count(), MPI_BYTE, from, kMessageTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    std::vector<std::byte> sent_;
    std::vector<std::byte> received_;
    bool took_part_ = false;
};

/// Messages to a peer, several under way at the same time, and a receipt for those.
class Bandwidth final : public ExchangeOfTwo {
  public:
    Bandwidth(const MpiWorld& world, std::size_t bytes, std::uint64_t seed)
        : ExchangeOfTwo(world, bytes, seed), slots_(std::clamp(kMaxBytesUnderWay / bytes, std::size_t{1}, kMaxUnderWay))
    {
        if (is_first()) {
            messages_.resize(bytes_);
            fill_message(messages_, seed_, kThere);
        } else if (is_peer()) {
            messages_.resize(slots_ * bytes_);
        }
    }

    double run(std::int64_t count) override
    {
        if (!is_first()) spoil(messages_);
        filled_ = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const Clock::time_point start = Clock::now();
        const auto slots = static_cast<std::int64_t>(slots_);
        const std::int64_t turns = (count + slots - 1) / slots;
        for (std::int64_t turn = 0; turn < turns; ++turn) {
            const auto messages = static_cast<std::size_t>(std::min(slots, count - turn * slots));
            if (is_first())
                send(peer_of(turn), messages);
            else if (peer_of(turn) == world_.rank)
                receive(messages);
        }
        return seconds_from(start);
    }

    double error() override
    {
        if (is_first() || filled_ == 0) return 0;
        std::size_t wrong = 0;
        for (std::size_t slot = 0; slot < filled_; ++slot)
            wrong += wrong_bytes({slot_at(slot), bytes_}, seed_, kThere);
        return share_of_wrong(wrong, filled_ * bytes_);
    }

    /// Of the first peer, which has the first turn.
    std::string checksum() override
    {
        std::string digest(kDigestLength, '0');
        if (world_.peer_index() == 0) {
            digest = exact_checksum({slot_at(0), bytes_});
            MPI_Send(digest.data(), kDigestLength, MPI_CHAR, 0, kDigestTag, MPI_COMM_WORLD);
        } else if (is_first()) {
            MPI_Recv(digest.data(), kDigestLength, MPI_CHAR, world_.peers[0], kDigestTag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        return digest;
    }

  private:
    using Requests = std::array<MPI_Request, kMaxUnderWay>;

    std::byte* slot_at(std::size_t slot) { return messages_.data() + slot * bytes_; }

    void send(int peer, std::size_t messages)
    {
        for (std::size_t i = 0; i < messages; ++i)
            MPI_Isend(messages_.data(), count(), MPI_BYTE, peer, kMessageTag, MPI_COMM_WORLD, &requests_[i]);
        MPI_Waitall(static_cast<int>(messages), requests_.data(), MPI_STATUSES_IGNORE);
        MPI_Recv(nullptr, 0, MPI_BYTE, peer, kReceiptTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    void receive(std::size_t messages)
    {
        for (std::size_t i = 0; i < messages; ++i)
            MPI_Irecv(slot_at(i), count(), MPI_BYTE, 0, kMessageTag, MPI_COMM_WORLD, &requests_[i]);
        MPI_Waitall(static_cast<int>(messages), requests_.data(), MPI_STATUSES_IGNORE);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, kReceiptTag, MPI_COMM_WORLD);
        filled_ = std::max(filled_, messages);
    }

    std::size_t slots_;
    std::vector<std::byte> messages_; ///< in rank 0 one, in peers a slot for each that is under way
    Requests requests_{};
    std::size_t filled_{}; ///< slots that the last run has filled
};

} // namespace

std::unique_ptr<Exchange> make_latency(const MpiWorld& world, std::size_t bytes, std::uint64_t seed)
{
    return std::make_unique<Latency>(world, bytes, seed);
}

std::unique_ptr<Exchange> make_bandwidth(const MpiWorld& world, std::size_t bytes, std::uint64_t seed)
{
    return std::make_unique<Bandwidth>(world, bytes, seed);
}

} // namespace fathom::probes
