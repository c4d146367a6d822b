#include "core/decide/probing/shrink_task.hpp"

#include "core/decide/probing/generate_task.hpp"
#include "core/model/operator_manifest.hpp"
#include "core/model/probe_task.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace fathom {
namespace {

double work_of_use(const OperatorUse& use, const OperatorManifest* manifest)
{
    return manifest == nullptr ? 0 : work_of(*manifest, use.parameters) * static_cast<double>(use.count);
}

/// The largest class of less work than one execution has now; nullptr: there is none.
const SizeClass* class_below(const OperatorUse& use, const OperatorManifest& manifest)
{
    const double work = work_of(manifest, use.parameters);
    const SizeClass* best = nullptr;
    for (const SizeClass& size : manifest.size_classes) {
        const double of_class = work_of(manifest, size.parameters);
        if (of_class < work && (best == nullptr || of_class > work_of(manifest, best->parameters))) best = &size;
    }
    return best;
}

/// Its outputs and inputs have sizes that others rely on.
bool is_in_flow(const OperatorUse& use)
{
    return !use.label.empty() || !use.inputs.empty();
}

/// Of the operators that have a smaller class the one with the most work; none: no operator has one.
std::optional<std::size_t> most_work_to_shrink(const std::vector<OperatorUse>& uses,
                                               const std::vector<const OperatorManifest*>& found)
{
    std::optional<std::size_t> most;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] == nullptr || is_in_flow(uses[i]) || class_below(uses[i], *found[i]) == nullptr) continue;
        if (!most || work_of_use(uses[i], found[i]) > work_of_use(uses[*most], found[*most])) most = i;
    }
    return most;
}

/// Two sizes may have become one.
std::vector<OperatorUse> each_once(std::vector<OperatorUse> uses)
{
    std::vector<OperatorUse> once;
    for (OperatorUse& use : uses) {
        const bool is_there = !is_in_flow(use) && std::any_of(once.begin(), once.end(), [&](const OperatorUse& other) {
            return other.id == use.id && other.version == use.version && other.parameters == use.parameters &&
                   other.remainder == use.remainder && !is_in_flow(other);
        });
        if (!is_there) once.push_back(std::move(use));
    }
    return once;
}

} // namespace

std::optional<ProbeTask> shrink_task(const ProbeTask& task, double share, const ManifestLookup& manifests)
{
    ProbeTask smaller = task;
    std::vector<const OperatorManifest*> found;
    double total = 0;
    for (const OperatorUse& use : smaller.operators) {
        found.push_back(manifests(use.id, use.version));
        total += work_of_use(use, found.back());
    }
    double left = total;
    while (left > share * total) {
        const std::optional<std::size_t> most = most_work_to_shrink(smaller.operators, found);
        if (!most) break;
        OperatorUse& use = smaller.operators[*most];
        left -= work_of_use(use, found[*most]);
        use.parameters = class_below(use, *found[*most])->parameters;
        use.count = 1;
        left += work_of_use(use, found[*most]);
    }
    if (left >= total) return std::nullopt;
    smaller.operators = each_once(std::move(smaller.operators));
    return smaller;
}

} // namespace fathom
