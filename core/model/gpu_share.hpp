#pragma once

#include "core/model/pair_source.hpp"

#include <cstdint>

namespace fathom {

/// Nobody is expected to keep less: a run tells no more than that it nearly stood.
inline constexpr double kMinLearnedGpuShare = 0.02;

/// What a job is expected to keep of its speed beside those who have parts of the GPU that it would get (C8).
struct ExpectedGpuShare {
    double share{1};  ///< of its speed alone: kMinLearnedGpuShare to 1
    double spread{};  ///< how far off that may be: a standard deviation
    double until_s{}; ///< from now, when the last of them is expected to be gone
    std::int64_t neighbours{1};
    PairSource basis{PairSource::kMeasured};

    friend bool operator==(const ExpectedGpuShare&, const ExpectedGpuShare&) = default;
};

/// A run that is as long as `alone_s` by itself takes so long beside them, where it starts so much before they are
/// gone.
inline double beside_on_gpu_s(double alone_s, double share, double together_s)
{
    const double slowed_s = alone_s / share;
    return alone_s + (1 - share) * (slowed_s < together_s ? slowed_s : together_s);
}

} // namespace fathom
