#pragma once

#include "server/routing/routing_store.hpp"

#include <compare>
#include <map>
#include <string>
#include <vector>

/// Jobs that must start together. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through.
namespace fathom::server {

struct GangKey {
    std::string project;
    std::string id;
    auto operator<=>(const GangKey&) const = default;
};

/// Where the members of a gang are.
struct GangMembers {
    std::int64_t queued{};
    std::int64_t metering{};  ///< their types are measured first
    std::int64_t gone{};      ///< ended: cancelled, or past their deadline, or run before
    std::int64_t live{};      ///< started before
    std::int64_t cancelled{}; ///< of those that are gone
};
std::map<GangKey, GangMembers> count_gang_members(pqxx::work& transaction, const std::vector<GangKey>& gangs);

/// The members that can be claimed now and are not among `claimed`, locked as claim_waiting_jobs() does.
std::vector<WaitingJob> claim_gang_members(pqxx::work& transaction, const std::vector<GangKey>& gangs,
                                           const std::vector<std::string>& claimed,
                                           const std::vector<std::string>& metered_types);

} // namespace fathom::server
