#include "probes/runner/one_thread.hpp"

#include "probes/runner/seconds_since.hpp"

namespace fathom::probes {

Result<std::optional<SampledTimes>> measure_one_thread(const RegisteredOperator& registered, const OperatorUse& use,
                                                       const OneThreadTerms& terms)
{
    const auto samples = static_cast<double>(terms.samples);
    const auto fits = [&](double sample_s) {
        return seconds_since(terms.process_start) + samples * sample_s <= terms.end_s;
    };
    if (!fits(terms.expected_s)) return std::optional<SampledTimes>();
    // Nobody watches for disturbances: their causes are told by the threads of all cores.
    SampledOperator item(registered, use, 1);
    if (const Result<void> started = item.start(terms.seed, terms.rule); !started) return started.error();
    if (!fits(item.expected_sample_s())) return std::optional<SampledTimes>();
    for (std::int64_t sample = 0; sample < terms.samples; ++sample) {
        if (const Result<double> sampled = item.sample(); !sampled) return sampled.error();
    }
    return std::optional(item.times());
}

} // namespace fathom::probes
