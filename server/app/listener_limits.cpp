#include "server/app/listener_limits.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::size_t kOtherDescriptors = 96; // beside the database's connections
constexpr std::size_t kMinConnections = 16;
constexpr std::size_t kMaxAgents = 50'000;
/// Of agents at the same time: a second's work of one slow processor. Agents come back by themselves.
constexpr std::size_t kAgentHandshakes = 128;

} // namespace

ListenerLimits listener_limits(const ServerSettings& settings, std::size_t descriptors)
{
    const std::size_t others = kOtherDescriptors + settings.database_connections;
    const std::size_t left = descriptors > others ? descriptors - others : 0;
    ListenerLimits limits;
    limits.rest.connections = std::clamp(left / 3, kMinConnections, limits.rest.connections);
    limits.rest.connections_of_one_network = settings.connections_of_one_address;
    limits.rest.proxies = settings.proxies;
    limits.agents = limits.rest;
    limits.agents.connections = std::clamp(left - std::min(left, limits.rest.connections), kMinConnections, kMaxAgents);
    limits.agents.handshakes = kAgentHandshakes;
    limits.agents.connections_for_certificates = limits.agents.connections / 2;
    return limits;
}

} // namespace fathom::server
