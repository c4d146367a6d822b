#include "server/routing/batch/gang_store.hpp"

#include "server/store/index_order.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <iterator>

namespace fathom::server {
namespace {

// `gang <> ''` is what the indexes ask for. Counts end at $4: a gang's name may have been used by any number of jobs.
constexpr const char* kCountMembers = R"sql(
    SELECT g.project, g.submitter, g.gang, s.state, m.count
    FROM unnest($1::text[], $2::text[], $3::text[]) AS g (project, submitter, gang)
         CROSS JOIN unnest('{queued,metering,placed,dispatched,running,lost,succeeded,failed,cancelled}'::text[])
                    AS s (state)
         CROSS JOIN LATERAL (
             SELECT count(*) AS count
             FROM (SELECT 1 FROM job j
                   WHERE j.project = g.project AND j.submitted_by = g.submitter AND j.gang = g.gang AND j.gang <> ''
                     AND j.state = s.state
                   LIMIT $4) AS found) AS m
    WHERE m.count > 0)sql";

// Gang after gang, so that the outer limit ends the work.
constexpr const char* kClaimGangs = R"sql(
    SELECT m.*, g.place
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS g (project, submitter, gang, place) CROSS JOIN LATERAL ()sql";
constexpr const char* kMembers = R"sql(
    FROM job j
    WHERE j.gang <> '' AND j.project = g.project AND j.submitted_by = g.submitter AND j.gang = g.gang
      AND j.state IN ('queued', 'metering')
      AND j.cancel_requested_at IS NULL AND j.id <> ALL ($4::text[])
      AND (j.state = 'queued' OR j.metering_until <= now() OR j.job_type = ANY ($5::text[]))
      AND j.id NOT IN (SELECT unnest(job_ids) FROM routing_claim WHERE replica <> $8 AND until > now())
    ORDER BY j.id LIMIT $6 FOR UPDATE SKIP LOCKED) AS m
    ORDER BY g.place LIMIT $7)sql";

/// No further gang is claimed after so many members.
constexpr std::int64_t kEnoughMembers = 2 * kMaxGangMembers;

struct GangArrays {
    std::string projects;
    std::string submitters;
    std::string ids;
};

GangArrays arrays_of(const std::vector<GangKey>& gangs)
{
    SqlArray projects;
    SqlArray submitters;
    SqlArray ids;
    for (const GangKey& gang : gangs) {
        projects.add(gang.project);
        submitters.add(gang.submitter);
        ids.add(gang.id);
    }
    return {projects.take(), submitters.take(), ids.take()};
}

} // namespace

std::map<GangKey, GangMembers> count_gang_members(pqxx::work& transaction, const std::vector<GangKey>& gangs)
{
    std::map<GangKey, GangMembers> members;
    const GangArrays arrays = arrays_of(gangs);
    for (const pqxx::row& row :
         transaction.exec_params(kCountMembers, arrays.projects, arrays.submitters, arrays.ids, kMaxGangMembers + 1)) {
        GangMembers& gang = members[{row["project"].as<std::string>(), row["submitter"].as<std::string>(),
                                     row["gang"].as<std::string>()}];
        const auto state = row["state"].as<std::string>();
        const auto count = row["count"].as<std::int64_t>();
        if (state == "queued")
            gang.queued += count;
        else if (state == "metering")
            gang.metering += count;
        else if (is_final(parse_job_state(state).value_or(JobState::kQueued)))
            gang.gone += count;
        else
            gang.live += count;
        if (state == "cancelled") gang.cancelled += count;
    }
    return members;
}

GangClaim claim_gang_members(pqxx::work& transaction, const std::vector<GangKey>& gangs,
                             const std::vector<std::string>& claimed, const ClaimTerms& terms, KnownSpecs& specs)
{
    static const std::string statement = std::string(kClaimGangs) + kWaitingJobColumns + kMembers;
    const GangArrays arrays = arrays_of(gangs);
    prefer_index_order(transaction);
    const pqxx::result rows = transaction.exec_params(statement, arrays.projects, arrays.submitters, arrays.ids,
                                                      sql_array(claimed), sql_array(terms.metered_types),
                                                      kMaxGangMembers, kEnoughMembers + kMaxGangMembers, terms.replica);
    prefer_any_plan(transaction);
    GangClaim claim;
    claim.gangs = gangs.size();
    std::size_t last = 0;
    for (const pqxx::row& row : rows) {
        const auto place = row["place"].as<std::size_t>();
        if (place != last && std::ssize(claim.jobs) >= kEnoughMembers) {
            claim.gangs = place - 1;
            break;
        }
        last = place;
        claim.jobs.push_back(to_waiting_job(row, specs));
    }
    return claim;
}

} // namespace fathom::server
