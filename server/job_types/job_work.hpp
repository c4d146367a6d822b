#pragma once

#include "core/decide/probing/generate_task.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/catalog/known_runs.hpp"
#include "server/job_types/learning_store.hpp"

namespace fathom::server {

/// What a job executes, and how that is known.
struct ObservedWork {
    std::string source;                 ///< "profile", "given", "type" or "none"
    std::vector<OperatorUse> operators; ///< resolved against the library; those of a profile at most 64, by share
    std::vector<std::string> left_out;  ///< what a profile says that is no operator of the library, for people
    /// Operators of a profile beyond those 64: their time is in no operator, so it counts as the rest of the run.
    LeftOutOperators unlisted{};
};

/// The operators of a job: as its profile counted them, else as it was submitted with. A profile comes from the center,
/// where the job could have written anything: what does not fit the library is left out. Pure.
ObservedWork observe_work(const JobEvidence& evidence, const CatalogSnapshot& catalog);

/// What a profiled run says of other runs of its type. Only of a run on one unit: a profile does not tell how the parts
/// are divided among several. A profile comes from the center, where the job could have written anything: what does not
/// fit is left out.
std::optional<KeptRun> kept_run(const JobEvidence& evidence, const CatalogSnapshot& catalog);

/// How long the program itself ran, as its profile says; empty where that cannot be within `run_s`. What the profiler
/// does before and after it is no part of the program.
std::optional<double> program_run_s(const Json& profile, double run_s);

/// The time of the program's threads that its profile's shares are of (docs/profiling.md "Shares"); where it says
/// nothing that fits, `run_s`.
double profiled_thread_s(const Json& profile, double run_s);

/// The loops of the program's own code that its profile tells of, those that take most of the time first, at most 20:
/// `[{"file", "offset", "share", "operator", "similarity"}]`, where no operator (null) is near enough to stand for a
/// loop. null where there is no profile. What does not fit is left out.
Json shown_loops(const JobEvidence& evidence);

/// For GET /jobs/{id}/operators: the operators with their size classes, counts and shares, the remainder, what was
/// not matched, and what the list or the job's probe task leaves out because there is too much of it (M3, M6).
Json to_json(const JobEvidence& evidence, const ObservedWork& work, const CatalogSnapshot& catalog);

} // namespace fathom::server
