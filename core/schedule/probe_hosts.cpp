#include "core/schedule/probe_hosts.hpp"

namespace fathom {

ProbeHosts::ProbeHosts(const ProbeHostsOfCenters& hosts) : hosts_(&hosts) {}

bool ProbeHosts::has_room(const CenterId& center, std::int64_t ahead) const
{
    const auto found = hosts_->find(center.value);
    if (found == hosts_->end()) return true;
    return found->second.probes <= ahead && !started_.contains(found->second.host);
}

void ProbeHosts::start(const CenterId& center)
{
    const auto found = hosts_->find(center.value);
    if (found != hosts_->end()) started_.insert(found->second.host);
}

} // namespace fathom
