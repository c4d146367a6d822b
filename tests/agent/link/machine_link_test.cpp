#include "core/base/file.hpp"
#include "tests/agent/support/agent_link.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

/// A real agent, on a host that looks idle to it, that has its machine measured for profiled jobs by a stand-in for
/// fathom-profile.
namespace fathom::agent {
namespace {

namespace fs = std::filesystem;
using test::wait_until;
using testing::HasSubstr;

bool is_gone(pid_t process)
{
    return ::kill(process, 0) != 0 && errno == ESRCH;
}

class MachineLink : public test::AgentLink {
  protected:
    MachineLink()
    {
        fs::permissions(folder_.path(), fs::perms(0755)); // the agent's user and jobs read there
        fs::copy(test::agent_program().parent_path() / "fathom-probe", folder_.path());
        fs::copy(FATHOM_IDLE_HOST, folder_.path() / "idle_host.so");
        const std::string preloaded = (folder_.path() / "idle_host.so").string();
        ::setenv("LD_PRELOAD", preloaded.c_str(), 1); // NOLINT(concurrency-mt-unsafe): the server's threads read none
        write_config("core", "shared_folders = \"" + folder_.path().string() + "\"\nprobe_program = \"" +
                                 (folder_.path() / "fathom-probe").string() + "\"\n");
    }
    ~MachineLink() override { ::unsetenv("LD_PRELOAD"); } // NOLINT(concurrency-mt-unsafe): see above

    /// @param measure  lines of a shell, with which fathom-profile measures the machine. Programs it runs as they are.
    void start_measuring_by(const std::string& measure)
    {
        write_file(folder_.path() / "fathom-profile",
                   "#!/bin/sh\nif [ \"$1\" = --machine ]; then\n" + measure +
                       "\nexit\nfi\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n",
                   0755)
            .value();
        start_enrolled();
    }

    /// What a profiled job is told.
    std::string library_of_job()
    {
        AttemptOrder order = test::shell_order("cat .fathom-library.json 2>/dev/null || echo nothing");
        order.profile = true;
        server_.send(link::StartAttempt{order});
        EXPECT_EQ(server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end.exit_code, 0);
        return server_.wait_for_attempt<link::AttemptOutput>(order.attempt_id).data;
    }

    int said(const std::string& words) const
    {
        const std::string log = agent_.log();
        int count = 0;
        for (std::size_t at = log.find(words); at != std::string::npos; at = log.find(words, at + 1))
            ++count;
        return count;
    }

  private:
    test::TemporaryFolder folder_;
};

TEST_F(MachineLink, IsMeasuredAfterAProfiledJobAndAgainWhenSettingsAreRead)
{
    start_measuring_by(R"(echo '{"bandwidth_bytes_per_s": 5}')");
    EXPECT_THAT(library_of_job(), HasSubstr("nothing"));
    wait_until([&] { return said("machine_measured_for_profiles") == 1; }, "the machine being measured");

    EXPECT_THAT(library_of_job(), HasSubstr(R"({"machine":{"bandwidth_bytes_per_s":5}})"));
    agent_.signal(SIGHUP);
    wait_until([&] { return said("machine_measured_for_profiles") == 2; }, "its being measured again");
}

TEST_F(MachineLink, IsMeasuredNoMoreOnceAJobBeginsOrTheAgentStops)
{
    start_measuring_by("echo \"measures as $$.\" >&2\nexec sleep 1000");
    const std::string words = "measures as ";
    const auto wait_for_program = [&](int number) {
        wait_until([&] { return said(words) == number; }, "the program that measures");
        const std::string log = agent_.log();
        return std::stoi(log.substr(log.rfind(words) + words.size()));
    };
    library_of_job();
    const pid_t beside_job = wait_for_program(1);

    const AttemptOrder order = test::shell_order("while [ ! -e go ]; do sleep 0.05; done");
    server_.send(link::StartAttempt{order});

    wait_until([&] { return is_gone(beside_job); }, "its end");
    server_.wait_for_attempt<link::AttemptStarted>(order.attempt_id);
    let_go(order);
    const pid_t at_stop = wait_for_program(2);
    agent_.stop(SIGTERM);
    EXPECT_TRUE(is_gone(at_stop));
    EXPECT_EQ(said("machine_not_measured"), 0);
}

} // namespace
} // namespace fathom::agent
