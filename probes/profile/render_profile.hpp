#pragma once

#include "probes/profile/profile.hpp"

#include <string>

namespace fathom::profile {

/// For people: operators with sizes, counts, times and shares; what has no operator; the remainder.
std::string profile_table(const Profile& profile);

/// The `operators:` block of a job file, with the notes as comments.
std::string profile_job(const Profile& profile);

/// One JSON object; at most 64 operators and 300 kinds of call are listed. `probe_task` measures what a prediction of
/// the program's run time elsewhere needs (fathom predict): its operators at their own sizes, the remainder included.
Json profile_json(const Profile& profile, const std::vector<OperatorManifest>& library);

/// How many operators `probe_task` leaves out, because they take too little time or there are too many, and how much of
/// the program's time they are; empty when it has all.
std::string left_out_note(const Profile& profile, const std::vector<OperatorManifest>& library);

} // namespace fathom::profile
