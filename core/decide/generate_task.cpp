#include "core/decide/generate_task.hpp"

#include <algorithm>
#include <tuple>

namespace fathom {

std::int64_t scale_count(std::int64_t count, std::int64_t ratio)
{
    FATHOM_ASSERT(count >= 1 && ratio >= 1);
    // Written without count + ratio / 2, which could overflow.
    const std::int64_t whole = count / ratio;
    const bool rounds_up = count % ratio >= ratio - count % ratio;
    return std::max<std::int64_t>(1, whole + (rounds_up ? 1 : 0));
}

ProbeTask generate_probe_task(const std::string& name, const std::vector<OperatorUse>& operators, std::int64_t ratio)
{
    FATHOM_ASSERT(!operators.empty());
    ProbeTask task;
    task.name = name;
    for (const OperatorUse& use : operators) {
        const auto same = std::find_if(task.operators.begin(), task.operators.end(), [&](const OperatorUse& other) {
            return other.id == use.id && other.version == use.version && other.parameters == use.parameters;
        });
        if (same != task.operators.end())
            same->count += use.count;
        else
            task.operators.push_back(use);
    }
    for (OperatorUse& use : task.operators)
        use.count = scale_count(use.count, ratio);
    // One mix of operators is one task, whatever the order in which a job names them.
    std::sort(task.operators.begin(), task.operators.end(), [](const OperatorUse& a, const OperatorUse& b) {
        return std::tie(a.id, a.version, a.parameters) < std::tie(b.id, b.version, b.parameters);
    });
    return task;
}

} // namespace fathom
