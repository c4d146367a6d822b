#pragma once

#include "agent/gpu/memory/memory_service.hpp"
#include "tests/agent/gpu/program.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace fathom::gpu {

inline constexpr std::int64_t kMiB = 1LL << 20U;
inline const std::string kGpu = "GPU-00000000-1111-2222-3333-444444444444";

/// Unmodified programs that share two GPUs of 32 MiB: the preloaded library and the memory manager as users have them,
/// on the stand-in for the driver. A fault that the stand-in finds fails the test.
class GpuSharing : public testing::Test {
  protected:
    GpuSharing();
    ~GpuSharing() override;

    /// The memory manager.
    void start();
    std::map<std::string, std::string> environment(const std::map<std::string, std::string>& more = {}) const;
    /// The program training_loop. With the option `until` it goes on until go_on() of that name.
    std::unique_ptr<Program> train(const std::string& job, const std::map<std::string, std::string>& options,
                                   std::map<std::string, std::string> variables = {}) const;
    /// The program driver_calls, as a job of the way's name, which stops at its pauses until go_on().
    std::unique_ptr<Program> call(const std::string& way,
                                  const std::map<std::string, std::string>& more_variables = {}) const;
    void go_on(const std::string& pause) const;

    bool wait_for_persistent_bytes(const std::string& name, std::int64_t bytes) const;
    /// What the manager knows of a job; null if nothing.
    Json job(const std::string& name) const;
    static bool wait_until(const std::function<bool()>& condition);

    std::filesystem::path folder_;
    MemoryServiceSettings settings_;
    std::unique_ptr<MemoryService> service_;
};

} // namespace fathom::gpu
