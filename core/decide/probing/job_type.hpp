#pragma once

#include "core/decide/probing/generate_task.hpp"
#include "core/model/job.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// What a job consists of: shares by operator and size class, `dgemm/large`, that sum to 1. Empty for a job of
/// unknown operators.
using OperatorMix = std::map<std::string, double>;

/// The mix of a job's operators: shares of its run time where every share is known, else of its work. Sizes of one
/// class are one part; operators that the library does not know count by their exact size. The order of `operators`
/// does not matter.
OperatorMix operator_mix(const std::vector<OperatorUse>& operators, const ManifestLookup& manifests);

/// How unlike two mixes are: 1 − Σ min(share), from 0 for equal ones to 1 for mixes without a common part. Symmetric.
double mix_distance(const OperatorMix& a, const OperatorMix& b);

/// A name for jobs of this mix, largest part first: `mix/dgemm/large:90+fft3d/small:10`, shares in percent. Mixes with
/// many parts name the largest and end in a fingerprint. At most 200 characters.
std::string name_of_mix(const OperatorMix& mix);

/// The program that a job runs: interpreters and launchers (sh, python3, Rscript, mpirun, srun, env, …) are looked
/// through to the script or program that they start. Code that has no file, such as `python3 -c …` or a job's script,
/// is named by its fingerprint, so that two such jobs are of one type only when they run the same; that of a shell also
/// by the first programs that it starts, for people: `sh:gcc+strip-1f2e3d4c`.
std::string application_of(const JobSpec& spec);

/// Where a job's type came from (M11).
enum class JobTypeOrigin {
    kUser,        ///< whoever submitted it said so
    kMix,         ///< its operators
    kApplication, ///< its program, with the units that it asks for
};
std::string_view to_string(JobTypeOrigin origin);

struct JobType {
    std::string name;
    JobTypeOrigin origin{JobTypeOrigin::kApplication};
};

/// A type that jobs were seen to belong to.
struct KnownMix {
    std::string name;
    OperatorMix mix;
};

/// The type of a job (M11): what the user says; else the known type with the nearest mix of operators, if it is
/// within `threshold`, or a new one named after the mix; else its application. Ties go to the smaller name, so the
/// order of `known` does not matter.
JobType job_type_for(const JobSpec& spec, std::span<const KnownMix> known, const ManifestLookup& manifests,
                     double threshold = 0.2);

} // namespace fathom
