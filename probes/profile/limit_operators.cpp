#include "probes/profile/limit_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace fathom::profile {
namespace {

const OperatorManifest* find_manifest(const std::vector<OperatorManifest>& library, const std::string& id)
{
    const auto found = std::find_if(library.begin(), library.end(),
                                    [&](const OperatorManifest& manifest) { return manifest.id == id; });
    return found == library.end() ? nullptr : &*found;
}

/// Joins uses with the same key at the size that takes most of their time; the first of them stays in place.
std::vector<OperatorUse> join(const std::vector<OperatorUse>& uses, const std::vector<OperatorManifest>& library,
                              const std::vector<std::string>& keys)
{
    std::map<std::string, std::vector<const OperatorUse*>> groups;
    std::vector<std::string> order;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        if (!groups.contains(keys[i])) order.push_back(keys[i]);
        groups[keys[i]].push_back(&uses[i]);
    }
    std::vector<OperatorUse> joined;
    for (const std::string& key : order) {
        const std::vector<const OperatorUse*>& group = groups[key];
        OperatorUse use = **std::max_element(group.begin(), group.end(), [](const auto* a, const auto* b) {
            return a->share.value_or(0) < b->share.value_or(0);
        });
        const OperatorManifest* manifest = find_manifest(library, use.id);
        if (manifest != nullptr && group.size() > 1) {
            double count = 0;
            double share = 0;
            const double own_work = work_of(*manifest, use.parameters);
            for (const OperatorUse* one : group) {
                count += static_cast<double>(one->count) * work_of(*manifest, one->parameters) / own_work;
                share += one->share.value_or(0);
            }
            use.count = std::max<std::int64_t>(1, std::llround(count));
            use.share = share;
        }
        joined.push_back(std::move(use));
    }
    return joined;
}

/// What is joined has no place of its own in the data flow.
void drop_labels(std::vector<OperatorUse>& uses)
{
    for (OperatorUse& use : uses) {
        use.label.clear();
        use.inputs.clear();
    }
}

} // namespace

void limit_operators(std::vector<OperatorUse>& uses, const std::vector<OperatorManifest>& library, std::size_t most,
                     std::vector<std::string>& notes)
{
    if (uses.size() <= most) return;
    const std::size_t before = uses.size();
    std::sort(uses.begin(), uses.end(), [](const OperatorUse& a, const OperatorUse& b) {
        if (a.share != b.share) return a.share.value_or(0) > b.share.value_or(0);
        return std::tie(a.id, a.parameters) < std::tie(b.id, b.parameters);
    });
    std::vector<std::string> keys;
    for (OperatorUse& use : uses) {
        // Those that take most time stay as they are.
        if (keys.size() < most / 2) {
            keys.push_back(operator_key(use.id, use.parameters));
            continue;
        }
        const OperatorManifest* manifest = find_manifest(library, use.id);
        const SizeClass* size = manifest == nullptr ? nullptr : size_class_of(*manifest, use.parameters);
        keys.push_back(use.id + "/" + (size == nullptr ? "" : size->name));
    }
    drop_labels(uses);
    uses = join(uses, library, keys);
    if (uses.size() > most) {
        keys.clear();
        for (const OperatorUse& use : uses)
            keys.push_back(use.id);
        uses = join(uses, library, keys);
    }
    notes.push_back(fmt::format("{} sizes of operators were joined to {}: rare ones of one size class count as the one "
                                "that takes most time, with the same work in total",
                                before, uses.size()));
}

} // namespace fathom::profile
