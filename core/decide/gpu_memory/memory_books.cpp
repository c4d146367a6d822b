#include "core/decide/gpu_memory/memory_books.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::gpu {
namespace {

bool is_size(std::int64_t bytes)
{
    return bytes >= 0 && bytes <= kMaxBytes;
}

/// For people: MiB, since that is what places are multiples of. What is larger is shorter so, since a message to a
/// program has room for all figures of a refusal only then.
std::string text_of(std::int64_t bytes)
{
    constexpr std::int64_t kGiB = 1LL << 30U;
    if (bytes >= 10 * kGiB) return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / kGiB);
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1LL << 20U));
}

Error does_not_fit(const AdmissionFigures& figures)
{
    return {Errc::kInfeasible,
            fmt::format("the GPU's memory is not enough: asked {} persistent with its gap and {} temporary; of {} are "
                        "{} persistent of other jobs and {} the largest temporary, {} are free",
                        text_of(figures.asked_persistent_bytes), text_of(figures.asked_temporary_bytes),
                        text_of(figures.capacity_bytes), text_of(figures.persistent_bytes),
                        text_of(figures.most_temporary_bytes), text_of(figures.free_bytes))};
}

Error no_client(const std::string& client)
{
    return {Errc::kNotFound, "no job \"" + client + "\" has memory on this GPU"};
}

} // namespace

std::string_view to_string(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::kPersistent:
        return "persistent";
    case MemoryKind::kTemporary:
        return "temporary";
    }
    return "";
}

Result<MemoryBooks> MemoryBooks::make(const GpuMemorySettings& settings)
{
    std::vector<FieldError> errors;
    if (settings.capacity_bytes < kMemoryPieceBytes || settings.capacity_bytes > kMaxBytes)
        errors.push_back({"capacity_bytes", "must be from 2 MiB to 4 TiB"});
    if (settings.gap_bytes < 0 || settings.gap_bytes > settings.capacity_bytes)
        errors.push_back({"gap_bytes", "must be from 0 to the GPU's memory"});
    if (settings.reserved_bytes < 0 || settings.reserved_bytes >= settings.capacity_bytes)
        errors.push_back({"reserved_bytes", "must be from 0 to less than the GPU's memory"});
    if (!errors.empty()) return Error{Errc::kInvalid, "wrong settings of a GPU's memory", std::move(errors)};
    return MemoryBooks(settings);
}

AdmissionFigures MemoryBooks::figures() const
{
    AdmissionFigures figures;
    figures.capacity_bytes =
        (settings_.capacity_bytes - settings_.reserved_bytes) / kMemoryPieceBytes * kMemoryPieceBytes;
    figures.persistent_bytes = persistent_bytes_;
    figures.most_temporary_bytes = largest_temporary_room();
    figures.free_bytes = figures.capacity_bytes - figures.persistent_bytes - figures.most_temporary_bytes;
    figures.fits = figures.free_bytes >= 0;
    return figures;
}

Result<AdmissionFigures> MemoryBooks::try_admit(const MemoryNeed& need) const
{
    return try_admit(need, settings_.gap_bytes);
}

Result<MemoryPlace> MemoryBooks::admit(const std::string& client, const MemoryNeed& need)
{
    return admit(client, need, settings_.gap_bytes);
}

Result<MemoryPlace> MemoryBooks::admit_again(const std::string& client, const MemoryNeed& rooms)
{
    return admit(client, rooms, 0);
}

Result<AdmissionFigures> MemoryBooks::try_admit(const MemoryNeed& need, std::int64_t gap_bytes) const
{
    std::vector<FieldError> errors;
    const std::string range = "must be from 0 to the GPU's " + text_of(settings_.capacity_bytes);
    if (!is_size(need.persistent_bytes) || need.persistent_bytes > settings_.capacity_bytes)
        errors.push_back({"persistent_bytes", range});
    if (!is_size(need.temporary_bytes) || need.temporary_bytes > settings_.capacity_bytes)
        errors.push_back({"temporary_bytes", range});
    if (!errors.empty()) return Error{Errc::kInvalid, "wrong need of GPU memory", std::move(errors)};

    AdmissionFigures figures = this->figures();
    figures.asked_persistent_bytes = whole_pieces(need.persistent_bytes + gap_bytes);
    figures.asked_temporary_bytes = whole_pieces(need.temporary_bytes);
    figures.fits = figures.persistent_bytes + figures.asked_persistent_bytes +
                       std::max(temporary_at_once(0), figures.asked_temporary_bytes) <=
                   figures.capacity_bytes;
    return figures;
}

Result<MemoryPlace> MemoryBooks::admit(const std::string& client, const MemoryNeed& need, std::int64_t gap_bytes)
{
    if (clients_.contains(client)) return Error{Errc::kConflict, "\"" + client + "\" has memory on this GPU already"};
    if (clients_.size() >= kMaxClients)
        return Error{Errc::kTooMany, fmt::format("{} jobs have memory on this GPU; no more do", kMaxClients)};
    const Result<AdmissionFigures> figures = try_admit(need, gap_bytes);
    if (!figures) return figures.error();
    if (!figures->fits) return does_not_fit(*figures);

    ClientMemory memory;
    memory.admitted_room_bytes = figures->asked_persistent_bytes;
    memory.gap_bytes = figures->asked_persistent_bytes - need.persistent_bytes;
    memory.place = {.persistent_start = find_start(figures->asked_persistent_bytes),
                    .persistent_room_bytes = figures->asked_persistent_bytes,
                    .temporary_start = kTemporaryStart,
                    .temporary_room_bytes = figures->asked_temporary_bytes};
    const MemoryPlace place = memory.place;
    memory.place.persistent_room_bytes = memory.place.temporary_room_bytes = 0;
    ClientMemory& added = clients_.emplace(client, std::move(memory)).first->second;
    temporary_rooms_.insert(0);
    set_temporary_room(added, place.temporary_room_bytes);
    enter(added, place.persistent_start, place.persistent_room_bytes);
    return added.place;
}

void MemoryBooks::enter(ClientMemory& client, std::int64_t start, std::int64_t bytes)
{
    if (bytes == 0) return;
    client.place.persistent_room_bytes += bytes;
    persistent_bytes_ += bytes;
    auto last = client.persistent_ranges.upper_bound(start);
    if (last != client.persistent_ranges.begin() && std::prev(last)->first + std::prev(last)->second == start) {
        --last;
        last->second += bytes;
        persistent_ranges_[last->first] += bytes;
        return;
    }
    client.persistent_ranges[start] = bytes;
    persistent_ranges_[start] = start + bytes;
}

/// What came last goes first.
void MemoryBooks::leave(ClientMemory& client, std::int64_t bytes)
{
    client.place.persistent_room_bytes -= bytes;
    persistent_bytes_ -= bytes;
    while (bytes > 0) {
        const auto last = std::prev(client.persistent_ranges.end());
        const std::int64_t taken = std::min(bytes, last->second);
        bytes -= taken;
        last->second -= taken;
        persistent_ranges_[last->first] -= taken;
        if (last->second > 0) continue;
        persistent_ranges_.erase(last->first);
        client.persistent_ranges.erase(last);
    }
}

void MemoryBooks::set_temporary_room(ClientMemory& client, std::int64_t bytes)
{
    temporary_rooms_.erase(temporary_rooms_.find(client.place.temporary_room_bytes));
    if (client.has_turn) temporary_at_once_bytes_ += bytes - client.place.temporary_room_bytes;
    client.place.temporary_room_bytes = bytes;
    temporary_rooms_.insert(bytes);
}

std::int64_t MemoryBooks::largest_temporary_room() const
{
    return temporary_rooms_.empty() ? 0 : *temporary_rooms_.rbegin();
}

/// The most that temporary memory takes: of who has the largest room, or of all that have the turn.
/// @param more_bytes  of the latter
std::int64_t MemoryBooks::temporary_at_once(std::int64_t more_bytes) const
{
    return std::max(largest_temporary_room(), temporary_at_once_bytes_ + more_bytes);
}

void MemoryBooks::set_turn(const std::string& client, bool has_turn)
{
    const auto found = clients_.find(client);
    if (found == clients_.end() || found->second.has_turn == has_turn) return;
    found->second.has_turn = has_turn;
    const std::int64_t room = found->second.place.temporary_room_bytes;
    temporary_at_once_bytes_ += has_turn ? room : -room;
    if (has_turn)
        ++turn_count_;
    else
        --turn_count_;
}

bool MemoryBooks::can_have_turns(const std::vector<std::string>& clients) const
{
    std::int64_t rooms = 0;
    for (const std::string& client : clients) {
        const auto found = clients_.find(client);
        if (found != clients_.end()) rooms += found->second.place.temporary_room_bytes;
    }
    return persistent_bytes_ + std::max(largest_temporary_room(), rooms) <= figures().capacity_bytes;
}

MemoryBooks MemoryBooks::in_turns() const
{
    MemoryBooks same = *this;
    for (auto& [name, client] : same.clients_)
        client.has_turn = false;
    same.turn_count_ = 0;
    same.temporary_at_once_bytes_ = 0;
    return same;
}

/// Rooms have their gaps within, so the end of the last room is where the next may begin.
std::int64_t MemoryBooks::find_start(std::int64_t room_bytes) const
{
    const std::int64_t end = persistent_ranges_.empty() ? 0 : persistent_ranges_.rbegin()->second;
    if (end + room_bytes <= kTemporaryStart / 2) return end;
    // Half of the addresses are kept for growth. Jobs that left made holes; all rooms together are no larger than the
    // card, so that one is large enough unless holes are many: then the end serves.
    std::int64_t start = 0;
    for (const auto& [begin, until] : persistent_ranges_) {
        if (begin - start >= room_bytes) return start;
        start = until;
    }
    return end;
}

Result<std::int64_t> MemoryBooks::grow(const std::string& client, MemoryKind kind, std::int64_t more_bytes)
{
    const auto found = clients_.find(client);
    if (found == clients_.end()) return no_client(client);
    if (more_bytes <= 0 || more_bytes > settings_.capacity_bytes)
        return Error{Errc::kInvalid,
                     "more memory must be from 1 byte to the GPU's " + text_of(settings_.capacity_bytes)};

    ClientMemory& memory = found->second;
    AdmissionFigures figures = this->figures();
    const std::int64_t asked = whole_pieces(more_bytes);
    if (kind == MemoryKind::kTemporary) {
        const std::int64_t room = memory.place.temporary_room_bytes + asked;
        const std::int64_t at_once = std::max(temporary_at_once(memory.has_turn ? asked : 0), room);
        if (figures.persistent_bytes + at_once <= figures.capacity_bytes) {
            set_temporary_room(memory, room);
            return room;
        }
        figures.asked_temporary_bytes = room;
    } else {
        if (figures.persistent_bytes + temporary_at_once(0) + asked <= figures.capacity_bytes) {
            enter(memory, next_start(memory, asked), asked);
            return memory.place.persistent_room_bytes;
        }
        figures.asked_persistent_bytes = asked;
    }
    ++memory.refusals;
    return does_not_fit(figures);
}

/// Behind what the client has, where nobody else begins; else behind all.
std::int64_t MemoryBooks::next_start(const ClientMemory& client, std::int64_t bytes) const
{
    if (client.persistent_ranges.empty()) return find_start(bytes);
    const auto own = persistent_ranges_.find(client.persistent_ranges.rbegin()->first);
    const auto next = std::next(own);
    if (next == persistent_ranges_.end() || next->first >= own->second + bytes) return own->second;
    return find_start(bytes);
}

Result<std::int64_t> MemoryBooks::shrink(const std::string& client, std::int64_t needed_bytes)
{
    const auto found = clients_.find(client);
    if (found == clients_.end()) return no_client(client);
    if (!is_size(needed_bytes)) return Error{Errc::kInvalid, "what is needed must be from 0 to 4 TiB"};
    ClientMemory& memory = found->second;
    const std::int64_t wanted = std::max({whole_pieces(needed_bytes + settings_.gap_bytes), memory.admitted_room_bytes,
                                          whole_pieces(memory.persistent.used_bytes)});
    if (wanted < memory.place.persistent_room_bytes) leave(memory, memory.place.persistent_room_bytes - wanted);
    return memory.place.persistent_room_bytes;
}

Result<void> MemoryBooks::report(const std::string& client, MemoryKind kind, std::int64_t used_bytes)
{
    const auto found = clients_.find(client);
    if (found == clients_.end()) return no_client(client);
    ClientMemory& memory = found->second;
    const bool is_persistent = kind == MemoryKind::kPersistent;
    const std::int64_t room = is_persistent ? memory.place.persistent_room_bytes : memory.place.temporary_room_bytes;
    if (used_bytes < 0 || used_bytes > room)
        return Error{Errc::kInvalid, fmt::format("says that it uses {} bytes of {} memory; its room is {}", used_bytes,
                                                 to_string(kind), text_of(room))};
    MemoryUse& use = is_persistent ? memory.persistent : memory.temporary;
    use.used_bytes = used_bytes;
    use.peak_bytes = std::max(use.peak_bytes, used_bytes);
    return {};
}

Result<void> MemoryBooks::end_iteration(const std::string& client)
{
    const auto found = clients_.find(client);
    if (found == clients_.end()) return no_client(client);
    found->second.temporary.used_bytes = 0;
    ++found->second.iterations;
    return {};
}

void MemoryBooks::remove(const std::string& client)
{
    const auto found = clients_.find(client);
    if (found == clients_.end()) return;
    set_turn(client, false);
    leave(found->second, found->second.place.persistent_room_bytes);
    temporary_rooms_.erase(temporary_rooms_.find(found->second.place.temporary_room_bytes));
    clients_.erase(found);
}

} // namespace fathom::gpu
