#pragma once

#include "server/routing/batch/routing_store.hpp"

#include <compare>
#include <map>
#include <string>
#include <vector>

/// Jobs that must start together. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through.
namespace fathom::server {

struct GangKey {
    std::string project;
    std::string submitter; ///< nobody else's job can join it, or keep it waiting
    std::string id;
    auto operator<=>(const GangKey&) const = default;
};

/// The key of a job's gang; without an id when it has none.
inline GangKey gang_key(const WaitingJob& job)
{
    return {job.spec.project, job.submitter, job.spec.gang.id};
}

/// More members than any gang can ask for: of each only so many are claimed at once, and counted in each state one
/// more, which stands for any number.
inline constexpr std::int64_t kMaxGangMembers = 1000;

/// Where the members of a gang are.
struct GangMembers {
    std::int64_t queued{};
    std::int64_t metering{};  ///< their types are measured first
    std::int64_t gone{};      ///< ended: cancelled, or past their deadline, or run before
    std::int64_t live{};      ///< started before
    std::int64_t cancelled{}; ///< of those that are gone
};
std::map<GangKey, GangMembers> count_gang_members(pqxx::work& transaction, const std::vector<GangKey>& gangs);

struct GangClaim {
    std::vector<WaitingJob> jobs;
    std::size_t gangs{}; ///< so many of those asked for were claimed, at least the first; the others not at all
};
/// The oldest members that can be claimed now and are not among `claimed`, locked as claim_waiting_jobs() does. Gangs
/// are taken in the order in which they are given, until there are members enough for one batch.
GangClaim claim_gang_members(pqxx::work& transaction, const std::vector<GangKey>& gangs,
                             const std::vector<std::string>& claimed, const ClaimTerms& terms, KnownSpecs& specs);

} // namespace fathom::server
