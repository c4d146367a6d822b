#include "core/base/wait_for_child.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom {
namespace {

/// A pipe that the child reads, which ends with status 3 when the other end is closed.
class WaitingChild {
  public:
    WaitingChild()
    {
        if (::pipe(hold_) != 0 || ::pipe(input_) != 0) throw std::runtime_error("no pipe");
        process_ = ::fork();
        if (process_ == 0) {
            ::close(hold_[1]);
            char byte = 0;
            const ssize_t count = ::read(hold_[0], &byte, 1);
            ::_exit(count == 0 ? 3 : 4);
        }
    }
    ~WaitingChild()
    {
        if (!is_reaped_) {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
        for (const int end : {hold_[0], input_[0], input_[1]})
            ::close(end);
        let_end();
    }
    WaitingChild(const WaitingChild&) = delete;
    WaitingChild& operator=(const WaitingChild&) = delete;

    void let_end()
    {
        if (hold_[1] >= 0) ::close(hold_[1]);
        hold_[1] = -1;
    }
    void give_input() const { EXPECT_EQ(::write(input_[1], "x", 1), 1); }
    /// Exit status; -1: it was killed, or there is none.
    int reap()
    {
        int status = 0;
        if (::waitpid(process_, &status, 0) != process_) return -1;
        is_reaped_ = true;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    pid_t process() const { return process_; }
    int input() const { return input_[0]; }

  private:
    int hold_[2]{};
    int input_[2]{};
    pid_t process_{};
    bool is_reaped_ = false;
};

TEST(WaitForChildOrInput, IsOverWhenTheChildHasEnded)
{
    WaitingChild child;
    const OpenFile end = open_child_end(child.process());
    child.let_end();

    EXPECT_TRUE(wait_for_child_or_input(child.process(), end, child.input()));
    EXPECT_EQ(child.reap(), 3) << "it was not reaped";
}

TEST(WaitForChildOrInput, IsOverWhenTheChildHasEndedAlsoWhereTheSystemHasNoDescriptorOfIt)
{
    WaitingChild child;
    child.let_end();

    EXPECT_TRUE(wait_for_child_or_input(child.process(), OpenFile(), child.input()));
    EXPECT_EQ(child.reap(), 3);
    EXPECT_TRUE(wait_for_child_or_input(child.process(), OpenFile(), child.input())) << "it is no child any more";
}

TEST(WaitForChildOrInput, IsOverWhenThereIsSomethingToRead)
{
    const WaitingChild child;
    child.give_input();

    EXPECT_FALSE(wait_for_child_or_input(child.process(), OpenFile(), child.input()));
    EXPECT_FALSE(wait_for_child_or_input(child.process(), open_child_end(child.process()), child.input()));
}

TEST(HasChildEnded, TellsOfAnEndThatIsStillToBeReaped)
{
    WaitingChild child;
    EXPECT_FALSE(has_child_ended(child.process()));
    child.let_end();

    EXPECT_TRUE(wait_for_child_or_input(child.process(), OpenFile(), -1));

    EXPECT_TRUE(has_child_ended(child.process()));
    EXPECT_EQ(child.reap(), 3);
    EXPECT_TRUE(has_child_ended(child.process())) << "it is no child any more";
}

TEST(ChildPollLimit, IsNeededOnlyWhereTheSystemHasNoDescriptorOfTheChild)
{
    EXPECT_GT(child_poll_limit_ms(OpenFile()), 0);
    EXPECT_EQ(child_poll_limit_ms(OpenFile(::dup(STDERR_FILENO))), -1);
}

TEST(ReapChild, TellsHowTheChildEnded)
{
    const pid_t child = ::fork();
    if (child == 0) ::_exit(3);
    ASSERT_GT(child, 0);

    int status = 0;
    EXPECT_EQ(reap_child(child, status), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(ReapChild, FailsWithoutSuchAChild)
{
    int status = 7;
    EXPECT_EQ(reap_child(::getpid(), status), -1); // nobody is the own child
    EXPECT_EQ(status, 7);
}

} // namespace
} // namespace fathom
