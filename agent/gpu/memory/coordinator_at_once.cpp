#include "agent/gpu/memory/coordinator.hpp"
#include "core/base/utf8.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

/// The part of Coordinator where several have the turn on a GPU at once. Nothing of it where only one may.
namespace fathom::gpu {
namespace {

/// Of who has not switched yet.
constexpr double kUnknownSwitch_s = 0.1;
/// Shorter than a program waits for memory before it asks again.
constexpr double kForcedEvery_s = 5;

std::optional<KernelClass> class_of(std::int64_t number)
{
    if (number == kClassUnknown) return KernelClass::kUnknown;
    if (number == kClassCompute) return KernelClass::kCompute;
    if (number == kClassMemory) return KernelClass::kMemory;
    return std::nullopt;
}

} // namespace

/// What a program says of its kind is its user's own affair: nobody's word counts for another user's jobs.
void Coordinator::set_kind(Client& client, const Message& message)
{
    const std::optional<KernelClass> kernel_class = class_of(message.first);
    const std::string_view kind = text_of(message);
    if (!kernel_class || !is_utf8(kind) || !client.gpus.empty()) {
        ++client.wrong_messages;
        return;
    }
    client.kernel_class = *kernel_class;
    client.known_as = kind;
    client.kind = kind.empty() ? "" : std::to_string(client.user) + ":" + std::string(kind);
}

/// After each change of who has the turn.
void Coordinator::note_turns()
{
    if (settings_.turns.at_once < 2) return;
    for (const auto& [id, client] : clients_) {
        const bool has_turn = turns_.has_turn(key(id));
        for (const std::string& gpu : client.gpus)
            books_.at(gpu).set_turn(key(id), has_turn);
        const std::vector<std::string> others = has_turn ? turns_.holders_beside(key(id)) : std::vector<std::string>();
        if (has_turn || !client.is_shared)
            pairs_.run_beside(key(id), {others.begin(), others.end()});
        else
            pairs_.stop(key(id));
    }
}

std::string Coordinator::choose_partner(const std::vector<std::string>& holders,
                                        const std::vector<std::string>& waiting) const
{
    // Somebody waits for memory until they take turns again.
    if (!deferred_.empty() || is_answering_deferred_) return {};
    std::vector<std::string> able;
    std::copy_if(waiting.begin(), waiting.end(), std::back_inserter(able),
                 [&](const std::string& program) { return may_go_beside(program, holders); });
    return able.empty() ? std::string() : pairs_.choose(holders, able);
}

/// Whether it can have the turn beside those that have it: each of its GPUs has memory for all of them.
bool Coordinator::fits_beside_holders(ClientId id, const Client& client) const
{
    std::vector<std::string> all = turns_.holders_beside(key(id));
    if (all.empty()) return true;
    all.push_back(key(id));
    return all.size() <= settings_.turns.at_once &&
           std::all_of(client.gpus.begin(), client.gpus.end(),
                       [&](const std::string& gpu) { return books_.at(gpu).can_have_turns(all); });
}

/// It has the turn and goes on.
void Coordinator::keep_turn(ClientId id, const Client& client, double now_s)
{
    if (fits_beside_holders(id, client)) turns_.keep(key(id), now_s);
}

/// Not beside who has a higher priority, whom it would slow down; and each GPU has memory for all at once.
bool Coordinator::may_go_beside(const std::string& program, const std::vector<std::string>& holders) const
{
    const Client& one = clients_.at(std::stoull(program));
    std::vector<std::string> all = holders;
    all.push_back(program);
    return std::all_of(
               holders.begin(), holders.end(),
               [&](const std::string& holder) { return clients_.at(std::stoull(holder)).priority <= one.priority; }) &&
           std::all_of(one.gpus.begin(), one.gpus.end(),
                       [&](const std::string& gpu) { return books_.at(gpu).can_have_turns(all); });
}

void Coordinator::end_iteration(ClientId id, Client& client, const Message& message, double now_s)
{
    client.iteration_confidence.reset();
    if (message.first == kIterationByPattern)
        client.iteration_confidence = static_cast<double>(std::clamp<std::int64_t>(message.second, 0, 1000)) / 1000;
    for (const std::string& gpu : client.gpus)
        (void)books_.at(gpu).end_iteration(key(id));
    if (settings_.turns.at_once < 2 || !pairs_.end_iteration(key(id), now_s)) return;
    note_measured();
    std::vector<std::string> programs = turns_.holders_beside(key(id));
    programs.push_back(key(id));
    // One after the other: how those that are left do is measured first.
    if (std::any_of(programs.begin(), programs.end(), [&](const auto& one) { return turns_.is_ending(one); })) return;
    std::vector<TurnHolder> holders;
    for (const std::string& program : programs)
        holders.push_back({program, switch_s(program)});
    const std::string worse = pairs_.find_worse(holders);
    if (worse.empty()) return;
    turns_.part(worse, now_s);
    tick(now_s);
}

/// Keeps what was measured of programs for the report, by their jobs: of one job's own programs nothing.
void Coordinator::note_measured()
{
    for (const MeasuredTurns& measured : pairs_.take_measured()) {
        JobPace a{.job = clients_.at(std::stoull(measured.a)).job, .kept_pace = measured.a_share};
        JobPace b{.job = clients_.at(std::stoull(measured.b)).job, .kept_pace = measured.b_share};
        if (a.job.empty() || b.job.empty() || a.job == b.job) continue;
        if (b.job < a.job) std::swap(a, b);
        const auto found = std::find_if(job_pairs_.begin(), job_pairs_.end(), [&](const MeasuredJobPair& pair) {
            return pair.a.job == a.job && pair.b.job == b.job;
        });
        if (found == job_pairs_.end()) {
            if (job_pairs_.size() == kMaxMeasuredJobPairs) job_pairs_.erase(job_pairs_.begin());
            job_pairs_.push_back({std::move(a), std::move(b)});
            continue;
        }
        const auto count = static_cast<double>(++found->count);
        found->a.kept_pace += (a.kept_pace - found->a.kept_pace) / count;
        found->b.kept_pace += (b.kept_pace - found->b.kept_pace) / count;
        std::rotate(found, std::next(found), job_pairs_.end());
    }
}

/// What taking its turn away and giving it back takes, as it was until now.
double Coordinator::switch_s(const std::string& program) const
{
    const Client& client = clients_.at(std::stoull(program));
    if (client.switches == 0) return kUnknownSwitch_s;
    return static_cast<double>(client.switch_us) / 1e6 / static_cast<double>(client.switches);
}

/// Whether a newcomer would fit if those that have the turn at once took turns.
bool Coordinator::would_admit_in_turns(ClientId id, const Client& client, const std::string& gpu,
                                       const MemoryNeed& need) const
{
    const MemoryBooks& books = books_.at(gpu);
    if (books.turn_count() < 2) return false;
    MemoryBooks in_turns = books.in_turns();
    return in_turns.admit(key(id), need) || (is_beside_own(id, client, gpu) && in_turns.admit(key(id), {}));
}

/// All but one that have the turn on that GPU give it back between two kernels, then the question is answered. A user
/// whose programs ask for that again and again, as one does that lies of what it needs, has it at once no more often
/// than every kForcedEvery_s: until then turns end with their iterations.
void Coordinator::answer_later(ClientId id, const Message& question, double now_s)
{
    const std::string gpu(text_of(question));
    std::vector<std::string> holders;
    for (const auto& [other, client] : clients_) {
        if (client.gpus.contains(gpu) && turns_.has_turn(key(other))) holders.push_back(key(other));
    }
    // Who asks keeps its turn: it would wait for itself.
    const auto asks = std::find(holders.begin(), holders.end(), key(id));
    holders.erase(asks == holders.end() ? holders.begin() : asks);
    const uid_t user = clients_.at(id).user;
    const auto forced = forced_at_s_.find(user);
    const bool is_forced = forced == forced_at_s_.end() || now_s - forced->second >= kForcedEvery_s;
    if (is_forced && !holders.empty()) {
        std::erase_if(forced_at_s_, [&](const auto& entry) { return now_s - entry.second >= kForcedEvery_s; });
        forced_at_s_[user] = now_s;
    }
    for (const std::string& holder : holders) {
        if (is_forced)
            turns_.part_now(holder, now_s);
        else
            turns_.part(holder, now_s);
    }
    std::erase_if(deferred_, [&](const auto& entry) {
        // Who was not answered in time asks again. Of growth the first is the kind; of a place it is anything, and one
        // that lies must not make many questions of it.
        return entry.first == id && entry.second.type == question.type &&
               (question.type != MessageType::kGrow || entry.second.first == question.first) &&
               text_of(entry.second) == text_of(question);
    });
    deferred_.emplace_back(id, question);
    tick(now_s);
}

void Coordinator::answer_deferred(double now_s)
{
    if (deferred_.empty() || is_answering_deferred_) return;
    is_answering_deferred_ = true;
    for (const auto& [id, question] : std::exchange(deferred_, {}))
        receive(id, question, now_s);
    is_answering_deferred_ = false;
}

} // namespace fathom::gpu
