#include "agent/executor/local/trial_process.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

namespace fathom::agent {
namespace {

TEST(TrialProcess, TellsWhetherTheTrialSucceeded)
{
    EXPECT_TRUE(succeeds_in_child([] { return true; }));
    EXPECT_FALSE(succeeds_in_child([] { return false; }));
}

TEST(TrialProcess, FailsWhereTheChildIsKilled)
{
    EXPECT_FALSE(succeeds_in_child([] { return ::kill(::getpid(), SIGKILL) == 0; }));
}

TEST(TrialProcess, ChangesNothingHere)
{
    const pid_t here = ::getpid();
    bool is_changed = false;

    EXPECT_TRUE(succeeds_in_child([&] {
        is_changed = true;
        return ::getpid() != here;
    }));

    EXPECT_FALSE(is_changed);
}

} // namespace
} // namespace fathom::agent
