#pragma once

#include "server/identity/principal.hpp"

#include <string>
#include <string_view>
#include <vector>

/// SQL: rows of `table` that a JobScope includes. `owner` and `projects` are the statement's parameters for its two
/// parts, the latter as sql_array() has it. The same as JobScope::includes().
#define FATHOM_IN_JOB_SCOPE(table, owner, projects)                                                                    \
    "(" owner " = '' OR " table ".submitted_by = " owner " OR " table ".project = ANY (" projects "::text[])) "

namespace fathom::server {

/// Whose jobs a caller sees.
struct JobScope {
    std::string owner{};                 ///< the token whose jobs; empty: everybody's
    std::vector<std::string> projects{}; ///< besides these, all jobs of these projects

    bool includes(std::string_view submitted_by, std::string_view project) const;
};

JobScope job_scope_of(const Principal& principal);

/// Whether it sees the job by its role alone: the job is neither its own nor of a project that it views or leads.
bool sees_by_role_alone(const Principal& principal, std::string_view submitted_by, std::string_view project);

/// Own jobs, those of projects that it leads, or anybody's where its role says so.
bool may_cancel_job(const Principal& principal, std::string_view submitted_by, std::string_view project);

} // namespace fathom::server
