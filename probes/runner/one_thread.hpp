#pragma once

#include "core/model/probe_result.hpp"
#include "probes/operators/registry.hpp"
#include "probes/runner/sampled_operator.hpp"

#include <chrono>
#include <optional>

namespace fathom::probes {

/// How an operator is measured with one thread.
struct OneThreadTerms {
    std::uint64_t seed{};
    SampleRule rule;
    std::int64_t samples{1};
    std::chrono::steady_clock::time_point process_start;
    double end_s{};      ///< seconds from the process's start at which it must have ended
    double expected_s{}; ///< of one sample, at most, before anything of it is known
};

/// Measures an operator with one thread, as far as there is time.
/// @param use  complete (validate_task), without inputs from other operators.
/// @return empty when there is not.
/// @error kUnavailable  its library refuses it.
Result<std::optional<SampledTimes>> measure_one_thread(const RegisteredOperator& registered, const OperatorUse& use,
                                                       const OneThreadTerms& terms);

} // namespace fathom::probes
