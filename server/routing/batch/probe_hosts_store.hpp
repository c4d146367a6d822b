#pragma once

#include "core/schedule/probe_hosts.hpp"
#include "server/store/transaction.hpp"

#include <set>
#include <string>

namespace fathom::server {

/// The hosts of these centers, as far as their agents say them, and how many probes each has. Blocks; pqxx's exceptions
/// pass through.
/// @param centers  ids or names.
ProbeHostsOfCenters select_probe_hosts(pqxx::work& transaction, const std::set<std::string>& centers);

} // namespace fathom::server
