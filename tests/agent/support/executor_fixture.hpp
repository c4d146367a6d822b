#pragma once

#include "agent/executor/local/local_executor.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace fathom::agent::test {

/// Checks every 5 ms; fails the test after 60 s.
void wait_until(const std::function<bool()>& condition, const std::string& what);

/// The path of the program fathom-agent of this build.
std::filesystem::path agent_program();

/// A local executor with real supervisors in a temporary folder, running jobs as this process does.
class LocalExecutorTest : public testing::Test {
  protected:
    LocalExecutorTest();
    ~LocalExecutorTest() override;

    /// Made at first use, from options_.
    LocalExecutor& executor();
    void start(const AttemptOrder& order, std::vector<std::int64_t> cpus = {});
    /// Two attempts of one supervisor: the first has ended, the second was started.
    struct TwoServed {
        AttemptEnd first;
        AttemptOrder second;
    };
    /// By other ids each time: a supervisor that has served is let go where enough stand ready, so this is tried until
    /// one serves again.
    TwoServed serve_two(const RunOrder& first, const RunOrder& second);
    RunOrder order_of(const std::vector<std::string>& command, std::int64_t memory_bytes = 0) const;
    AttemptEnd run(const AttemptOrder& order, std::vector<std::int64_t> cpus = {});
    AttemptEnd wait_end(const AttemptId& id);
    std::string output(const AttemptId& id, OutputStream stream);
    std::filesystem::path work(const AttemptId& id) const;
    /// Its content, once it is there and not empty.
    std::string wait_for_file(const std::filesystem::path& path);
    int supervisor_of(const AttemptId& id);
    /// Kills the attempt's main process.
    void kill_main(const AttemptId& id);
    static void reap(int pid);

    TemporaryFolder folder_;
    LocalExecutorOptions options_;
    std::vector<std::int64_t> cpus_; ///< that this process may use

  private:
    std::unique_ptr<LocalExecutor> executor_;
};

} // namespace fathom::agent::test
