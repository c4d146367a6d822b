#include "agent/executor/local/job_users.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// A process of the user that waits; 0 when this process may not become others.
pid_t start_as(unsigned uid)
{
    int ready[2];
    if (::pipe(ready) != 0) return 0;
    const pid_t pid = ::fork();
    if (pid == 0) {
        const char answer = ::setuid(uid) == 0 ? 'y' : 'n';
        static_cast<void>(!::write(ready[1], &answer, 1));
        for (;;)
            ::pause();
    }
    char answer = 'n';
    static_cast<void>(!::read(ready[0], &answer, 1));
    ::close(ready[0]);
    ::close(ready[1]);
    if (answer == 'y') return pid;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return 0;
}

TEST(PickJobUser, TakesAnIdThatNobodyHas)
{
    const Result<JobUser> user = pick_job_user({.first = 731001, .last = 731003}, {731001, 731003});

    ASSERT_TRUE(user);
    EXPECT_EQ(user->uid, 731002U);
    EXPECT_EQ(user->gid, 731002U);
    EXPECT_EQ(pick_job_user({.first = 731001, .last = 731002}, {731001, 731002}).error().code, Errc::kUnavailable);
}

TEST(PickJobUser, DoesNotTakeAnIdWithAProcessWhoeverStartedIt)
{
    EXPECT_TRUE(has_processes(::getuid()));
    EXPECT_FALSE(has_processes(731005));
    const pid_t stranger = start_as(731005);
    if (stranger == 0) GTEST_SKIP() << "only root starts processes of other users";

    EXPECT_TRUE(has_processes(731005));
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(pick_job_user({.first = 731005, .last = 731006}, {}).value().uid, 731006U);
    EXPECT_FALSE(pick_job_user({.first = 731005, .last = 731005}, {}));

    ::kill(stranger, SIGKILL);
    ::waitpid(stranger, nullptr, 0);
    EXPECT_FALSE(has_processes(731005));
}

} // namespace
} // namespace fathom::agent
