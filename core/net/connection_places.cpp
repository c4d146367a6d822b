#include "core/net/connection_places.hpp"

namespace fathom::net {
namespace {

constexpr std::chrono::seconds kSlowFor{10};

} // namespace

ConnectionPlaces::Admission ConnectionPlaces::take(Id connection, const std::string& network, Time now)
{
    Admission admission;
    if (is_full(network)) {
        admission.answer = Answer::kNetworkFull;
        return admission;
    }
    if (are_handshakes_full()) {
        if (is_slow(network, now)) {
            admission.answer = Answer::kNetworkFull;
            return admission;
        }
        if (!may_end_oldest(now)) {
            admission.answer = Answer::kManyHandshakes;
            return admission;
        }
        admission.gave_way = handshakes_.front();
        end_oldest(now);
    } else if (places_.size() >= limits_.connections) {
        if (limits_.for_certificates == 0 || handshakes_.empty()) {
            admission.answer = Answer::kServerFull;
            return admission;
        }
        admission.gave_way = handshakes_.front();
        give_back(admission.gave_way);
    }
    Place place;
    remember_network(place, network);
    place.since = now;
    place.in_handshake = handshakes_.insert(handshakes_.end(), connection);
    places_.emplace(connection, std::move(place));
    return admission;
}

bool ConnectionPlaces::set_network(Id connection, const std::string& network, Time now)
{
    const auto found = find_unknown(connection);
    if (found == places_.end() || is_full(network)) return false;
    if (are_handshakes_full() && is_slow(network, now)) return false;
    forget_network(found->second);
    remember_network(found->second, network);
    return true;
}

std::unordered_map<ConnectionPlaces::Id, ConnectionPlaces::Place>::iterator
ConnectionPlaces::find_unknown(Id connection)
{
    const auto found = places_.find(connection);
    return found == places_.end() || found->second.kind != Kind::kUnknown ? places_.end() : found;
}

void ConnectionPlaces::know(Id connection)
{
    const auto found = find_unknown(connection);
    if (found == places_.end()) return;
    Place& place = found->second;
    handshakes_.erase(place.in_handshake);
    forget_network(place);
    place.kind = Kind::kKnown;
}

bool ConnectionPlaces::keep_stranger(Id connection)
{
    const auto found = find_unknown(connection);
    if (found == places_.end()) return false; // gave way meanwhile
    if (strangers_ + limits_.for_certificates >= limits_.connections) return false;
    handshakes_.erase(found->second.in_handshake);
    found->second.kind = Kind::kStranger;
    ++strangers_;
    return true;
}

void ConnectionPlaces::give_back(Id connection)
{
    const auto found = places_.find(connection);
    if (found == places_.end()) return;
    const Place& place = found->second;
    if (place.kind == Kind::kUnknown) handshakes_.erase(place.in_handshake);
    if (place.kind == Kind::kStranger) --strangers_;
    if (place.kind != Kind::kKnown) forget_network(place);
    places_.erase(found);
}

bool ConnectionPlaces::is_full(const std::string& network) const
{
    const auto known = of_network_.find(network);
    return known != of_network_.end() && known->second >= limits_.of_one_network;
}

bool ConnectionPlaces::may_end_oldest(Time now) const
{
    return !handshakes_.empty() && now - places_.at(handshakes_.front()).since >= limits_.handshake_grace;
}

void ConnectionPlaces::end_oldest(Time now)
{
    const Id oldest = handshakes_.front();
    std::erase_if(slow_networks_, [&](const auto& one) { return now - one.second >= kSlowFor; });
    if (const std::string& network = places_.at(oldest).network; !network.empty()) slow_networks_[network] = now;
    give_back(oldest);
}

bool ConnectionPlaces::are_handshakes_full() const
{
    return limits_.handshakes > 0 && handshakes_.size() >= limits_.handshakes;
}

bool ConnectionPlaces::is_slow(const std::string& network, Time now) const
{
    const auto found = slow_networks_.find(network);
    return found != slow_networks_.end() && now - found->second < kSlowFor;
}

void ConnectionPlaces::remember_network(Place& place, const std::string& network)
{
    if (!network.empty()) ++of_network_[network];
    place.network = network;
}

void ConnectionPlaces::forget_network(const Place& place)
{
    if (place.network.empty()) return;
    const auto count = of_network_.find(place.network);
    if (--count->second == 0) of_network_.erase(count);
}

} // namespace fathom::net
