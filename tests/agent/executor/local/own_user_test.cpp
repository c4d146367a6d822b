// Jobs of an agent that is not root run as its user, whose rights would let them do all that it can: what they see of
// the machine must not let them.

#include "agent/executor/local/remove_tree.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using test::LocalExecutorTest;
using test::shell_order;

/// With a home folder as people have it. Where the tests run as root, so does the agent, and what its jobs see is made
/// the same way, but for the user namespace.
class JobsOfTheAgentsUser : public LocalExecutorTest {
  protected:
    void SetUp() override
    {
        options_.hidden = state();
        options_.attempts = state() / "attempts";
        options_.home = home();
        options_.shows_home = true;
        put("bin/tool", "#!/bin/sh\necho tool runs\n", 0755);
        put("start-here", "#!/bin/sh\necho started\n", 0755);
        put("notes.txt", "secret notes", 0600);
        put(".ssh/id_ed25519", "secret key", 0600);
        put(".config/token", "secret token", 0600);
        put(".netrc", "secret password", 0600);
        put(".cargo/bin/built", "#!/bin/sh\necho built\n", 0755);
        put(".cargo/credentials.toml", "secret credentials", 0600);
        std::filesystem::create_directory_symlink("bin", home() / "programs");
        put("fathom/state/agent-key.pem", "secret agent", 0600);
        const LocalExecutor trial(options_);
        if (!trial.facts()["isolation"]["mount_namespace"].get<bool>())
            GTEST_SKIP() << "needs namespaces: " << testing::PrintToString(trial.isolation_gaps());
    }

    ~JobsOfTheAgentsUser() override
    {
        for (const AttemptId& id : executor().known())
            executor().end_leftovers(id);
        static_cast<void>(remove_tree(home()));
    }

    /// Not below /tmp, of which jobs have their own.
    static std::filesystem::path home()
    {
        const char* const own = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe): nobody sets it
        const std::filesystem::path place = ::getuid() == 0 || own == nullptr ? "/run" : own;
        return place / ("fathom-test-home-" + std::to_string(::getpid()));
    }
    std::filesystem::path state() const { return home() / "fathom/state"; }
    void put(const std::string& path, const std::string& content, unsigned mode) const
    {
        std::filesystem::create_directories((home() / path).parent_path());
        write_file(home() / path, content, mode).value();
    }

    std::string text_of(const std::string& line)
    {
        const AttemptEnd end = run(shell_order("cd " + home().string() + "\n" + line));
        EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
        return output(end.attempt_id, OutputStream::kStdout);
    }
};

TEST_F(JobsOfTheAgentsUser, FindTheProgramsOfItsHomeFolder)
{
    EXPECT_EQ(text_of("bin/tool; programs/tool; ./start-here; .cargo/bin/built"),
              "tool runs\ntool runs\nstarted\nbuilt\n");
}

TEST_F(JobsOfTheAgentsUser, SeeNoSecretsOfItsHomeFolder)
{
    EXPECT_EQ(text_of("grep -rs secret .; ls -A | sort | xargs; ls -A .cargo"),
              ".cargo bin fathom programs start-here\nbin\n");
}

TEST_F(JobsOfTheAgentsUser, SeeNoSecretThatIsPutThereWhileTheyRun)
{
    const AttemptOrder job = shell_order("echo x > ready; while ! [ -e told ]; do sleep 0.01; done; cat " +
                                         (home() / ".netrc").string() + " " + (home() / ".aws").string());
    start(job);
    wait_for_file(work(job.attempt_id) / "ready");
    put(".netrc", "secret of a new file", 0600); // by rename, as editors do it
    put(".aws", "secret of another one", 0600);
    write_file(work(job.attempt_id) / "told", "x").value();

    EXPECT_EQ(wait_end(job.attempt_id).exit_code, 1);
    EXPECT_EQ(output(job.attempt_id, OutputStream::kStdout), "");
}

TEST_F(JobsOfTheAgentsUser, LeaveNothingInItsHomeFolder)
{
    EXPECT_EQ(text_of("for f in new bin/new bin/tool start-here .bashrc .ssh/authorized_keys; do "
                      "(echo harm >> $f) 2>/dev/null && echo wrote $f; done; rm -rf bin 2>/dev/null; echo done"),
              "done\n");

    EXPECT_EQ(read_file(home() / "bin/tool").value(), "#!/bin/sh\necho tool runs\n");
    EXPECT_FALSE(std::filesystem::exists(home() / "new"));
    EXPECT_FALSE(std::filesystem::exists(home() / ".bashrc"));
}

TEST_F(JobsOfTheAgentsUser, WorkBelowItsHomeFolder)
{
    const AttemptEnd end = run(shell_order("echo mine > file; cat file; ls -A " + state().string()));

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "mine\nattempts\n") << end.detail;
}

TEST_F(JobsOfTheAgentsUser, WorkWhereTheStateFolderHasAHiddenName)
{
    options_.hidden = home() / ".fathom";
    options_.attempts = options_.hidden / "attempts";
    std::filesystem::create_directory(options_.hidden);
    write_file(options_.hidden / "agent-key.pem", "secret agent", 0600).value();
    const AttemptOrder job = shell_order("echo mine > file; cat file; ls -A " + options_.hidden.string());

    const AttemptEnd end = run(job);

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "mine\nattempts\n") << end.detail;
}

TEST_F(JobsOfTheAgentsUser, SeeNothingOfAHiddenHomeFolderButWhatIsShared)
{
    options_.shows_home = false;
    options_.shared = {home() / "bin"};
    const AttemptOrder job = shell_order("cd " + home().string() + "; bin/tool; echo x > bin/made; ls -A | xargs");

    const AttemptEnd end = run(job);

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "tool runs\nbin fathom\n") << end.detail;
    EXPECT_TRUE(std::filesystem::exists(home() / "bin/made"));
}

TEST_F(JobsOfTheAgentsUser, CannotChangeTheProgramsThatItRuns)
{
    options_.programs = home().string() + "-programs";
    std::filesystem::create_directory(options_.programs);
    write_file(options_.programs / "fathom-probe", "true", 0755).value();
    const AttemptOrder job = shell_order("echo harm >> " + (options_.programs / "fathom-probe").string());

    EXPECT_NE(run(job).exit_code, 0);
    EXPECT_EQ(read_file(options_.programs / "fathom-probe").value(), "true");
    static_cast<void>(remove_tree(options_.programs));
}

TEST_F(JobsOfTheAgentsUser, CannotChangeTheirControlGroups)
{
    const std::string text = text_of("for f in $(find /sys/fs/cgroup -name cgroup.procs 2>/dev/null); do "
                                     "(echo $$ > $f) 2>/dev/null && echo left to $f; "
                                     "mkdir ${f%/*}/fathom-test 2>/dev/null && echo made in $f; done; "
                                     "grep -E ' cgroup2? ' /proc/self/mounts | grep -v ' ro,'; echo done");
    EXPECT_EQ(text, "done\n");
}

TEST_F(JobsOfTheAgentsUser, DoNotReachItsSession)
{
    const std::filesystem::path session = "/run/user/fathom-test-" + std::to_string(::getpid());
    std::error_code none; // for others than root their session is there, if they have one
    std::filesystem::create_directories(session, none);

    EXPECT_EQ(text_of("ls -A /run/user"), "");

    std::filesystem::remove(session, none);
}

/// As a root agent runs them: what keeps them from there is who they are, and what they see.
TEST_F(LocalExecutorTest, JobsOfARootAgentReachNeitherSessionsNorControlGroups)
{
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    options_.user_ids = UserIds{200000, 265535};
    const std::filesystem::path session = "/run/user/fathom-test-" + std::to_string(::getpid());
    std::filesystem::create_directories(session);

    const AttemptEnd end = run(shell_order("ls -A /run/user; find /sys/fs/cgroup -writable; echo done"));

    std::filesystem::remove(session);
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "done\n") << end.detail;
}

} // namespace
} // namespace fathom::agent
