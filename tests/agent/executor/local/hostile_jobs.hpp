#pragma once

#include "tests/agent/support/executor_fixture.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent::test {

inline constexpr UserIds kHostileIds{200000, 265535};

/// Processes of this user on the host.
inline std::size_t processes_of(unsigned uid)
{
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        struct stat facts{};
        const bool is_process = entry.path().filename().string().find_first_not_of("0123456789") == std::string::npos;
        if (is_process && ::stat(entry.path().c_str(), &facts) == 0 && facts.st_uid == uid) ++count;
    }
    return count;
}

/// As a root agent runs jobs by default: each as a user of its own, in namespaces of its own.
class HostileJobs : public LocalExecutorTest {
  protected:
    void SetUp() override
    {
        if (::getuid() != 0) GTEST_SKIP() << "needs root";
        options_.user_ids = kHostileIds;
    }

    std::string text_of(const AttemptEnd& end) { return output(end.attempt_id, OutputStream::kStdout); }
    std::string text_of(const std::string& line) { return text_of(run(shell_order(line))); }
    std::string text_of_python(const std::string& program) { return text_of(run(order({"python3", "-c", program}))); }

    /// A job that sleeps until it is told to end, and then ends well.
    AttemptOrder start_neighbour()
    {
        const AttemptOrder job =
            shell_order("umask 0; trap 'echo well; exit 0' TERM; echo secret > s; while :; do sleep 0.05; done");
        start(job);
        wait_for_file(work(job.attempt_id) / "s");
        return job;
    }

    void expect_unharmed(const AttemptOrder& neighbour)
    {
        EXPECT_EQ(executor().look(neighbour.attempt_id).phase, RunPhase::kAlive);
        executor().cancel(neighbour.attempt_id);
        const AttemptEnd end = wait_end(neighbour.attempt_id);
        EXPECT_EQ(end.outcome, AttemptOutcome::kCancelled);
        EXPECT_EQ(end.exit_code, 0);
        EXPECT_EQ(text_of(end), "well\n");
    }

    unsigned user_of(const AttemptOrder& job) const
    {
        struct stat facts{};
        EXPECT_EQ(::stat(work(job.attempt_id).c_str(), &facts), 0);
        return facts.st_uid;
    }
};

} // namespace fathom::agent::test
