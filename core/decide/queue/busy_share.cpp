#include "core/decide/queue/busy_share.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>

namespace fathom {

// kMemory_s is long against what a few long jobs do, short against weeks; a quarter and twice of it did as well on
// every workload.
void BusyShare::note(double share, double duration_s)
{
    if (!(duration_s > 0)) return;
    mean_ += -portable::expm1(-duration_s / kMemory_s) * (std::clamp(share, 0.0, 1.0) - mean_);
}

double BusyShare::mean() const
{
    return mean_;
}

} // namespace fathom
