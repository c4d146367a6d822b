#include "server/app/stop_requests.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/signalfd.h>
#include <unistd.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// With a pipe in place of a signalfd.
class StopRequestsTest : public testing::Test {
  protected:
    void SetUp() override
    {
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
        stops_ = std::make_unique<StopRequests>(OpenFile(ends[0]));
        sender_ = OpenFile(ends[1]);
    }

    void send(int number) const
    {
        signalfd_siginfo signal{};
        signal.ssi_signo = static_cast<std::uint32_t>(number);
        ASSERT_EQ(::write(sender_.number(), &signal, sizeof signal), static_cast<ssize_t>(sizeof signal));
    }

    /// What is taken so long after the begin; "": nothing is asked for.
    std::string taken(std::chrono::milliseconds at) const
    {
        const std::optional<RequestedStop> stop = stops_->take(begin_ + at);
        if (!stop) return {};
        return std::to_string(stop->signal) + (stop->is_at_once ? " at once" : "");
    }

    std::unique_ptr<StopRequests> stops_;
    OpenFile sender_;
    StopRequests::SteadyTime begin_ = std::chrono::steady_clock::now();
};

const std::string kTerm = std::to_string(SIGTERM);

TEST_F(StopRequestsTest, WithoutASignalNothingIsAsked)
{
    EXPECT_EQ(taken(0ms), "");
    EXPECT_EQ(stops_->poll_limit_ms(begin_), -1);
}

TEST_F(StopRequestsTest, WhatComesWithinASecondIsOneWithTheFirst)
{
    send(SIGTERM);
    EXPECT_EQ(taken(5000ms), kTerm);
    send(SIGTERM);
    send(SIGINT);
    EXPECT_EQ(taken(5999ms), "");
}

TEST_F(StopRequestsTest, AnotherOneLaterAsksForAStopAtOnce)
{
    send(SIGTERM);
    EXPECT_EQ(taken(0ms), kTerm);
    EXPECT_EQ(stops_->poll_limit_ms(begin_ + 400ms), 600);
    EXPECT_EQ(taken(1000ms), "");
    EXPECT_EQ(stops_->poll_limit_ms(begin_ + 1000ms), -1);
    send(SIGINT);
    EXPECT_EQ(taken(1001ms), std::to_string(SIGINT) + " at once");
}

/// What has come while nobody took anything may have come at once.
TEST_F(StopRequestsTest, WhoIsHeldUpTakesSeveralForOne)
{
    send(SIGTERM);
    EXPECT_EQ(taken(0ms), kTerm);
    send(SIGTERM);
    EXPECT_EQ(stops_->poll_limit_ms(begin_ + 9000ms), 0);
    EXPECT_EQ(taken(9000ms), "");
    send(SIGTERM);
    EXPECT_EQ(taken(9001ms), kTerm + " at once");
}

} // namespace
} // namespace fathom::server
