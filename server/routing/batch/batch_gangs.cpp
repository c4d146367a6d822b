#include "server/routing/batch/batch_gangs.hpp"

#include <algorithm>
#include <map>

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

/// Adds those of a gang's members that are decided now; the others wait, for what the counts of all say.
void gather_gang(const std::string& gang, const std::vector<std::size_t>& members, const GangMembers& count,
                 std::vector<BatchJob>& jobs, DecidableJobs& decidable)
{
    // Members that name different sizes wait for the largest.
    std::int64_t size = 0;
    for (const std::size_t member : members)
        size = std::max(size, jobs[member].job.spec.gang.size);
    // More than the gang takes: the oldest start, the others wait for a gang of their own.
    const bool is_complete = std::ssize(members) >= size;
    std::int64_t starting = 0;
    for (const std::size_t member : members) {
        BatchJob& ready = jobs[member];
        ready.job.spec.gang.size = size;
        if (is_complete && starting < size) {
            ++starting;
            decidable.jobs.push_back(member);
            continue;
        }
        const std::string reason =
            is_complete ? surplus_reason(gang, size, std::ssize(members) - size) : gang_reason(gang, size, count);
        ++decidable.waiting;
        decidable.notes.note_reason(ready.job, reason);
        decidable.notes.note_rank(ready.job, kLastRank);
    }
}

/// What a gang needs at least, and all that there is where any of its members could ever run.
struct GangNeed {
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

/// Of the gangs whose members wait.
std::map<GangKey, GangNeed> gang_needs(const UnitLedger& network, const std::vector<ScheduledWait>& waits,
                                       const std::vector<BatchJob>& jobs, const std::vector<std::size_t>& decided)
{
    std::map<std::string, std::int64_t> sizes;
    std::map<GangKey, GangNeed> needs;
    for (const ScheduledWait& wait : waits) {
        const BatchJob& ready = jobs[decided[wait.job]];
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

void settle_impossible_gang(const std::string& gang, const GangNeed& need, ImpossibleGangs& impossible)
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
            ++impossible.waiting;
            impossible.notes.note_reason(*job, cannot);
            impossible.notes.note_rank(*job, kLastRank);
            continue;
        }
        impossible.ends.push_back({job->id, job->label, "gang " + gang + " can never" + why});
    }
}

} // namespace

std::string gang_text(const WaitingJob& job)
{
    const JobSpec& spec = job.spec;
    return spec.gang.id.empty() ? std::string() : spec.project + '\n' + job.submitter + '\n' + spec.gang.id;
}

DecidableJobs leave_out_gangs(pqxx::work& transaction, std::vector<BatchJob>& jobs)
{
    DecidableJobs decidable;
    std::map<GangKey, std::vector<std::size_t>> gangs;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const JobSpec& spec = jobs[i].job.spec;
        if (spec.gang.id.empty())
            decidable.jobs.push_back(i);
        else
            gangs[gang_key(jobs[i].job)].push_back(i);
    }
    if (gangs.empty()) return decidable;
    std::vector<GangKey> keys;
    for (const auto& [key, members] : gangs)
        keys.push_back(key);
    const std::map<GangKey, GangMembers> counts = count_gang_members(transaction, keys);
    for (const auto& [key, members] : gangs) {
        const auto count = counts.find(key);
        gather_gang(key.id, members, count == counts.end() ? GangMembers() : count->second, jobs, decidable);
    }
    std::sort(decidable.jobs.begin(), decidable.jobs.end());
    return decidable;
}

ImpossibleGangs find_impossible_gangs(const UnitLedger& network, const std::vector<ScheduledWait>& waits,
                                      const std::vector<BatchJob>& jobs, const std::vector<std::size_t>& decided)
{
    ImpossibleGangs impossible;
    const std::map<GangKey, GangNeed> needs = gang_needs(network, waits, jobs, decided);
    for (const auto& [key, need] : needs) {
        if (!need.is_impossible()) continue;
        settle_impossible_gang(key.id, need, impossible);
        for (const WaitingJob* job : need.members)
            impossible.members.insert(job->id.value);
    }
    return impossible;
}

} // namespace fathom::server
