#pragma once

#include "server/api/unknown_projects.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/identity/principal.hpp"
#include "server/jobs/job_record.hpp"

#include <set>
#include <string>
#include <vector>

/// What is refused when jobs are submitted. Errors name their fields, with `[i].` before them for kMany.
namespace fathom::server {

/// Whether one job was sent, or an array.
enum class JobBatch { kOne, kMany };

/// One look at all jobs with one catalog; completes their operators. May be called again on the same jobs with a newer
/// catalog after errors.
/// @error kInvalid     unknown operators, parameters out of range; terms that this network cannot keep.
/// @error kInfeasible  no unit type could ever run one of them, or the budget of a project is used up.
Result<void> check_jobs(std::vector<JobSpec>& specs, const CatalogSnapshot& catalog, Timestamp now, JobBatch batch);

/// Whether this caller may submit jobs of these projects.
/// @error kForbidden  one of them has members, and the caller is none and does not manage the network.
Result<void> check_membership(const std::vector<JobSpec>& specs, const Principal& caller,
                              const CatalogSnapshot& catalog, JobBatch batch);

/// Whether this caller may submit jobs of these priorities, which count against the jobs of others.
/// @param most  priority that every submitter may give.
/// @error kForbidden  one of them is higher, and the caller does not manage the network.
Result<void> check_priorities(const std::vector<JobSpec>& specs, const Principal& caller, std::int64_t most,
                              JobBatch batch);

/// Whether check_limits() has anything to look at.
bool have_limits(const std::vector<AdmittedJob>& jobs, const CatalogSnapshot& catalog);
/// Deadlines, budgets and quotas by what is predicted, of jobs whose operators and types are known. May take as long as
/// many decisions: not for a thread that must not wait.
/// @param owner  who submits them: what its runs teach predicts them.
/// @error kInfeasible  no place can keep them, with what could be kept instead.
Result<void> check_limits(const std::vector<AdmittedJob>& jobs, const std::string& owner,
                          const CatalogSnapshot& catalog, Timestamp now, JobBatch batch);

/// The projects of these jobs that have no settings.
std::set<std::string, std::less<>> projects_without_settings(const std::vector<JobSpec>& specs,
                                                             const CatalogSnapshot& catalog);
/// @param unknown  projects that there are not.
/// @error kInvalid  one of the jobs is of such a project, with the name that was probably meant.
Result<void> refuse_unknown_projects(const std::vector<JobSpec>& specs,
                                     const std::set<std::string, std::less<>>& unknown, const CatalogSnapshot& catalog,
                                     JobBatch batch);

} // namespace fathom::server
