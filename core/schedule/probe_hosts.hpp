#pragma once

#include "core/base/id.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace fathom {

/// The host of a center's units, where one probe at a time is measured (docs/measurement.md "Disturbance").
struct ProbeHost {
    std::int64_t host{};   ///< its number: centers that share the host have the same
    std::int64_t probes{}; ///< of all its centers: those that run, or have units there and wait for others
};

/// By id of the center. Missing: its host is not known, or its units are on many, and its probes wait for no other.
using ProbeHostsOfCenters = std::unordered_map<std::string, ProbeHost>;

/// How many probes the hosts have while a cycle is decided. Not thread-safe.
class ProbeHosts {
  public:
    explicit ProbeHosts(const ProbeHostsOfCenters& hosts);

    /// Whether a probe may start at the center: no more than `ahead` others are at its host, and none has started there
    /// in this cycle.
    bool has_room(const CenterId& center, std::int64_t ahead) const;
    void start(const CenterId& center);

  private:
    const ProbeHostsOfCenters* hosts_; ///< must outlive it
    std::unordered_set<std::int64_t> started_;
};

} // namespace fathom
