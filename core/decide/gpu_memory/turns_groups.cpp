#include "core/decide/gpu_memory/turns.hpp"

#include <algorithm>
#include <limits>
#include <utility>

/// The part of Turns that gives the turn to groups: jobs of several processes that wait for each other on several GPUs.
namespace fathom::gpu {

bool Turns::have_common(const std::set<std::string>& one, const std::set<std::string>& other)
{
    return std::any_of(one.begin(), one.end(), [&](const std::string& gpu) { return other.contains(gpu); });
}

bool Turns::are_mates(const Client& one, const Client& other)
{
    return one.is_together && other.is_together && one.how.group == other.how.group;
}

/// Whether they cannot have the turn at the same time.
bool Turns::are_in_conflict(const Client& one, const Client& other)
{
    return !are_mates(one, other) && have_common(one.claimed, other.claimed);
}

void Turns::set_group(const std::string& client, const std::string& group, double now_s)
{
    const auto found = clients_.find(client);
    if (found == clients_.end() || found->second.how.group == group) return;
    const std::string before = std::exchange(found->second.how.group, group);
    found->second.claimed = found->second.how.gpus;
    found->second.is_together = false;
    note_group(before, now_s);
    note_group(group, now_s);
}

void Turns::note_progress(const std::string& client, std::int64_t progress)
{
    if (const auto found = clients_.find(client); found != clients_.end()) found->second.progress = progress;
}

/// After each change of who is of a group, and of their GPUs. Two of a group that share a GPU cannot have the turn
/// together: then each takes turns by itself.
void Turns::note_group(const std::string& group, double now_s)
{
    if (group.empty()) return;
    std::set<std::string> all;
    std::size_t count = 0;
    for (const auto& [name, client] : clients_) {
        if (client.how.group != group) continue;
        all.insert(client.how.gpus.begin(), client.how.gpus.end());
        count += client.how.gpus.size();
    }
    const bool is_together = all.size() == count;
    for (auto& [name, client] : clients_) {
        if (client.how.group != group) continue;
        client.is_together = is_together;
        client.claimed = is_together ? all : client.how.gpus;
    }
    for (const auto& [name, client] : clients_) {
        if (client.how.group == group && client.state == State::kRunning && !holders_beside(name).empty())
            part_now(name, now_s);
    }
}

/// When who waits gets the turn that others of its group have; nothing where none has one, or somebody else has one of
/// its GPUs. But where both groups were to end their turns long ago, each has some that wait in a kernel for others
/// which wait for the other group's GPUs, as when all had begun before anybody knew of groups: then it goes beside.
std::optional<Turns::Rejoin> Turns::rejoin_of(const std::string& name, const Client& waiting) const
{
    if (!waiting.is_together) return std::nullopt;
    bool has_mates = false;
    bool is_ending = false;
    double stuck_at_s = std::numeric_limits<double>::infinity(); ///< one of its group
    double beside_at_s = waiting.since_s;
    bool is_beside = false;
    const auto when_stuck_s = [](const Client& one) {
        return one.is_together && one.told >= Told::kToEndNow ? one.told_at_s + kGroupTimeout_s
                                                              : std::numeric_limits<double>::infinity();
    };
    Rejoin rejoin{.at_s = waiting.since_s,
                  .slice_since_s = std::numeric_limits<double>::infinity(),
                  .until_progress = waiting.progress};
    for (const auto& [other_name, other] : clients_) {
        if (other_name == name || other.state != State::kRunning) continue;
        if (!are_mates(other, waiting)) {
            if (!have_common(other.claimed, waiting.how.gpus)) continue;
            is_beside = true;
            beside_at_s = std::max(beside_at_s, when_stuck_s(other));
            continue;
        }
        stuck_at_s = std::min(stuck_at_s, when_stuck_s(other));
        has_mates = true;
        is_ending = is_ending || other.told != Told::kNothing || other.parts;
        rejoin.slice_since_s = std::min(rejoin.slice_since_s, other.slice_since_s);
        rejoin.until_progress = std::max(rejoin.until_progress, other.progress);
    }
    if (!has_mates) return std::nullopt;
    const bool is_behind = rejoin.until_progress > waiting.progress;
    if (!is_ending || !is_behind) rejoin.until_progress = 0;
    if (is_ending) rejoin.at_s += is_behind ? kGroupGrace_s : kGroupTimeout_s;
    if (is_beside) rejoin.at_s = std::max({rejoin.at_s, beside_at_s, stuck_at_s});
    if (rejoin.at_s == std::numeric_limits<double>::infinity()) return std::nullopt;
    return rejoin;
}

/// Their slice is that of the group.
void Turns::let_mates_rejoin(double now_s, std::vector<TurnOrder>& orders)
{
    for (const auto& [name, client] : clients_) {
        if (client.state != State::kWaiting) continue;
        const std::optional<Rejoin> rejoin = rejoin_of(name, client);
        if (!rejoin || now_s < rejoin->at_s) continue;
        start(name, now_s, rejoin->slice_since_s, orders);
        orders.back().until_progress = rejoin->until_progress;
    }
}

/// The turn of a group is one turn: it ends since the first of them was told so.
void Turns::inherit_end(const std::string& name, Client& running, double now_s) const
{
    running.ending_since_s = now_s;
    for (const auto& [other_name, other] : clients_) {
        if (other_name != name && other.state == State::kRunning && other.told != Told::kNothing &&
            are_mates(other, running))
            running.ending_since_s = std::min(running.ending_since_s, other.ending_since_s);
    }
}

/// As ends_at_s(), of one that was told to end. Who got the turn again has it for some time, so that the others get
/// from it what they wait for; those that give it back and get it again in a circle hang, too.
double Turns::group_ends_at_s(const Client& running) const
{
    const double between_kernels_s = running.ending_since_s + settings_.most_wait_s;
    if (running.told == Told::kToEndAfterIteration) return std::max(between_kernels_s, running.since_s + kGroupMin_s);
    if (running.told != Told::kToEndNow || settings_.most_overrun_s <= 0)
        return std::numeric_limits<double>::infinity();
    const double overrun_s = 1.25 * settings_.most_overrun_s;
    return std::min(running.told_at_s + overrun_s,
                    std::max(between_kernels_s + 2 * overrun_s, running.since_s + 2 * kGroupMin_s));
}

} // namespace fathom::gpu
