#include "server/routing/scheduling_batch.hpp"

// Jobs that start together or not at all.

#include <pqxx/pqxx>

#include <algorithm>

namespace fathom::server {
namespace {

/// A network that has lost units may have them back by then.
constexpr double kImpossible_s = 600;

/// Of a count as count_gang_members() makes it.
std::string count_text(std::int64_t count)
{
    return count > kMaxGangMembers ? "more than " + std::to_string(kMaxGangMembers) : std::to_string(count);
}

std::string members_text(std::int64_t count)
{
    return std::to_string(count) + (count == 1 ? " member" : " members");
}

std::string more_members_text(std::int64_t count)
{
    return std::to_string(count) + (count == 1 ? " more member" : " more members");
}

/// Why a member of a gang waits that is not complete.
std::string gang_reason(const std::string& gang, std::int64_t size, const GangMembers& members)
{
    const std::int64_t missing = size - members.queued - members.metering;
    if (missing > 0) {
        std::string reason = "waits for " + more_members_text(missing) + " of gang " + gang;
        if (members.cancelled > 0) reason += "; " + count_text(members.cancelled) + " of it cancelled";
        if (const std::int64_t ended = members.gone - members.cancelled; ended > 0)
            reason += "; " + count_text(ended) + " of it ended";
        if (members.live > 0) reason += "; " + count_text(members.live) + " of it started before";
        return reason;
    }
    if (members.metering > 0)
        return "waits for " + members_text(members.metering) + " of gang " + gang + " whose types are measured first";
    return "waits for the other members of gang " + gang;
}

/// Why a member waits of which the gang has more than it takes.
std::string surplus_reason(const std::string& gang, std::int64_t size, std::int64_t surplus)
{
    const std::string complete = "whose first " + std::to_string(size) + " are complete";
    if (surplus >= size) return "waits behind other members of gang " + gang + ", " + complete;
    return "waits for " + more_members_text(size - surplus) + " of gang " + gang + ", " + complete;
}

bool can_ever_run(const Candidate& candidate)
{
    return candidate.feasible || !candidate.removed_by || !rule_of(*candidate.removed_by).removes_for_good;
}

} // namespace

std::vector<std::size_t> SchedulingBatch::leave_out_gangs(pqxx::work& transaction)
{
    std::vector<std::size_t> decided;
    std::map<GangKey, std::vector<std::size_t>> gangs;
    for (std::size_t i = 0; i < ready_.size(); ++i) {
        const JobSpec& spec = ready_[i].job.spec;
        if (spec.gang.id.empty())
            decided.push_back(i);
        else
            gangs[gang_key(ready_[i].job)].push_back(i);
    }
    if (gangs.empty()) return decided;
    std::vector<GangKey> keys;
    for (const auto& [key, members] : gangs)
        keys.push_back(key);
    const std::map<GangKey, GangMembers> counts = count_gang_members(transaction, keys);
    for (const auto& [key, members] : gangs) {
        const auto count = counts.find(key);
        const std::vector<std::size_t> starting =
            gather_gang(key.id, members, count == counts.end() ? GangMembers() : count->second);
        decided.insert(decided.end(), starting.begin(), starting.end());
    }
    std::sort(decided.begin(), decided.end());
    return decided;
}

std::vector<std::size_t> SchedulingBatch::gather_gang(const std::string& gang, const std::vector<std::size_t>& members,
                                                      const GangMembers& count)
{
    // Members that name different sizes wait for the largest.
    std::int64_t size = 0;
    for (const std::size_t member : members)
        size = std::max(size, ready_[member].job.spec.gang.size);
    // More than the gang takes: the oldest start, the others wait for a gang of their own.
    const bool is_complete = std::ssize(members) >= size;
    std::vector<std::size_t> starting;
    for (const std::size_t member : members) {
        Ready& ready = ready_[member];
        ready.job.spec.gang.size = size;
        if (is_complete && std::ssize(starting) < size) {
            starting.push_back(member);
            continue;
        }
        const std::string reason =
            is_complete ? surplus_reason(gang, size, std::ssize(members) - size) : gang_reason(gang, size, count);
        ++report_.waiting;
        note_reason(ready.job, reason);
        note_rank(ready.job, kLastRank);
    }
    return starting;
}

/// What a gang needs at least, and all that there is where any of its members could ever run.
struct SchedulingBatch::GangNeed {
    std::vector<const WaitingJob*> members;
    std::int64_t units{};
    std::map<std::string, std::int64_t> offered; ///< units, by unit type
    bool is_known = true;                        ///< `offered` is complete

    std::int64_t offered_units() const
    {
        std::int64_t sum = 0;
        for (const auto& [unit_type, units_there] : offered)
            sum += units_there;
        return sum;
    }
    bool is_impossible() const { return is_known && !offered.empty() && units > offered_units(); }
};

std::map<GangKey, SchedulingBatch::GangNeed> SchedulingBatch::gang_needs(const UnitLedger& network,
                                                                         const std::vector<ScheduledWait>& waits) const
{
    std::map<std::string, std::int64_t> sizes;
    std::map<GangKey, GangNeed> needs;
    for (const ScheduledWait& wait : waits) {
        const Ready& ready = ready_[decided_[wait.job]];
        if (ready.job.spec.gang.id.empty()) continue;
        if (sizes.empty()) {
            for (std::size_t i = 0; i < network.views().size(); ++i)
                sizes[network.views().given(i).id.value] = network.views().given(i).unit_count;
        }
        GangNeed& need = needs[gang_key(ready.job)];
        need.members.push_back(&ready.job);
        need.units += ready.request.units.count.value_or(ready.request.units.min);
        if (wait.decision->candidates.size() >= kMaxCandidatesKept) need.is_known = false; // there may be more
        for (const Candidate& candidate : wait.decision->candidates) {
            if (can_ever_run(candidate))
                need.offered[candidate.unit_type_id.value] = sizes[candidate.unit_type_id.value];
        }
    }
    return needs;
}

void SchedulingBatch::settle_impossible_gang(const std::string& gang, const GangNeed& need)
{
    const std::string why = " start together: its " + members_text(std::ssize(need.members)) + " take " +
                            std::to_string(need.units) + " units, and what can run them has " +
                            std::to_string(need.offered_units());
    const std::string cannot = "gang " + gang + " cannot" + why;
    const bool is_final = std::all_of(need.members.begin(), need.members.end(), [&](const WaitingJob* job) {
        return job->waiting_reason == cannot && job->reason_s >= kImpossible_s;
    });
    for (const WaitingJob* job : need.members) {
        if (!is_final) {
            ++report_.waiting;
            note_reason(*job, cannot);
            note_rank(*job, kLastRank);
            continue;
        }
        gang_ends_.push_back({job->id, job->label, "gang " + gang + " can never" + why});
    }
}

std::set<std::string> SchedulingBatch::settle_impossible_gangs(const UnitLedger& network,
                                                               const std::vector<ScheduledWait>& waits)
{
    std::set<std::string> settled;
    for (const auto& [key, need] : gang_needs(network, waits)) {
        if (!need.is_impossible()) continue;
        settle_impossible_gang(key.id, need);
        for (const WaitingJob* job : need.members)
            settled.insert(job->id.value);
    }
    return settled;
}

} // namespace fathom::server
