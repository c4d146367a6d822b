#include "core/decide/gpu_memory/turns.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace fathom::gpu {

void Turns::add(const std::string& client, const TurnClient& how, double now_s)
{
    if (clients_.contains(client)) return;
    Client made;
    made.how = how;
    made.claimed = how.gpus;
    made.since_s = now_s;
    // Who comes later has no right to the time that passed before.
    made.pass = least_pass();
    clients_.emplace(client, std::move(made));
    note_group(how.group, now_s);
}

void Turns::use(const std::string& client, const std::string& gpu, double now_s)
{
    const auto found = clients_.find(client);
    if (found == clients_.end() || !found->second.how.gpus.insert(gpu).second) return;
    found->second.claimed.insert(gpu);
    note_group(found->second.how.group, now_s);
}

void Turns::stop(const std::string& client, double now_s)
{
    give_back(client, now_s);
    if (const auto found = clients_.find(client); found != clients_.end()) set_state(found->second, State::kIdle);
}

void Turns::remove(const std::string& client, double now_s)
{
    const auto found = clients_.find(client);
    if (found == clients_.end()) return;
    set_state(found->second, State::kIdle);
    const std::string group = found->second.how.group;
    clients_.erase(found);
    note_group(group, now_s);
}

void Turns::set_state(Client& client, State state)
{
    if (client.state == State::kWaiting) --waiting_count_;
    if (state == State::kWaiting) ++waiting_count_;
    client.state = state;
    client.told = Told::kNothing;
    if (client.parts) --parting_count_;
    client.parts.reset();
}

void Turns::want(const std::string& client, double now_s)
{
    const auto found = clients_.find(client);
    if (found == clients_.end() || found->second.state != State::kIdle) return;
    set_state(found->second, State::kWaiting);
    found->second.since_s = now_s;
    // Nor to the time in which it did not want the GPU.
    found->second.pass = std::max(found->second.pass, least_pass());
}

void Turns::keep(const std::string& client, double now_s)
{
    const auto found = clients_.find(client);
    if (found == clients_.end() || found->second.state == State::kRunning) return;
    const std::size_t holders = holders_beside(client).size();
    if (holders >= settings_.at_once || (holders > 0 && found->second.is_together)) return;
    set_state(found->second, State::kRunning);
    found->second.since_s = found->second.slice_since_s = now_s;
}

void Turns::part(const std::string& client, double now_s)
{
    part(client, TurnAction::kEndAfterIteration, now_s);
}

void Turns::part_now(const std::string& client, double now_s)
{
    part(client, TurnAction::kEndNow, now_s);
}

void Turns::part(const std::string& client, TurnAction how, double now_s)
{
    const auto found = clients_.find(client);
    if (found == clients_.end() || found->second.state != State::kRunning) return;
    Client& one = found->second;
    const Told told = how == TurnAction::kEndNow ? Told::kToEndNow : Told::kToEndAfterIteration;
    if (one.told >= told || one.parts == TurnAction::kEndNow) return; // it hears that already
    if (!one.parts) {
        ++parting_count_;
        one.parts_at_s = now_s;
    }
    one.parts = how;
}

void Turns::give_back(const std::string& client, double now_s)
{
    const auto found = clients_.find(client);
    if (found == clients_.end() || found->second.state != State::kRunning) return;
    Client& one = found->second;
    const double used_s = std::max(0.0, now_s - one.since_s);
    one.used_s += used_s;
    one.pass += used_s / one.how.share;
    set_state(one, State::kIdle);
    one.since_s = now_s;
}

/// Of those that want or have the GPU: a client that did nothing for long would hold it down for ever.
double Turns::least_pass() const
{
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [name, client] : clients_) {
        if (client.state != State::kIdle) least = std::min(least, client.pass);
    }
    return least == std::numeric_limits<double>::infinity() ? 0 : least;
}

std::vector<const std::string*> Turns::waiting_in_order(double now_s) const
{
    std::vector<const std::pair<const std::string, Client>*> waiting;
    for (const auto& entry : clients_) {
        if (entry.second.state == State::kWaiting) waiting.push_back(&entry);
    }
    const auto is_overdue = [&](const Client& client) { return now_s - client.since_s >= settings_.most_wait_s; };
    std::sort(waiting.begin(), waiting.end(), [&](const auto* left, const auto* right) {
        const Client& a = left->second;
        const Client& b = right->second;
        if (is_overdue(a) != is_overdue(b)) return is_overdue(a);
        if (is_overdue(a) && a.since_s != b.since_s) return a.since_s < b.since_s;
        if (a.how.priority != b.how.priority) return a.how.priority > b.how.priority;
        if (a.pass != b.pass) return a.pass < b.pass;
        if (a.since_s != b.since_s) return a.since_s < b.since_s;
        return left->first < right->first;
    });
    std::vector<const std::string*> names;
    names.reserve(waiting.size());
    for (const auto* entry : waiting)
        names.push_back(&entry->first);
    return names;
}

bool Turns::blocks_someone(const std::string& client, const Client& running) const
{
    return std::any_of(clients_.begin(), clients_.end(), [&](const auto& other) {
        return other.first != client && other.second.state == State::kWaiting && are_in_conflict(other.second, running);
    });
}

/// When the next order follows that ends a turn for which somebody waits. An iteration gets as much time to end after
/// the slice whenever others begin to wait; who hangs a quarter more than its own library, which says why it ends it.
double Turns::ends_at_s(const Client& running) const
{
    if (running.is_together && running.told != Told::kNothing) return group_ends_at_s(running);
    switch (running.told) {
    case Told::kNothing:
        return running.slice_since_s + settings_.slice_s;
    case Told::kToEndAfterIteration:
        return running.told_at_s + settings_.most_slice_s - settings_.slice_s;
    case Told::kToEndNow:
        if (settings_.most_overrun_s > 0) return running.told_at_s + 1.25 * settings_.most_overrun_s;
        break;
    case Told::kThatItHangs:
        break;
    }
    return std::numeric_limits<double>::infinity();
}

void Turns::tell_end(const std::string& name, Client& running, double now_s, std::vector<TurnOrder>& orders) const
{
    if (now_s < ends_at_s(running)) return;
    if (running.told == Told::kNothing) inherit_end(name, running, now_s);
    constexpr std::array kActions{TurnAction::kEndAfterIteration, TurnAction::kEndNow, TurnAction::kEndByForce};
    orders.push_back({name, kActions.at(static_cast<std::size_t>(running.told))});
    running.told = static_cast<Told>(static_cast<int>(running.told) + 1);
    running.told_at_s = now_s;
}

void Turns::tell_parting(const std::string& name, Client& running, double now_s, std::vector<TurnOrder>& orders)
{
    if (!running.parts) return;
    orders.push_back({name, *running.parts});
    if (running.told == Told::kNothing) inherit_end(name, running, now_s);
    running.told = *running.parts == TurnAction::kEndNow ? Told::kToEndNow : Told::kToEndAfterIteration;
    running.told_at_s = now_s;
    running.parts.reset();
    --parting_count_;
}

void Turns::start(const std::string& name, double now_s, double slice_since_s, std::vector<TurnOrder>& orders)
{
    Client& client = clients_.at(name);
    client.longest_wait_s = std::max(client.longest_wait_s, now_s - client.since_s);
    set_state(client, State::kRunning);
    client.since_s = now_s;
    client.slice_since_s = slice_since_s;
    orders.push_back({name, TurnAction::kStart});
}

/// Who uses one of the GPUs of these that have the turn, where each of its GPUs has room for one more and nobody else
/// has a turn. The GPUs are counted once, so that thousands that wait cost no more than few.
std::vector<std::string> Turns::who_may_join(const std::vector<std::string>& holders, double now_s) const
{
    std::map<std::string, std::size_t> held;
    std::set<std::string> full; ///< or of others
    for (const auto& [name, other] : clients_) {
        if (other.state != State::kRunning) continue;
        if (std::find(holders.begin(), holders.end(), name) == holders.end()) {
            full.insert(other.claimed.begin(), other.claimed.end());
            continue;
        }
        // Beside a group nobody goes: who slows down one of it slows down all of them.
        if (other.is_together) full.insert(other.claimed.begin(), other.claimed.end());
        for (const std::string& gpu : other.claimed) {
            if (++held[gpu] >= settings_.at_once) full.insert(gpu);
        }
    }
    std::vector<std::string> names;
    if (std::all_of(held.begin(), held.end(), [&](const auto& entry) { return full.contains(entry.first); }))
        return names;
    const auto is_held = [&](const std::string& gpu) { return held.contains(gpu); };
    for (const std::string* name : waiting_in_order(now_s)) {
        if (names.size() == kMaxAtOnce) break;
        const Client& client = clients_.at(*name);
        if (client.is_together) continue;
        const std::set<std::string>& gpus = client.claimed;
        if (std::any_of(gpus.begin(), gpus.end(), is_held) && !have_common(gpus, full)) names.push_back(*name);
    }
    return names;
}

/// Beside those whose turn ends already nobody begins: who waits for it comes first.
bool Turns::let_one_go_beside(const std::string& holder, double now_s, const ChoosePartner& choose,
                              std::vector<TurnOrder>& orders)
{
    std::vector<std::string> holders = holders_beside(holder);
    holders.push_back(holder);
    std::sort(holders.begin(), holders.end());
    double slice_since_s = now_s;
    for (const std::string& name : holders) {
        if (is_ending(name)) return false;
        slice_since_s = std::min(slice_since_s, clients_.at(name).slice_since_s);
    }
    const std::vector<std::string> waiting = who_may_join(holders, now_s);
    if (waiting.empty()) return false;
    const std::string chosen = choose(holders, waiting);
    if (std::find(waiting.begin(), waiting.end(), chosen) == waiting.end()) return false;
    start(chosen, now_s, slice_since_s, orders);
    return true;
}

std::vector<TurnOrder> Turns::decide(double now_s, const ChoosePartner& choose)
{
    if (waiting_count_ == 0 && parting_count_ == 0) return {};
    std::vector<TurnOrder> orders;
    let_mates_rejoin(now_s, orders);
    std::set<std::string> busy;
    for (const auto& [name, client] : clients_) {
        if (client.state == State::kRunning) busy.insert(client.claimed.begin(), client.claimed.end());
    }
    for (const std::string* name : waiting_in_order(now_s)) {
        const Client& client = clients_.at(*name);
        if (client.state != State::kWaiting) continue;
        const bool is_free = !have_common(client.claimed, busy);
        // Also where it must wait: who is behind it does not take the GPUs that it needs.
        busy.insert(client.claimed.begin(), client.claimed.end());
        if (!is_free) continue;
        start(*name, now_s, now_s, orders);
        let_mates_rejoin(now_s, orders);
    }
    if (settings_.at_once > 1 && choose) {
        const auto joins = [&](const auto& entry) {
            return entry.second.state == State::kRunning && let_one_go_beside(entry.first, now_s, choose, orders);
        };
        // From the beginning each time: who was let go is a holder now.
        while (waiting_count_ > 0 && std::any_of(clients_.begin(), clients_.end(), joins)) {
        }
    }
    for (auto& [name, client] : clients_) {
        if (client.state != State::kRunning) continue;
        tell_parting(name, client, now_s, orders);
        if (blocks_someone(name, client)) tell_end(name, client, now_s, orders);
    }
    return orders;
}

double Turns::next_moment_s() const
{
    double next = std::numeric_limits<double>::infinity();
    if (waiting_count_ == 0 && parting_count_ == 0) return next;
    for (const auto& [name, client] : clients_) {
        if (client.state == State::kWaiting) {
            if (const std::optional<Rejoin> rejoin = rejoin_of(name, client)) next = std::min(next, rejoin->at_s);
        }
        if (client.state != State::kRunning) continue;
        if (client.parts) next = std::min(next, client.parts_at_s);
        if (blocks_someone(name, client)) next = std::min(next, ends_at_s(client));
    }
    return next;
}

bool Turns::is_ending(const std::string& client) const
{
    const auto found = clients_.find(client);
    return found != clients_.end() && (found->second.told != Told::kNothing || found->second.parts);
}

std::vector<std::string> Turns::holders_beside(const std::string& client) const
{
    std::vector<std::string> holders;
    const auto found = clients_.find(client);
    if (found == clients_.end()) return holders;
    for (const auto& [name, other] : clients_) {
        if (name != client && other.state == State::kRunning && are_in_conflict(other, found->second))
            holders.push_back(name);
    }
    return holders;
}

bool Turns::has_turn(const std::string& client) const
{
    const auto found = clients_.find(client);
    return found != clients_.end() && found->second.state == State::kRunning;
}

double Turns::used_s(const std::string& client) const
{
    const auto found = clients_.find(client);
    return found == clients_.end() ? 0 : found->second.used_s;
}

double Turns::longest_wait_s(const std::string& client) const
{
    const auto found = clients_.find(client);
    return found == clients_.end() ? 0 : found->second.longest_wait_s;
}

} // namespace fathom::gpu
