#include "core/base/file.hpp"
#include "core/base/open_file.hpp"
#include "core/base/own_user.hpp"
#include "server/app/child_process.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fathom::server {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

TEST(OwnUser, IsTheAccountOfThatName)
{
    const Result<UnixUser> found = find_own_user("daemon");

    ASSERT_TRUE(found) << found.error().detail;
    EXPECT_EQ(found->uid, getpwnam("daemon")->pw_uid);
}

TEST(OwnUser, IsElseAnIdThatNoAccountAndNoProcessHas)
{
    const Result<UnixUser> found = find_own_user("no-such-account");

    if (!found) {
        EXPECT_NE(found.error().detail.find("useradd --system no-such-account"), std::string::npos);
        return;
    }
    EXPECT_EQ(getpwuid(found->uid), nullptr);
    EXPECT_NE(found->uid, 0U);
    if (geteuid() != 0) return;
    ChildOptions sleeper;
    sleeper.arguments = {"/bin/sleep", "60"};
    sleeper.user = *found;
    const Result<pid_t> child = start_child(sleeper);
    ASSERT_TRUE(child) << child.error().detail;
    EXPECT_NE(find_own_user("no-such-account")->uid, found->uid) << "that one has a process";
    kill(*child, SIGKILL);
    waitpid(*child, nullptr, 0);
}

TEST(ChildProcess, ReportsWhatAFailedProgramWrote)
{
    ChildOptions options;
    options.arguments = {"/bin/sh", "-c", "echo first; echo broken >&2; exit 3"};

    const Result<std::string> outcome = run_child(std::move(options), kAnswerLimit);

    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.error().detail.find("exit code 3"), std::string::npos);
    EXPECT_NE(outcome.error().detail.find("broken"), std::string::npos);
}

TEST(ChildProcess, KillsAProgramThatTakesTooLongAndWhatItStarted)
{
    // The second one has closed its output: nothing but its end is waited for.
    for (const char* line : {"sleep 1000 & wait", "exec >/dev/null 2>&1; sleep 1000 & wait"}) {
        int ends[2];
        ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
        const OpenFile alive(ends[0]);
        OpenFile held(ends[1]); // by all of them
        ChildOptions options;
        options.arguments = {"/bin/sh", "-c", line};
        options.inherited = held.number();

        const Result<std::string> outcome = run_child(std::move(options), std::chrono::seconds(1));

        ASSERT_FALSE(outcome) << line;
        EXPECT_EQ(outcome.error().code, Errc::kDeadline) << line;
        EXPECT_NE(outcome.error().detail.find("/bin/sh took longer than 1 s and was killed"), std::string::npos)
            << outcome.error().detail;
        held = OpenFile();
        pollfd waiting{alive.number(), POLLIN, 0};
        EXPECT_EQ(poll(&waiting, 1, 60'000), 1) << line << ": one of them is still alive";
    }
}

TEST(ChildProcess, TellsHowAProgramEndedAlsoWhereTheParentIgnoresThat)
{
    const auto before = ::signal(SIGCHLD, SIG_IGN);
    ChildOptions options;
    options.arguments = {"/bin/sh", "-c", "exit 3"};

    const Result<std::string> outcome = run_child(std::move(options), kAnswerLimit);
    ::signal(SIGCHLD, before);

    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.error().detail.find("exit code 3"), std::string::npos) << outcome.error().detail;
}

TEST(ChildProcess, InTheBackgroundTakesNoProcessorFromOthers)
{
    const auto start_busy = [](bool is_background) {
        ChildOptions busy;
        busy.arguments = {"/usr/bin/taskset", "--cpu-list", "0", "/bin/sh", "-c", "while :; do :; done"};
        busy.signal_on_parent_death = SIGKILL;
        busy.is_background = is_background;
        return start_child(busy).value();
    };
    const pid_t usual = start_busy(false);
    const pid_t background = start_busy(true);
    const auto used_ticks = [](pid_t pid) {
        const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat").value();
        std::istringstream fields(stat.substr(stat.rfind(')') + 2));
        std::string skipped;
        for (int i = 0; i < 11; ++i)
            fields >> skipped;
        long user = 0;
        long system = 0;
        fields >> user >> system;
        return user + system;
    };
    // Where others want the processor, too, for as long as it takes to see a difference; and again where the usual one
    // stood still for a while, in which the other takes what nobody wants.
    long usual_ticks = 0;
    long background_ticks = 1;
    for (int i = 0; i < 4 && background_ticks * 10 >= usual_ticks; ++i) {
        const long usual_before = used_ticks(usual);
        const long background_before = used_ticks(background);
        for (int tenths = 0; used_ticks(usual) < usual_before + 100 && tenths < 600; ++tenths)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        usual_ticks = used_ticks(usual) - usual_before;
        background_ticks = used_ticks(background) - background_before;
    }
    for (const pid_t pid : {usual, background}) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
    EXPECT_GE(usual_ticks, 100);
    EXPECT_LT(background_ticks * 10, usual_ticks) << "of " << background_ticks + usual_ticks << " ticks";
}

TEST(ChildProcess, RunsAProgramToWhichItsUserHasNoWay)
{
    const TemporaryFolder folder;
    fs::copy_file("/bin/true", folder.path() / "program");
    fs::permissions(folder.path(), fs::perms::owner_all);
    ChildOptions options;
    options.arguments = {(folder.path() / "program").string()};
    if (::geteuid() == 0) options.user = UnixUser{"nobody", 65534, 65534};

    const Result<std::string> outcome = run_child(std::move(options), kAnswerLimit);

    EXPECT_TRUE(outcome) << outcome.error().detail;
}

TEST(ChildProcess, ReportsAMissingProgram)
{
    ChildOptions options;
    options.arguments = {"/nonexistent/program"};

    EXPECT_EQ(run_child(std::move(options), kAnswerLimit).error().code, Errc::kUnavailable);
}

} // namespace
} // namespace fathom::server
