#include "agent/gpu/memory/coordinator.hpp"
#include "core/base/utf8.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

/// The part of Coordinator that knows who is alone on its GPUs, and which processes wait for each other, and tells when
/// that changes.
namespace fathom::gpu {
namespace {

constexpr std::int64_t kMaxRanks = 1'000'000;
constexpr std::int64_t kMaxCommunicators = 10'000;

} // namespace

/// Its job's processes that are in communicators take turns together. A word of it alone lengthens no turn by more than
/// most_wait_s, and names of other users' jobs it cannot have.
void Coordinator::note_communicator(ClientId id, Client& client, const Message& message, double now_s)
{
    const bool joins = message.first == 1;
    const std::int64_t communicators = client.communicators + (joins ? 1 : -1);
    if ((!joins && message.first != 0) || message.second < 2 || message.second > kMaxRanks ||
        !is_utf8(text_of(message)) || communicators < 0 || communicators > kMaxCommunicators) {
        ++client.wrong_messages;
        return;
    }
    if (joins && client.communicators == 0) client.communicator = text_of(message);
    client.communicators = communicators;
    turns_.set_group(key(id), group_of(id, client), now_s);
    tick(now_s);
}

void Coordinator::note_collectives(ClientId id, Client& client, const Message& message, double now_s)
{
    if (client.communicators == 0 || message.first < 0) {
        ++client.wrong_messages;
        return;
    }
    turns_.note_progress(key(id), message.first);
    tick(now_s);
}

/// Empty where it waits for nobody.
std::string Coordinator::group_of(ClientId id, const Client& client)
{
    if (client.communicators == 0) return {};
    if (!client.job.empty()) return "job " + client.job;
    if (client.communicator.empty()) return "process " + key(id);
    return "user " + std::to_string(client.user) + " " + client.communicator;
}

/// @return  whether a GPU is shared that was not, or the other way round.
bool Coordinator::note_shared_gpus()
{
    std::set<std::string> shared;
    for (const auto& [gpu, books] : books_) {
        if (books.is_shared()) shared.insert(gpu);
    }
    return std::exchange(shared_gpus_, shared) != shared;
}

/// Each is told when it is no longer alone, or alone again (G6). Who was alone has the turn: its memory is there.
/// @param newcomer_id  who is placed, as `newcomer` says; 0: nobody is
void Coordinator::tell_sharing(ClientId newcomer_id, double now_s, Newcomer newcomer)
{
    const bool has_changed = note_shared_gpus();
    for (auto& [id, client] : clients_) {
        // Thousands of clients cost no more than few.
        if (!has_changed && id != newcomer_id) continue;
        const bool is_shared = std::any_of(client.gpus.begin(), client.gpus.end(),
                                           [&](const std::string& gpu) { return books_.at(gpu).is_shared(); });
        if (is_shared == client.is_shared) continue;
        client.is_shared = is_shared;
        if (!is_shared) {
            turns_.stop(key(id), now_s);
            client.lacks_turn = false;
        }
        if (is_shared && client.lacks_turn)
            turns_.want(key(id), now_s);
        else if (is_shared && id != newcomer_id)
            keep_turn(id, client, now_s);
        const bool has_turn = turns_.has_turn(key(id));
        // As it believes: only who has the turn takes its memory away when it is told to end it.
        const bool is_newcomer = id == newcomer_id;
        const bool runs = is_newcomer ? newcomer != Newcomer::kWaits : !client.lacks_turn;
        const bool must_end = is_shared && runs && !has_turn;
        say(id, {.type = MessageType::kShared, .first = is_shared ? 1 : 0, .second = has_turn || must_end ? 1 : 0});
        if (must_end && !(is_newcomer && newcomer == Newcomer::kRanBefore)) say(id, end_now());
    }
}

/// Who shared a GPU when the manager before this one ended, and did not have the turn, waits for it. Those that it
/// waited for have had their time to come back.
void Coordinator::tell_who_is_left_alone()
{
    for (auto& [id, client] : clients_) {
        if (!client.lacks_turn || client.is_shared) continue;
        client.lacks_turn = false;
        say(id, {.type = MessageType::kShared});
    }
}

Message Coordinator::end_now() const
{
    return {.type = MessageType::kEndNow,
            .first = static_cast<std::int64_t>(std::ceil(settings_.turns.most_overrun_s * 1000))};
}

} // namespace fathom::gpu
