#include "server/routing/batch/batch_claim.hpp"

#include "server/routing/batch/gang_store.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace fathom::server {
namespace {

/// The oldest waiting jobs are in the first batch of each cycle, whatever their priority ranks: so many, and of a short
/// batch one more to four in turn.
constexpr std::int64_t kOldestJobs = 64;

void append(std::vector<WaitingJob>& jobs, std::vector<WaitingJob> more)
{
    jobs.insert(jobs.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Adds the other members of the gangs of `jobs`. @return the gangs that this batch has no room for
std::set<GangKey> claim_gangs(pqxx::work& transaction, CycleCursor& cursor, const ClaimTerms& terms,
                              std::vector<WaitingJob>& jobs, KnownSpecs& specs)
{
    std::set<GangKey> known = cursor.gangs;
    std::vector<GangKey> gangs;
    std::vector<std::string> ids;
    for (const WaitingJob& job : jobs) {
        ids.push_back(job.id.value);
        if (!job.spec.gang.id.empty() && known.insert(gang_key(job)).second) gangs.push_back(gang_key(job));
    }
    if (gangs.empty()) return {};
    GangClaim claimed = claim_gang_members(transaction, gangs, ids, terms, specs);
    append(jobs, std::move(claimed.jobs));
    const auto first_left = gangs.begin() + static_cast<std::ptrdiff_t>(claimed.gangs);
    cursor.gangs.insert(gangs.begin(), first_left);
    return {first_left, gangs.end()};
}

/// Leaves gangs to the next batch, which begins with the first of them.
/// @param ranked_count  how many of the jobs, from the first, are in the batch because of their priority rank.
void end_before(const std::set<GangKey>& left, ClaimedBatch& batch, std::ptrdiff_t ranked_count)
{
    std::vector<WaitingJob>& jobs = batch.jobs;
    const auto is_left = [&left](const WaitingJob& job) { return left.contains(gang_key(job)); };
    const auto ranked_end = jobs.begin() + ranked_count;
    const auto cut = std::find_if(jobs.begin(), ranked_end, is_left);
    if (cut != ranked_end && cut != jobs.begin()) {
        batch.is_end = false;
        batch.next.after = {std::prev(cut)->priority_rank, std::prev(cut)->id.value};
        // Members of gangs that were claimed stay with them.
        jobs.erase(std::remove_if(cut, ranked_end, [](const WaitingJob& job) { return job.spec.gang.id.empty(); }),
                   ranked_end);
    }
    // Of the oldest jobs these come by their priority rank.
    std::erase_if(jobs, is_left);
}

} // namespace

ClaimedBatch claim_batch(pqxx::work& transaction, CycleCursor state, std::int64_t limit, const std::string& replica,
                         KnownSpecs& specs)
{
    ClaimedBatch batch{{}, std::move(state), false};
    CycleCursor& cursor = batch.next;
    std::vector<WaitingJob>& jobs = batch.jobs;
    const bool is_first = cursor.after == LinePlace{};
    const ClaimTerms terms{replica, cursor.metered_types};
    jobs = claim_waiting_jobs(transaction, {cursor.after, limit, terms}, specs);
    // A short batch is not the end when other replicas held rows; the next tick sees those.
    batch.is_end = std::ssize(jobs) < limit;
    if (!jobs.empty()) cursor.after = {jobs.back().priority_rank, jobs.back().id.value};
    // A batch of one job is there to find the one that cannot be routed: it is looked at alone.
    const bool is_alone = limit == 1;
    if (!is_alone) {
        const std::ptrdiff_t ranked_count = std::ssize(jobs);
        // A short batch has the oldest, too.
        if (is_first && !batch.is_end)
            append(jobs, claim_oldest_jobs(transaction, std::min(kOldestJobs, limit / 4), terms, specs));
        const std::set<GangKey> left = claim_gangs(transaction, cursor, terms, jobs, specs);
        if (!left.empty()) end_before(left, batch, ranked_count);
    }
    std::erase_if(jobs, [&](const WaitingJob& job) {
        return (is_alone && !job.spec.gang.id.empty()) || !cursor.seen.insert(job.id.value).second;
    });
    std::sort(jobs.begin(), jobs.end(),
              [](const WaitingJob& a, const WaitingJob& b) { return a.id.value < b.id.value; });
    return batch;
}

} // namespace fathom::server
