#include "agent/executor/batch/moved_attempts.hpp"

#include <gtest/gtest.h>

#include <poll.h>

namespace fathom::agent {
namespace {

bool is_readable(const MovedAttempts& moved)
{
    pollfd one{moved.descriptor(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
}

TEST(MovedAttempts, TheDescriptorIsReadableWhileThereIsSomethingToTell)
{
    MovedAttempts moved;
    EXPECT_FALSE(is_readable(moved));
    EXPECT_TRUE(moved.is_empty());

    moved.add(AttemptId{"att_1"});
    moved.add(AttemptId{"att_2"});
    moved.add(AttemptId{"att_1"});

    EXPECT_TRUE(is_readable(moved));
    moved.hush();
    EXPECT_FALSE(is_readable(moved));
    EXPECT_EQ(moved.take(), (std::set{AttemptId{"att_1"}, AttemptId{"att_2"}}));
    EXPECT_TRUE(moved.is_empty());
    moved.hush(); // does not block
}

TEST(MovedAttempts, ThereMayBeSomethingElseToTell)
{
    const MovedAttempts moved;

    moved.wake();

    EXPECT_TRUE(is_readable(moved));
    EXPECT_TRUE(moved.is_empty());
}

} // namespace
} // namespace fathom::agent
