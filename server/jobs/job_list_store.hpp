#pragma once

#include "core/base/result.hpp"
#include "server/jobs/job_filter.hpp"
#include "server/jobs/job_record.hpp"
#include "server/store/page.hpp"
#include "server/store/transaction.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Lists of jobs and their counts by group. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

/// "name", or "-name" for descending; nullopt for what nothing is sorted by.
std::optional<JobOrder> parse_job_order(std::string_view text);

/// So that sorting and counting take a bounded time, however many jobs are kept.
inline constexpr std::int64_t kMaxSortedJobs = 50000;
/// A page of jobs in the filter's order; `after` is the `next_after` of the page before. Sorted otherwise than by their
/// submission, only the newest kMaxSortedJobs that the filter leaves are listed. Specs over 64 KiB come without their
/// program: files, script, command and environment; where they are larger still, also without inputs, outputs and data.
/// A page has fewer jobs than asked for when these have more than 16 MiB.
/// @error kInvalid  `after` is none of this order's.
Result<Page<JobRecord>> select_jobs(pqxx::work& transaction, const JobFilter& filter, std::int64_t size,
                                    const std::string& after);

enum class JobGrouping { kState, kProject, kType, kCenter };
/// "state", "project", "type" or "center"; nullopt for others.
std::optional<JobGrouping> parse_job_grouping(std::string_view text);

struct JobGroup {
    std::string key; ///< of kCenter the center of the newest attempt, empty for jobs without one
    std::int64_t count{};
    std::map<std::string, std::int64_t> states; ///< its jobs by their state
};
struct JobGroups {
    std::vector<JobGroup> groups; ///< those with most jobs first; at most kMaxJobGroups
    std::int64_t group_count{};   ///< also those that are not among `groups`
    std::int64_t counted{};       ///< jobs; at most kMaxSortedJobs, the newest
};
inline constexpr std::int64_t kMaxJobGroups = 200;

/// The jobs that the filter leaves by group; its order says nothing here.
JobGroups select_job_groups(pqxx::work& transaction, const JobFilter& filter, JobGrouping by);

} // namespace fathom::server
