// The preloaded library, by a memory manager that hangs or answers as it should not: the test itself.
#include "tests/agent/gpu/gpu_sharing.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <vector>

namespace fathom::gpu {
namespace {

constexpr int kMaxWait_ms = 60'000; ///< machines are shared

class GpuOddManager : public GpuSharing {
  protected:
    GpuOddManager() : listener_(listen_for_programs(settings_.socket).value()) {}

    /// The next program that connects; the connection before is closed.
    void accept()
    {
        program_ = OpenFile();
        pollfd waited{.fd = listener_.number(), .events = POLLIN, .revents = 0};
        ASSERT_EQ(::poll(&waited, 1, kMaxWait_ms), 1);
        program_ = OpenFile(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
        ASSERT_GE(program_.number(), 0);
    }

    /// What the program says next, within the time; nothing where it does not.
    std::optional<Message> hear(int within_ms = kMaxWait_ms) const
    {
        pollfd waited{.fd = program_.number(), .events = POLLIN, .revents = 0};
        Message message;
        if (::poll(&waited, 1, within_ms) != 1 || ::recv(program_.number(), &message, sizeof(message), 0) <= 0)
            return std::nullopt;
        return message;
    }

    void say(const Message& message) const
    {
        EXPECT_EQ(::send(program_.number(), &message, sizeof(message), MSG_NOSIGNAL),
                  static_cast<ssize_t>(sizeof(message)));
    }

    /// As a manager should, with 16 MiB of each kind.
    static Message place()
    {
        return with_text({.type = MessageType::kPlace, .second = 16 * kMiB, .third = 8LL << 40U, .fourth = 16 * kMiB},
                         kGpu);
    }

    void expect(MessageType type) const
    {
        const std::optional<Message> heard = hear();
        ASSERT_TRUE(heard);
        EXPECT_EQ(heard->type, type);
    }

    OpenFile listener_;
    OpenFile program_;
};

/// Others of its threads would wait for the one that sends.
TEST_F(GpuOddManager, NoProgramWaitsForAManagerThatDoesNotReadAndNothingIsLost)
{
    const auto program = call("many_iterations");
    accept();
    expect(MessageType::kHello);
    expect(MessageType::kUseGpu);
    say(place());

    EXPECT_TRUE(program->wait_for_output("ended 600")) << program->output();
    int ended = 0;
    while (ended < 600) {
        const std::optional<Message> heard = hear();
        ASSERT_TRUE(heard) << "after " << ended;
        ended += heard->type == MessageType::kIterationEnd ? 1 : 0;
    }
    go_on("ended 600"); // so many more that the program gives the connection up
    EXPECT_EQ(program->wait(), 0) << program->output();
}

TEST_F(GpuOddManager, ALateAnswerToAnotherQuestionIsNotTaken)
{
    const auto program = call("holds"); // 6 MiB
    accept();
    expect(MessageType::kHello);
    expect(MessageType::kUseGpu);
    say(with_text({.type = MessageType::kLeft}, kGpu));
    say(with_text({.type = MessageType::kGrown, .first = 1, .second = 0}, kGpu));
    say(with_text({.type = MessageType::kRefused,
                   .second = static_cast<std::int64_t>(MessageType::kUseGpu),
                   .third = gpu_number("GPU-of-others")},
                  "of another GPU"));
    say(place());

    EXPECT_TRUE(program->wait_for_output("holds")) << program->output();
    go_on("holds");
    EXPECT_EQ(program->wait(), 0) << program->output();
    while (const std::optional<Message> heard = hear())
        EXPECT_NE(heard->type, MessageType::kGrow) << "the room that was given is not known";
    EXPECT_EQ(program->output().find("of another GPU"), std::string::npos) << program->output();
}

/// Nor for the answer to what the program said when it came back.
TEST_F(GpuOddManager, GrowthThatIsRefusedAfterAReconnectBreaksNoConnection)
{
    const auto program = call("grows"); // 2 MiB, then 12 more
    accept();
    expect(MessageType::kHello);
    expect(MessageType::kUseGpu);
    Message small = place();
    small.second = 2 * kMiB;
    say(small);
    EXPECT_TRUE(program->wait_for_output("before it grows")) << program->output();
    accept(); // the connection before is closed
    expect(MessageType::kHello);
    expect(MessageType::kUseGpu);
    go_on("before it grows");

    for (int asked = 0; asked < 2; ++asked) { // for more than it needs, then for that
        expect(MessageType::kGrow);
        say(with_text({.type = MessageType::kRefused,
                       .second = static_cast<std::int64_t>(MessageType::kGrow),
                       .third = gpu_number(kGpu)},
                      "there is no more"));
    }

    EXPECT_EQ(program->wait(), 0) << program->output(); // it is alone: the driver has the memory
}

/// While the library connects, or closes its connection.
TEST_F(GpuOddManager, AChildThatIsForkedAtAnyMomentHasNoConnectionOfItsParent)
{
    const auto program = call("forks");
    for (int connections = 0; connections < 4; ++connections)
        accept();
    go_on("has connected");

    EXPECT_EQ(program->wait(), 0) << program->output();
}

/// A place may be there only once others have given their turns back.
TEST_F(GpuOddManager, WhoIsNotAnsweredInTimeAsksAgainBeforeItTakesMemory)
{
    const auto program = call("holds", {{"FATHOM_GPU_WAIT_S", "60"}});
    accept();
    expect(MessageType::kHello);
    expect(MessageType::kUseGpu);

    expect(MessageType::kUseGpu); // 10 s later
    EXPECT_EQ(program->output().find("holds"), std::string::npos) << program->output();
    say(place());

    EXPECT_TRUE(program->wait_for_output("holds")) << program->output();
    go_on("holds");
    EXPECT_EQ(program->wait(), 0) << program->output();
}

} // namespace
} // namespace fathom::gpu
