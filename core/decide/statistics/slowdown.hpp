#pragma once

#include <cstddef>
#include <span>

namespace fathom {

/// Samples of one thing, and what was taken for their median. Same unit, all > 0.
struct TimedSamples {
    std::span<const double> samples;
    double median{};
};

/// How much longer a thing takes beside neighbours than alone.
struct Slowdown {
    double ratio{1};
    double deviation{}; ///< of ln(ratio), as the samples' scatter tells it; 0: they are too few to tell it
};

/// As few as copies of the full benchmark have. Of fewer, a single stall of the machine, capped, would add half or
/// more.
inline constexpr std::size_t kMinForMeans = 5;

/// The ratio of the samples' means: a job of many seconds pays the mean of them, while their median leaves out what the
/// host does by itself now and then, which costs the more the fewer processors are idle.
///
/// On both sides no sample counts for more than three times the median: two others at once on its processor take that
/// much, and what takes longer is a stall of the machine. Where either side has fewer samples than kMinForMeans, the
/// ratio is that of the medians. It is never less than that: neighbours make bursts no rarer, so a stall among the
/// samples alone takes nothing from what they cost.
/// Why so: docs/decisions/0054-mean-of-copies.md
Slowdown slowdown_of(const TimedSamples& beside, const TimedSamples& alone);

} // namespace fathom
