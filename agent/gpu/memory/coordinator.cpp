#include "agent/gpu/memory/coordinator.hpp"

#include "core/base/utf8.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace fathom::gpu {
namespace {

static_assert(kMemoryPieceBytes == kGpuPieceBytes, "whoever looks for room counts in the same pieces");

constexpr double kMaxShare = 1000;
constexpr std::int64_t kMaxPriority = 1'000'000;
/// More the metascheduler believes of no program: one that counts up its own bytes must not spoil the report of all.
constexpr std::int64_t kMaxCountedBytes = 1LL << 60U;

std::optional<MemoryKind> kind_of(std::int64_t number)
{
    if (number == static_cast<std::int64_t>(MemoryKind::kPersistent)) return MemoryKind::kPersistent;
    if (number == static_cast<std::int64_t>(MemoryKind::kTemporary)) return MemoryKind::kTemporary;
    return std::nullopt;
}

Message refused(const Message& question, const std::string& why)
{
    return with_text({.type = MessageType::kRefused,
                      .second = static_cast<std::int64_t>(question.type),
                      .third = gpu_number(text_of(question))},
                     why);
}

} // namespace

Result<Coordinator> Coordinator::make(const CoordinatorSettings& settings, double now_s)
{
    Coordinator made(settings, now_s);
    for (const auto& [gpu, bytes] : settings.gpus) {
        Result<MemoryBooks> books = MemoryBooks::make(
            {.capacity_bytes = bytes, .gap_bytes = settings.gap_bytes, .reserved_bytes = settings.reserved_bytes});
        if (!books) return Error{books.error().code, "GPU " + gpu + ": " + describe(books.error())};
        made.books_.emplace(gpu, std::move(*books));
    }
    return made;
}

std::string Coordinator::key(ClientId client)
{
    return std::to_string(client);
}

void Coordinator::connect(ClientId client, std::int64_t process, uid_t user)
{
    clients_[client].process = process;
    clients_[client].user = user;
    is_changed_ = true;
}

void Coordinator::disconnect(ClientId client, double now_s)
{
    for (auto& [gpu, books] : books_)
        books.remove(key(client));
    turns_.remove(key(client), now_s);
    pairs_.remove(key(client));
    std::erase_if(deferred_, [&](const auto& entry) { return entry.first == client; });
    if (const auto found = clients_.find(client); found != clients_.end()) {
        learn_kernels(found->second);
        give_name_back(found->second);
        clients_.erase(found);
    }
    is_changed_ = true;
    tell_sharing(0, now_s, Newcomer::kWaits);
    note_turns();
    answer_deferred(now_s);
    tick(now_s);
}

void Coordinator::receive(ClientId id, const Message& message, double now_s)
{
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    Client& client = found->second;
    is_changed_ |= message.type != MessageType::kAskLeft;
    if (message.type != MessageType::kHello && !client.has_said_hello) {
        ++client.wrong_messages;
        return;
    }
    if (const Handler handle = handler_of(message.type); handle != nullptr)
        handle(*this, id, client, message, now_s);
    else
        ++client.wrong_messages; // ours, or none
}

Coordinator::Handler Coordinator::handler_of(MessageType type)
{
    static constexpr std::pair<MessageType, Handler> kHandlers[] = {
        {MessageType::kHello, [](Coordinator& self, ClientId, Client& client, const Message& message,
                                 double) { self.hello(client, message); }},
        {MessageType::kUseGpu, [](Coordinator& self, ClientId id, Client& client, const Message& message,
                                  double now_s) { self.use_gpu(id, client, message, now_s); }},
        {MessageType::kGrow, [](Coordinator& self, ClientId id, Client& client, const Message& message,
                                double now_s) { self.grow(id, client, message, now_s); }},
        {MessageType::kShrink, [](Coordinator& self, ClientId id, Client& client, const Message& message,
                                  double) { self.shrink(id, client, message); }},
        {MessageType::kUse, [](Coordinator& self, ClientId id, Client& client, const Message& message,
                               double) { self.use(id, client, message); }},
        {MessageType::kAskLeft,
         [](Coordinator& self, ClientId id, Client&, const Message& message, double) { self.tell_left(id, message); }},
        {MessageType::kWant, [](Coordinator& self, ClientId id, Client& client, const Message&,
                                double now_s) { self.want(id, client, now_s); }},
        {MessageType::kGiveBack, [](Coordinator& self, ClientId id, Client& client, const Message& message,
                                    double now_s) { self.give_back(id, client, message, now_s); }},
        {MessageType::kIterationEnd, [](Coordinator& self, ClientId id, Client& client, const Message& message,
                                        double now_s) { self.end_iteration(id, client, message, now_s); }},
        {MessageType::kKind, [](Coordinator& self, ClientId, Client& client, const Message& message,
                                double) { self.set_kind(client, message); }},
        {MessageType::kKernel,
         [](Coordinator&, ClientId, Client& client, const Message& message, double) { note_kernel(client, message); }},
        {MessageType::kInputSize, [](Coordinator& self, ClientId id, Client& client, const Message& message,
                                     double) { self.note_input_size(id, client, message); }},
        {MessageType::kCommunicator, [](Coordinator& self, ClientId id, Client& client, const Message& message,
                                        double now_s) { self.note_communicator(id, client, message, now_s); }},
        {MessageType::kCollectives, [](Coordinator& self, ClientId id, Client& client, const Message& message,
                                       double now_s) { self.note_collectives(id, client, message, now_s); }}};
    const auto* const found = std::find_if(std::begin(kHandlers), std::end(kHandlers),
                                           [&](const auto& entry) { return entry.first == type; });
    return found == std::end(kHandlers) ? nullptr : found->second;
}

void Coordinator::hello(Client& client, const Message& message)
{
    if (client.has_said_hello) {
        ++client.wrong_messages;
        return;
    }
    client.has_said_hello = true;
    // It is shown to people and told to others, in JSON.
    if (!is_utf8(text_of(message)) || !take_name(client, std::string(text_of(message)), message.fourth))
        ++client.wrong_messages;
    const TurnRight right =
        settings_.right.value_or(TurnRight{static_cast<double>(message.second) / 1000, message.third});
    client.share = std::clamp(right.share, 1.0 / kMaxShare, kMaxShare);
    client.priority = std::clamp(right.priority, -kMaxPriority, kMaxPriority);
}

/// A job runs as one user. Its processes stand for it in what people see, and share what it was promised.
/// @return  false where the name is another user's or job's: then the client has none.
bool Coordinator::take_name(Client& client, const std::string& job, std::int64_t proof)
{
    if (job.empty()) return true;
    if (settings_.is_of_job && !settings_.is_of_job(job, proof)) return false;
    JobName& name = names_.try_emplace(job, JobName{client.user, 0}).first->second;
    if (name.user != client.user) return false;
    ++name.clients;
    client.job = job;
    return true;
}

void Coordinator::give_name_back(const Client& client)
{
    const auto found = names_.find(client.job);
    if (found != names_.end() && --found->second.clients == 0) names_.erase(found);
}

void Coordinator::use_gpu(ClientId id, Client& client, const Message& message, double now_s)
{
    const std::string gpu(text_of(message));
    const auto books = books_.find(gpu);
    if (books == books_.end()) {
        Message answer = refused(message, "this node has no GPU " + gpu + " that jobs share");
        answer.first = kNotShared;
        say(id, answer);
        return;
    }
    const bool is_back = message.fourth == kHadMemory || message.fourth == kHadTurn;
    if (!is_back && !is_settled_ && now_s < settled_at_s_) {
        // One message for each GPU waits, so that nobody fills the memory.
        if (client.awaited_gpus.insert(gpu).second)
            waiting_.emplace_back(id, message);
        else
            ++client.wrong_messages;
        return;
    }
    const MemoryNeed need{message.second, message.third};
    Result<MemoryPlace> place = is_back ? books->second.admit_again(key(id), need) : books->second.admit(key(id), need);
    // What a job needs of a GPU is promised to the first of its processes there; the next ones grow, as those do whose
    // job says nothing of memory.
    if (!place && place.error().code == Errc::kInfeasible && !is_back && is_beside_own(id, client, gpu))
        place = books->second.admit(key(id), {});
    if (!place && !is_back && would_admit_in_turns(id, client, gpu, need)) {
        answer_later(id, message, now_s);
        return;
    }
    if (!place) {
        ++refused_counts_[gpu];
        say(id, refused(message, place.error().detail + (place.error().fields.empty()
                                                             ? ""
                                                             : ": " + place.error().fields.front().field + " " +
                                                                   place.error().fields.front().detail)));
        return;
    }
    take_place(id, client, message, *place, now_s);
}

/// What follows once a client has its place on a GPU.
void Coordinator::take_place(ClientId id, Client& client, const Message& message, const MemoryPlace& place,
                             double now_s)
{
    const std::string gpu(text_of(message));
    const bool is_back = message.fourth == kHadMemory || message.fourth == kHadTurn;
    // Who was alone on others runs there.
    const bool was_alone = !is_back && !client.gpus.empty() && !client.is_shared;
    const Newcomer newcomer = message.fourth == kHadTurn ? Newcomer::kRanBefore
                              : was_alone                ? Newcomer::kRuns
                                                         : Newcomer::kWaits;
    client.gpus.insert(gpu);
    client.lacks_turn |= message.fourth == kHadMemory;
    turns_.add(key(id), {.gpus = {}, .share = client.share, .priority = client.priority, .group = group_of(id, client)},
               now_s);
    turns_.use(key(id), gpu, now_s);
    // Of one that was there before the manager began anew nobody knows how many iterations it has had.
    if (settings_.turns.at_once > 1)
        pairs_.add(key(id), {.kind = client.kind.empty() ? "program " + key(id) : client.kind,
                             .kernel_class = client.kernel_class,
                             .known_as = client.known_as,
                             .has_kind = !client.kind.empty() && !is_back,
                             .input_size = client.input_size});
    // After the start's end a program's word alone lets it go beside nobody.
    if (message.fourth == kHadTurn && (!is_settled_ || turns_.holders_beside(key(id)).empty()))
        keep_turn(id, client, now_s);
    // It has the turn on its other GPUs, as before a manager that began anew, and comes late for one where others have
    // it by now.
    if (message.fourth == kHadTurn && turns_.has_turn(key(id)) && !fits_beside_holders(id, client))
        turns_.part_now(key(id), now_s);
    // In this order: it knows that it is not alone before it has room.
    tell_sharing(id, now_s, newcomer);
    note_turns();
    say(id, with_text({.type = MessageType::kPlace,
                       .first = place.persistent_start,
                       .second = place.persistent_room_bytes,
                       .third = place.temporary_start,
                       .fourth = place.temporary_room_bytes},
                      gpu));
    // Who has it comes back for all of its GPUs together; who had it beside others may not any longer.
    if (client.is_shared && turns_.has_turn(key(id)) == (message.fourth != kHadTurn)) say(id, end_now());
    if (is_settled_ && client.lacks_turn) tell_who_is_left_alone(); // it comes late
    tick(now_s);
}

/// Whether another process of the same job has memory on that GPU.
bool Coordinator::is_beside_own(ClientId id, const Client& client, const std::string& gpu) const
{
    return !client.job.empty() && std::any_of(clients_.begin(), clients_.end(), [&](const auto& entry) {
        return entry.first != id && entry.second.job == client.job && entry.second.gpus.contains(gpu);
    });
}

void Coordinator::grow(ClientId id, Client& client, const Message& message, double now_s)
{
    const std::string gpu(text_of(message));
    const std::optional<MemoryKind> kind = kind_of(message.first);
    if (!kind || !client.gpus.contains(gpu)) {
        ++client.wrong_messages;
        say(id, refused(message, "wrong request of more memory"));
        return;
    }
    MemoryBooks& books = books_.at(gpu);
    const auto grows = [&](MemoryBooks trial) { return trial.grow(key(id), *kind, message.second).has_value(); };
    if (books.turn_count() > 1 && !grows(books) && grows(books.in_turns())) {
        answer_later(id, message, now_s);
        return;
    }
    const Result<std::int64_t> room = books.grow(key(id), *kind, message.second);
    say(id, room ? with_text({.type = MessageType::kGrown, .first = message.first, .second = *room}, gpu)
                 : refused(message, room.error().detail));
}

void Coordinator::shrink(ClientId id, Client& client, const Message& message)
{
    const std::string gpu(text_of(message));
    const Result<std::int64_t> room = client.gpus.contains(gpu) ? books_.at(gpu).shrink(key(id), message.first)
                                                                : Error{Errc::kNotFound, "not its GPU"};
    if (!room) {
        ++client.wrong_messages;
        return;
    }
    say(id, with_text({.type = MessageType::kRoom, .first = *room}, gpu));
}

void Coordinator::use(ClientId id, Client& client, const Message& message)
{
    const std::string gpu(text_of(message));
    const std::optional<MemoryKind> kind = kind_of(message.first);
    if (!kind || !client.gpus.contains(gpu) || !books_.at(gpu).report(key(id), *kind, message.second))
        ++client.wrong_messages;
}

void Coordinator::want(ClientId id, const Client& client, double now_s)
{
    if (client.is_shared) turns_.want(key(id), now_s);
    tick(now_s);
}

void Coordinator::give_back(ClientId id, Client& client, const Message& message, double now_s)
{
    if (!turns_.has_turn(key(id))) {
        ++client.wrong_messages;
        return;
    }
    turns_.give_back(key(id), now_s);
    note_turns();
    answer_deferred(now_s);
    tick(now_s);
    if (message.second < 0 || message.third < 0 || message.fourth < 0 || message.second > kMaxBytes ||
        message.fourth > kMaxBytes) {
        ++client.wrong_messages;
        return;
    }
    ++client.switches;
    if (message.first == 1) ++client.switches_after_iteration;
    client.moved_bytes = std::min(client.moved_bytes + message.second, kMaxCountedBytes);
    client.switch_us += std::min<std::int64_t>(message.third, 3'600'000'000);
    client.kept_bytes = std::min(client.kept_bytes + message.fourth, kMaxCountedBytes);
}

void Coordinator::tick(double now_s)
{
    if (!is_settled_) {
        if (now_s < settled_at_s_) return;
        is_settled_ = true;
        for (const auto& [id, message] : std::exchange(waiting_, {}))
            receive(id, message, now_s);
        tell_who_is_left_alone();
    }
    ChoosePartner choose;
    if (settings_.turns.at_once > 1)
        choose = [this](const auto& holders, const auto& waiting) { return choose_partner(holders, waiting); };
    const std::vector<TurnOrder> orders = turns_.decide(now_s, choose);
    if (!orders.empty()) note_turns();
    for (const TurnOrder& order : orders) {
        const ClientId client = std::stoull(order.client);
        switch (order.action) {
        case TurnAction::kStart:
            clients_.at(client).lacks_turn = false;
            say(client, {.type = MessageType::kTurn, .first = order.until_progress});
            break;
        case TurnAction::kEndAfterIteration:
            say(client, {.type = MessageType::kEndAfterIteration});
            break;
        case TurnAction::kEndNow:
            say(client, end_now());
            break;
        case TurnAction::kEndByForce:
            hung_.push_back(client);
            break;
        }
    }
}

double Coordinator::next_moment_s() const
{
    return is_settled_ ? turns_.next_moment_s() : settled_at_s_;
}

std::vector<Outgoing> Coordinator::take_outgoing()
{
    return std::exchange(outgoing_, {});
}

std::vector<ClientId> Coordinator::take_hung()
{
    return std::exchange(hung_, {});
}

} // namespace fathom::gpu
