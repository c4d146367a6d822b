#include "probes/runner/memory_pressure.hpp"

#include <algorithm>
#include <string_view>

namespace fathom::probes {
namespace {

constexpr std::string_view kBubble = "stream_triad";
/// Elements of each of its three arrays: 192 MB, more than a unit's share of any last-level cache, and little enough
/// for many copies on one host.
constexpr std::int64_t kBubbleElements = 8'000'000;
constexpr double kMinSlowdown = 2;

OperatorUse bubble_use()
{
    OperatorUse use;
    use.id = kBubble;
    use.parameters = {{"n", kBubbleElements}};
    return use;
}

/// Every fathom-probe for processors has it.
const RegisteredOperator& bubble_operator()
{
    return *find_operator(kBubble);
}

} // namespace

MemoryPressure::MemoryPressure(CopiesInStep& copies, int cores, std::int64_t samples)
    : copies_(&copies), samples_(samples), bubble_(bubble_operator(), bubble_use(), cores)
{
}

double MemoryPressure::memory_bytes()
{
    return bubble_operator().memory(bubble_use().parameters);
}

Result<void> MemoryPressure::start(std::uint64_t seed, const SampleRule& rule)
{
    if (Result<void> started = bubble_.start(seed, rule); !started) return started;
    Result<std::optional<SampledTimes>> alone = take_turn(bubble_, nullptr);
    if (!alone) return alone.error();
    Result<std::optional<SampledTimes>> beside = take_turn(bubble_, &bubble_);
    if (!beside) return beside.error();
    if (*alone && *beside) reporter_ = ReporterTimes{std::move(**alone), std::move(**beside)};
    return {};
}

Result<void> MemoryPressure::measure(SampledOperator& item)
{
    last_.reset();
    Result<std::optional<SampledTimes>> beside = take_turn(item, &bubble_);
    if (!beside) return beside.error();
    Result<std::optional<SampledTimes>> reporter = take_turn(bubble_, &item);
    if (!reporter) return reporter.error();
    if (*beside && *reporter) last_ = PressureTimes{std::move(**beside), std::move(**reporter)};
    return {};
}

double MemoryPressure::slowdown() const
{
    if (!reporter_) return kMinSlowdown;
    return std::max(kMinSlowdown, reporter_->beside_bubbles.median_s / reporter_->alone.median_s);
}

double MemoryPressure::expected_s(const SampledOperator& item) const
{
    const auto each = static_cast<double>(samples_ + 1);
    // At the end of the reporter's turn the others still end an execution.
    return slowdown() * (each * (item.expected_sample_s() + bubble_.expected_sample_s()) + item.expected_sample_s());
}

Result<std::optional<SampledTimes>> MemoryPressure::take_turn(SampledOperator& sampled, SampledOperator* pressing)
{
    copies_->wait(CopiesInStep::kLongPause);
    std::optional<SampledTimes> times;
    if (copies_->is_first()) {
        for (std::int64_t i = 0; i <= samples_; ++i) {
            if (Result<double> taken = sampled.sample(); !taken) return taken.error();
            if (i == 0) sampled.set_samples_apart(); // meanwhile the others began
        }
        times = sampled.set_samples_apart();
    } else if (pressing != nullptr) {
        do {
            if (Result<double> taken = pressing->sample(); !taken) return taken.error();
        } while (!copies_->is_first_waiting());
        pressing->set_samples_apart();
    }
    copies_->wait(CopiesInStep::kLongPause);
    return times;
}

} // namespace fathom::probes
