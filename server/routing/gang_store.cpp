#include "server/routing/gang_store.hpp"

#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// `gang <> ''` is what the index job_gang asks for.
constexpr const char* kCountMembers = R"sql(
    SELECT j.project, j.gang, j.state, count(*) AS count
    FROM unnest($1::text[], $2::text[]) AS g (project, gang)
         JOIN job j ON j.project = g.project AND j.gang = g.gang AND j.gang <> ''
    GROUP BY j.project, j.gang, j.state)sql";

constexpr const char* kMembers = R"sql(
    FROM job
    WHERE gang <> '' AND (project, gang) IN (SELECT * FROM unnest($1::text[], $2::text[]))
      AND state IN ('queued', 'metering') AND cancel_requested_at IS NULL AND id <> ALL ($3::text[])
      AND (state = 'queued' OR metering_until <= now() OR job_type = ANY ($4::text[]))
    ORDER BY id FOR UPDATE SKIP LOCKED)sql";

struct GangArrays {
    std::string projects;
    std::string ids;
};

GangArrays arrays_of(const std::vector<GangKey>& gangs)
{
    SqlArray projects;
    SqlArray ids;
    for (const GangKey& gang : gangs) {
        projects.add(gang.project);
        ids.add(gang.id);
    }
    return {projects.take(), ids.take()};
}

} // namespace

std::map<GangKey, GangMembers> count_gang_members(pqxx::work& transaction, const std::vector<GangKey>& gangs)
{
    std::map<GangKey, GangMembers> members;
    const GangArrays arrays = arrays_of(gangs);
    for (const pqxx::row& row : transaction.exec_params(kCountMembers, arrays.projects, arrays.ids)) {
        GangMembers& gang = members[{row["project"].as<std::string>(), row["gang"].as<std::string>()}];
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

std::vector<WaitingJob> claim_gang_members(pqxx::work& transaction, const std::vector<GangKey>& gangs,
                                           const std::vector<std::string>& claimed,
                                           const std::vector<std::string>& metered_types)
{
    static const std::string claim = std::string(kWaitingJobColumns) + kMembers;
    const GangArrays arrays = arrays_of(gangs);
    std::vector<WaitingJob> jobs;
    for (const pqxx::row& row :
         transaction.exec_params(claim, arrays.projects, arrays.ids, sql_array(claimed), sql_array(metered_types)))
        jobs.push_back(to_waiting_job(row));
    return jobs;
}

} // namespace fathom::server
