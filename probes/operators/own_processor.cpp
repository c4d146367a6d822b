#include "probes/operators/own_processor.hpp"

#include <cstddef>

namespace fathom::probes {

cpu_set_t allowed_processors()
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    return allowed;
}

void bind_to_own_processor(int index, int count, const cpu_set_t& allowed)
{
    const int processors = CPU_COUNT(&allowed);
    if (processors < count || count < 2) return;
    const int wanted = index * (processors - 1) / (count - 1);
    int seen = 0;
    for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (!CPU_ISSET(processor, &allowed) || seen++ != wanted) continue;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(processor, &own);
        sched_setaffinity(0, sizeof(own), &own);
        return;
    }
}

} // namespace fathom::probes
