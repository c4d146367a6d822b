#pragma once

#include "probes/runner/run_task.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace fathom::probes {

/// Two operators, that take milliseconds.
inline ProbeTask small_task()
{
    return {.name = "small",
            .operators = {{.id = "dgemm", .parameters = {{"m", 32}, {"n", 32}, {"k", 32}}, .count = 3},
                          {.id = "fft1d", .parameters = {{"n", 256}}}},
            .repeats = 3,
            .target_interval = 0,
            .min_sample_s = 0.001,
            .limit_s = 600};
}

inline RunConditions conditions(double memory_bytes = 1e9)
{
    return {
        .process_start = std::chrono::steady_clock::now(), .usable_memory_bytes = memory_bytes, .progress = nullptr};
}

inline ProbeTask validated(ProbeTask task)
{
    Result<ProbeTask> result = validate_task(std::move(task));
    EXPECT_TRUE(result) << describe(result.error());
    return *result;
}

/// Which operator was sampled how often.
inline std::vector<std::int64_t> sample_counts(const ProbeResult& result)
{
    std::vector<std::int64_t> counts;
    for (const OperatorResult& item : result.operators)
        counts.push_back(static_cast<std::int64_t>(item.samples_s.size()));
    return counts;
}

} // namespace fathom::probes
