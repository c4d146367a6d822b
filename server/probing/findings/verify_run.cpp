#include "server/probing/findings/verify_run.hpp"

#include "core/decide/measurement/same_result.hpp"
#include "core/model/operator_place.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// Times are of no interest: long enough for a slow machine, and for one whose processors are busy, where it stands
/// still most of the time; but shorter than the lease of claim_verification().
constexpr double kLimitFactor = 60;
constexpr double kMaxDuration_s = 540;
constexpr double kShortSample_s = 1e-4;

/// Of the arrays of one operator: the database has its memory on the same machine.
constexpr double kMaxArrays_bytes = 2.0 * (1LL << 30U);

bool is_too_large(const OperatorManifest& manifest, const Parameters& parameters)
{
    return manifest.cache_rule && formula_value(manifest.cache_rule->memory_bytes, parameters) > kMaxArrays_bytes;
}

bool is_transfer(const OperatorManifest& manifest)
{
    return manifest.category == "network" && manifest.operation_count == "0";
}

bool feeds_others(const ProbeTask& task, const OperatorUse& use)
{
    return !use.label.empty() &&
           std::any_of(task.operators.begin(), task.operators.end(), [&](const OperatorUse& other) {
               return std::find(other.inputs.begin(), other.inputs.end(), use.label) != other.inputs.end();
           });
}

/// The same place in the task; nullptr when there is none.
const OperatorResult* counterpart(const ProbeResult& result, const OperatorResult& item)
{
    const auto found = std::find_if(result.operators.begin(), result.operators.end(),
                                    [&](const OperatorResult& other) { return is_same_place(other, item); });
    return found == result.operators.end() ? nullptr : &*found;
}

} // namespace

std::string_view to_string(VerificationOutcome outcome)
{
    switch (outcome) {
    case VerificationOutcome::kRight:
        return "right";
    case VerificationOutcome::kWrong:
        return "wrong";
    case VerificationOutcome::kImpossible:
        return "impossible";
    }
    return "impossible";
}

Result<ProbeTask> verification_task(const ProbeTask& document, const OperatorLibrary& library)
{
    ProbeTask task = document;
    task.operators.clear();
    for (const OperatorUse& use : document.operators) {
        const OperatorManifest* const manifest = library.manifest(use.id, use.version);
        if (manifest == nullptr) return Error{Errc::kInfeasible, use.id + " is not in the library any more"};
        if (manifest->is_uploaded())
            return Error{Errc::kInfeasible, use.id + " is uploaded code, which does not run at the metascheduler"};
        const bool is_left_out = is_transfer(*manifest) || is_too_large(*manifest, use.parameters);
        if (!is_left_out || feeds_others(document, use)) task.operators.push_back(use);
    }
    if (task.operators.empty()) return Error{Errc::kInfeasible, "nothing is computed in it that fits here"};
    for (OperatorUse& use : task.operators) {
        // Counts only matter for what others compute on.
        if (!feeds_others(document, use)) use.count = 1;
    }
    task.repeats = 1;
    task.target_interval = 0;
    task.min_sample_s = kShortSample_s;
    task.limit_s = std::min(kMaxDuration_s, kLimitFactor * document.limit_s);
    return task;
}

VerificationVerdict compare_results(const ProbeResult& claimed, const ProbeResult& computed,
                                    const OperatorLibrary& library)
{
    for (const OperatorResult& right : computed.operators) {
        const OperatorResult* const item = counterpart(claimed, right);
        const OperatorManifest* const manifest = library.manifest(right.id, right.version);
        if (item == nullptr || manifest == nullptr || item->version != right.version)
            return {VerificationOutcome::kImpossible, right.id + " was run in another version"};
        if (right.error > right.tolerance)
            return {VerificationOutcome::kImpossible, right.id + " is computed wrong at the metascheduler itself"};
        std::string difference = difference_of(*item, right, manifest->tolerance);
        if (!difference.empty()) return {VerificationOutcome::kWrong, std::move(difference)};
    }
    return {VerificationOutcome::kRight, {}};
}

std::string difference_within_order(const ProbeResult& one, const ProbeResult& other)
{
    for (const OperatorResult& item : one.operators) {
        const OperatorResult* const same = counterpart(other, item);
        if (same == nullptr || same->version != item.version) continue;
        std::string difference = difference_of(item, *same, item.tolerance);
        if (!difference.empty()) return difference;
    }
    return {};
}

} // namespace fathom::server
