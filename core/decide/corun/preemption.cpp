#include "core/decide/corun/preemption.hpp"

#include <algorithm>

namespace fathom {

double preempt_cycles(double survivor_miss_rate, double register_bytes, double shared_bytes, double thread_blocks)
{
    return (0.09526 * survivor_miss_rate + 0.01633) * (register_bytes + shared_bytes) * thread_blocks;
}

double preempt_decay(KernelClass survivor, double memory_decay)
{
    // Of an unknown kernel the worse is assumed.
    return survivor == KernelClass::kCompute ? 1 : memory_decay;
}

double rest_cycles(const RunningKernel& kernel)
{
    return std::max(0.0, kernel.instructions - kernel.instructions_done) / kernel.ipc;
}

PreemptionFigures weigh_preemption(const PreemptionTerms& terms)
{
    PreemptionFigures figures;
    figures.preempt_cycles = terms.preempt_cycles;
    figures.rest_cycles = terms.rest_cycles;
    figures.before = terms.combined_now * terms.rest_cycles;
    figures.after = terms.survivors_decayed * terms.preempt_cycles +
                    terms.combined_then * (terms.rest_cycles - terms.preempt_cycles);
    return figures;
}

} // namespace fathom
