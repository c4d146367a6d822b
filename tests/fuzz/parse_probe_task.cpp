#include "core/model/probe_task.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <algorithm>

/// Whatever arrives, parse_probe_task() answers; what it took is written and read again as the same, and its data flow
/// has an order.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::ProbeTask> task = fathom::fuzz::check_document(*json, fathom::parse_probe_task);
    if (!task) return 0;
    FATHOM_ASSERT(!task->operators.empty() && task->operators.size() <= 64);
    FATHOM_ASSERT(task->seed >= 0 && task->seed <= fathom::kLargestSeed);
    std::vector<std::size_t> order = fathom::data_flow_order(task->operators);
    std::sort(order.begin(), order.end());
    FATHOM_ASSERT(order.size() == task->operators.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        FATHOM_ASSERT(order[i] == i);
    return 0;
}
