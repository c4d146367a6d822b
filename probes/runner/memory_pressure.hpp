#pragma once

#include "probes/runner/copies_in_step.hpp"
#include "probes/runner/sampled_operator.hpp"

#include <optional>
#include <utility>

/// Copies of a probe in turn with a bubble, a known pressure on memory (Mars et al., Bubble-Up, MICRO 2011): how much
/// it slows an operator, and as how much of it the operator itself counts for others.
namespace fathom::probes {

/// What the first of several copies measures with a bubble in each of the others. A bubble is a vector triad beyond the
/// caches, on all cores of a copy; the number of copies is its dial. The same operator, alone in the first copy, is the
/// reporter: it tells the pressure that operators make in the others. All copies must call the same functions in the
/// same order. Not thread-safe.
class MemoryPressure {
  public:
    /// @param copies   that take turns; must outlive this.
    /// @param cores    of each copy.
    /// @param samples  of each time that is measured, at least 1.
    MemoryPressure(CopiesInStep& copies, int cores, std::int64_t samples);

    /// Bytes that each copy needs beyond its own operators'.
    static double memory_bytes();
    /// Prepares the bubble and measures the reporter: alone, then beside the bubbles.
    Result<void> start(std::uint64_t seed, const SampleRule& rule);
    /// Measures an operator beside bubbles, and the reporter beside it. What samples the operator has so far are
    /// forgotten.
    Result<void> measure(SampledOperator& item);
    /// By how much neighbours must be expected to slow what they slow: as much as bubbles slowed the reporter, and
    /// twice at least. Of the others than the first copy twice.
    double slowdown() const;
    /// Seconds that measure() takes, by what was seen so far and slowdown(). After start.
    double expected_s(const SampledOperator& item) const;

    /// In the first copy; empty in the others, and before start.
    const std::optional<ReporterTimes>& reporter() const { return reporter_; }
    /// Of the last measure(), in the first copy; empty in the others.
    std::optional<PressureTimes> take_last() { return std::exchange(last_, std::nullopt); }

  private:
    /// The first copy samples one operator, while the others do nothing, or execute one.
    /// @param pressing  nullptr: nothing.
    /// @return empty in the others.
    Result<std::optional<SampledTimes>> take_turn(SampledOperator& sampled, SampledOperator* pressing);

    CopiesInStep* copies_;
    std::int64_t samples_;
    SampledOperator bubble_; ///< in the first copy the reporter
    std::optional<ReporterTimes> reporter_;
    std::optional<PressureTimes> last_;
};

} // namespace fathom::probes
