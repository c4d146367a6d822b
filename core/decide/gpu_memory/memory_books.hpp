#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

/// The books of one GPU's memory among several training jobs that take turns (G2 to G8). What lives across iterations
/// stays where it is; what lives inside an iteration is there only while its job has the turn.
namespace fathom::gpu {

/// What memory is for (G1).
enum class MemoryKind {
    kPersistent, ///< weights, optimizer state: lives across iterations
    kTemporary,  ///< activations, workspaces: dead at the end of an iteration
};
std::string_view to_string(MemoryKind kind);

/// G3: what is kept free behind each job's persistent memory, for its growth.
inline constexpr std::int64_t kDefaultGapBytes = 100'000'000;
/// Physical memory is mapped in pieces of this size, and so all places and rooms are multiples of it.
inline constexpr std::int64_t kMemoryPieceBytes = 2LL << 20U;
/// G2: where the temporary region starts in a GPU's address space, seen from the start of the persistent region.
inline constexpr std::int64_t kTemporaryStart = 8LL << 40U;
/// More than any memory that a job may ask for; sums of a GPU's clients stay far from overflow.
inline constexpr std::int64_t kMaxBytes = 4LL << 40U;
/// Of one GPU.
inline constexpr std::size_t kMaxClients = 10'000;

/// `bytes` as a multiple of kMemoryPieceBytes, at least; bytes in [0, kMaxBytes].
constexpr std::int64_t whole_pieces(std::int64_t bytes)
{
    return (bytes + kMemoryPieceBytes - 1) / kMemoryPieceBytes * kMemoryPieceBytes;
}

struct GpuMemorySettings {
    std::int64_t capacity_bytes{};             ///< of the card
    std::int64_t gap_bytes = kDefaultGapBytes; ///< G3; from 0 to the card's size
    std::int64_t reserved_bytes{};             ///< what the driver and its contexts take
};

/// What a job says that it needs, or is known to need from earlier runs of its type.
struct MemoryNeed {
    std::int64_t persistent_bytes{};
    std::int64_t temporary_bytes{};
};

/// What a job was given: addresses seen from the start of the persistent region. What it needs beyond its gap, where
/// another job's memory begins behind it, lies behind all others; what it has stays where it is.
struct MemoryPlace {
    std::int64_t persistent_start{};
    std::int64_t persistent_room_bytes{}; ///< with the gap behind it
    std::int64_t temporary_start{};       ///< the same for all jobs: only one has temporary memory at a time
    std::int64_t temporary_room_bytes{};
};

/// Memory of one kind that one job uses now, and used at most.
struct MemoryUse {
    std::int64_t used_bytes{};
    std::int64_t peak_bytes{};
};

/// One job on one GPU.
struct ClientMemory {
    MemoryPlace place;
    std::map<std::int64_t, std::int64_t> persistent_ranges; ///< start and bytes; together the room
    MemoryUse persistent;
    MemoryUse temporary;
    std::int64_t gap_bytes{};           ///< of the room, what was behind the need at admission
    std::int64_t admitted_room_bytes{}; ///< persistent
    std::int64_t refusals{};            ///< of growth
    std::int64_t iterations{};          ///< ended
    bool has_turn{};                    ///< MemoryBooks::set_turn()
};

/// Whether more fits, with the figures (G8). All bytes are whole pieces.
struct AdmissionFigures {
    std::int64_t capacity_bytes{};         ///< of the card, without what is reserved
    std::int64_t persistent_bytes{};       ///< rooms of all clients, gaps included
    std::int64_t most_temporary_bytes{};   ///< the largest room for temporary memory
    std::int64_t free_bytes{};             ///< capacity less both
    std::int64_t asked_persistent_bytes{}; ///< with its gap
    std::int64_t asked_temporary_bytes{};
    bool fits{};
};

/// Invariant, after each call: Σ persistent rooms + the largest temporary room ≤ capacity. Clients stay within their
/// rooms and only the one that has the turn has temporary memory, so the card's memory is enough at every instant of
/// every schedule (G8). Where several have the turn at once, the sum of their temporary rooms takes the place of the
/// largest where it is larger, as long as set_turn() is called only where all that then have it can_have_turns().
class MemoryBooks {
  public:
    /// @error kInvalid  a size that is negative or beyond kMaxBytes; a gap beyond the card; nothing left to give.
    static Result<MemoryBooks> make(const GpuMemorySettings& settings);

    /// What admit() would say.
    Result<AdmissionFigures> try_admit(const MemoryNeed& need) const;

    /// G3, G7, G8: a place behind all persistent memory that is there, or in the first hole once the addresses end.
    /// @error kInvalid    a need that is negative or beyond the card.
    /// @error kConflict   there is a client of that name.
    /// @error kTooMany    kMaxClients are there.
    /// @error kInfeasible does not fit; the detail has the figures.
    Result<MemoryPlace> admit(const std::string& client, const MemoryNeed& need);

    /// The same for a client that has that memory already, from before these books began: it needs no gap more.
    Result<MemoryPlace> admit_again(const std::string& client, const MemoryNeed& rooms);

    /// More room of one kind for a client. What it and its neighbours have stays where it is.
    /// @return the new room in bytes.
    /// @error kNotFound, kInvalid, kInfeasible  as admit(); nothing has changed.
    Result<std::int64_t> grow(const std::string& client, MemoryKind kind, std::int64_t more_bytes);

    /// Less persistent room for a client, at the same addresses: what it needs and the gap, but no less than it uses or
    /// was admitted with.
    /// @return the new room in bytes.
    /// @error kNotFound  no such client.
    /// @error kInvalid   a need that is negative.
    Result<std::int64_t> shrink(const std::string& client, std::int64_t needed_bytes);

    /// What a client says that it uses. A client that says more than its room is told so, and its room is what counts.
    /// @error kNotFound  no such client.
    /// @error kInvalid   negative, or more than its room.
    Result<void> report(const std::string& client, MemoryKind kind, std::int64_t used_bytes);

    /// G4: the temporary memory of a client is gone; its persistent memory is where it was.
    Result<void> end_iteration(const std::string& client);

    /// A client has the turn, or has it no longer: it may have temporary memory, beside others that have the turn.
    /// Nothing if there is none of that name.
    void set_turn(const std::string& client, bool has_turn);
    /// Whether there is memory for all of these to have the turn at once, and nobody else.
    bool can_have_turns(const std::vector<std::string>& clients) const;
    /// Clients that have the turn.
    std::size_t turn_count() const { return turn_count_; }
    /// The same as if nobody had the turn: what could be had once those that have it at once take turns again.
    MemoryBooks in_turns() const;

    /// G5: all of a client is gone, whatever it had. Nothing if there is none.
    void remove(const std::string& client);

    /// G6: the manager acts only where more than one has memory here.
    bool is_shared() const { return clients_.size() > 1; }

    const std::map<std::string, ClientMemory>& clients() const { return clients_; }
    const GpuMemorySettings& settings() const { return settings_; }
    /// Of all clients, where they take turns.
    AdmissionFigures figures() const;

  private:
    explicit MemoryBooks(const GpuMemorySettings& settings) : settings_(settings) {}

    Result<AdmissionFigures> try_admit(const MemoryNeed& need, std::int64_t gap_bytes) const;
    Result<MemoryPlace> admit(const std::string& client, const MemoryNeed& need, std::int64_t gap_bytes);
    std::int64_t find_start(std::int64_t room_bytes) const;
    std::int64_t next_start(const ClientMemory& client, std::int64_t bytes) const;
    void enter(ClientMemory& client, std::int64_t start, std::int64_t bytes);
    void leave(ClientMemory& client, std::int64_t bytes);
    void set_temporary_room(ClientMemory& client, std::int64_t bytes);
    std::int64_t largest_temporary_room() const;
    std::int64_t temporary_at_once(std::int64_t more_bytes) const;

    GpuMemorySettings settings_;
    std::map<std::string, ClientMemory> clients_;
    // Of all clients, so that ten thousand of them cost no more than few.
    std::map<std::int64_t, std::int64_t> persistent_ranges_; ///< start and end
    std::multiset<std::int64_t> temporary_rooms_;
    std::int64_t persistent_bytes_{};
    std::size_t turn_count_{};
    std::int64_t temporary_at_once_bytes_{}; ///< rooms of those that have the turn
};

} // namespace fathom::gpu
