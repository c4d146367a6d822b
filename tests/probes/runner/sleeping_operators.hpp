#pragma once

#include "probes/runner/run_task.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>

namespace fathom::probes {

/// Sleeps: a kernel whose time is known, on which the clockwork of samples can be tested.
class Sleeper final : public ProbeOperator {
  public:
    Result<void> prepare(std::uint64_t) override { return {}; }
    void execute() override
    {
        ++executions;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    double error() override { return std::numeric_limits<double>::quiet_NaN(); }
    std::string checksum() override { return "0000000000000000"; }
    std::string library() const override { return "none"; }
    std::span<std::byte> output() override { return {}; }

    static inline int executions = 0;
};

inline RegisteredOperator sleeper()
{
    return {
        .manifest = find_operator("dgemm")->manifest,
        .make = [](const Parameters&, int) -> std::unique_ptr<ProbeOperator> { return std::make_unique<Sleeper>(); },
        .memory = [](const Parameters&) { return 0.0; }};
}

} // namespace fathom::probes
