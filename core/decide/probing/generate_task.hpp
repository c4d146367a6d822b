#pragma once

#include "core/model/probe_task.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace fathom {

/// M4: a count divided by `ratio`, rounded, at least 1. Golden: 3000, 2000, 1000 at 1000 -> 3, 2, 1; 1 -> 1.
std::int64_t scale_count(std::int64_t count, std::int64_t ratio);

/// M5: operators that share no data make either one task with independent parts, or a task each.
enum class TaskForm { kOneTask, kSeveralTasks };

/// How a probe task is made from a job.
struct GenerationRule {
    std::int64_t ratio{1000}; ///< counts are divided by this (M4)
    TaskForm form{TaskForm::kOneTask};
    bool keeps_sizes{false};       ///< every size is measured; only equal ones are joined
    bool limits_kept_sizes{false}; ///< with keeps_sizes: most_over_class holds all the same
    /// Of one task; those with the least work are left out beyond this, see left_out_operators().
    std::size_t most_operators{kMaxMeasuredOperators};
    /// An operator whose work is more than this many times that of the largest size class is measured at the
    /// size of that class: the class is kept, the probe stays short (M7).
    double most_over_class{4};
};

/// Finds an operator's manifest by id and version (0: the newest); nullptr when there is none.
using ManifestLookup = std::function<const OperatorManifest*(std::string_view id, std::int64_t version)>;

/// The probe tasks that stand for a job (M3, M4, M5): its operators at their sizes, sizes of one class joined
/// at the one that does most of the class's work, counts scaled down, the data flow between them kept, what
/// stands for the remainder included. One task, or one for each part that shares no data with the others;
/// tasks of a job with several are named `name/1`, `name/2`, …
///
/// When sizes are joined, work is kept: their counts are scaled by the ratio of work before they are added.
/// Operators that are named in the data flow are never joined. The order of `operators` does not matter but
/// for ties. Operators without a manifest stay as they are.
/// @param operators  not empty; the data flow must have passed check_data_flow.
std::vector<ProbeTask> generate_probe_tasks(const std::string& name, const std::vector<OperatorUse>& operators,
                                            const ManifestLookup& manifests, const GenerationRule& rule = {});

/// Operators of a job that nothing measures, because there are more of them than is taken.
struct LeftOutOperators {
    std::int64_t count{0};            ///< of operators, sizes that are joined counted once
    std::optional<double> share{0.0}; ///< of the job's run time, 0..1; empty where one of theirs is not known
};

/// What generate_probe_tasks() leaves out of the same operators by the same rule. Their time is predicted from other
/// sizes of the operator, or goes as the rest of the run.
/// @param operators  may be empty.
LeftOutOperators left_out_operators(const std::vector<OperatorUse>& operators, const ManifestLookup& manifests,
                                    const GenerationRule& rule = {});

} // namespace fathom
