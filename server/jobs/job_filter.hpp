#pragma once

#include "core/base/clock.hpp"
#include "server/identity/job_scope.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// What a list of jobs is sorted by. Jobs that are equal in it come in the order of their submission; texts, states
/// among them, are in the order of the database.
enum class JobSort { kSubmitted, kName, kProject, kState, kType };
enum class SortDirection { kAscending, kDescending };

struct JobOrder {
    JobSort by = JobSort::kSubmitted;
    SortDirection direction = SortDirection::kDescending; ///< also of jobs that are equal in what they are sorted by
};

/// Which jobs are listed or counted. Empty texts mean any.
struct JobFilter {
    std::string label = "job"; ///< "all" for any
    std::string state{};
    std::string project{};
    JobScope scope{};
    JobOrder order{};
    std::string center{};    ///< id or name; of the newest attempt
    std::string unit_type{}; ///< id, or center/unit_type; of the newest attempt
    std::string job_type{};
    std::string submitted_by{};                  ///< token id
    std::optional<Timestamp> submitted_after{};  ///< then or later
    std::optional<Timestamp> submitted_before{}; ///< earlier than then
    std::string name_prefix{};                   ///< as the name is written, capitals too
};

} // namespace fathom::server
