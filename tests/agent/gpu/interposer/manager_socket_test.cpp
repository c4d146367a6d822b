// A program's end of the connection to the memory manager, by managers that do not read, end, or answer late.
#include "agent/gpu/interposer/manager_socket.hpp"
#include "core/base/open_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace fathom::gpu {
namespace {

class GpuManagerSocket : public testing::Test {
  protected:
    GpuManagerSocket()
    {
        std::array<int, 2> ends{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
        manager_ = OpenFile(ends[0]);
        struct stat file{};
        EXPECT_EQ(::fstat(ends[1], &file), 0);
        program_ = {ends[1], 1, file.st_ino};
    }
    ~GpuManagerSocket() override { close_socket(program_); }

    void say(const Message& message) const
    {
        EXPECT_EQ(::send(manager_.number(), &message, sizeof(message), MSG_NOSIGNAL),
                  static_cast<ssize_t>(sizeof(message)));
    }

    /// The program closes the descriptor, and gets its number for a file of its own.
    OpenFile replaced() const
    {
        OpenFile other(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        EXPECT_EQ(::dup3(other.number(), program_.descriptor, O_CLOEXEC), program_.descriptor);
        return other;
    }

    OpenFile manager_;
    ManagerSocket program_;
};

TEST_F(GpuManagerSocket, OthersWaitUntilTheManagerSaysThatThereAreNone)
{
    EXPECT_TRUE(do_others_wait(program_)); // no news
    say({.type = MessageType::kRoom, .first = 0});
    EXPECT_TRUE(do_others_wait(program_));
    say({.type = MessageType::kShared, .first = 0, .second = 1}); // behind other news
    EXPECT_FALSE(do_others_wait(program_));
    say({.type = MessageType::kShared, .first = 1, .second = 1});
    EXPECT_TRUE(do_others_wait(program_));

    // All of it is still to be read.
    for (const MessageType type : {MessageType::kRoom, MessageType::kShared, MessageType::kShared}) {
        const std::optional<Message> next = next_message(program_);
        ASSERT_TRUE(next);
        EXPECT_EQ(next->type, type);
    }
}

TEST_F(GpuManagerSocket, NobodyIsKnownToWaitWhereTheConnectionCannotBeLookedAt)
{
    EXPECT_FALSE(do_others_wait({}));
    const OpenFile other = replaced();
    EXPECT_FALSE(do_others_wait(program_)) << "a file of the program's is looked at";
    ASSERT_EQ(::close(program_.descriptor), 0);
    EXPECT_FALSE(do_others_wait(program_));
    program_ = {};
}

TEST_F(GpuManagerSocket, NobodyWaitsForAManagerThatIsGoneOrSpeaksAnotherProtocol)
{
    say({.version = kProtocolVersion + 1, .type = MessageType::kShared, .first = 1});
    EXPECT_FALSE(do_others_wait(program_));
    EXPECT_FALSE(next_message(program_));
    manager_ = OpenFile();
    EXPECT_FALSE(do_others_wait(program_));
}

TEST_F(GpuManagerSocket, AManagerThatDoesNotReadStopsNobody)
{
    int sent = 0;
    Sending last = Sending::kSent;
    for (; sent < 1'000'000 && last == Sending::kSent; ++sent)
        last = send_at_once(program_, {.type = MessageType::kIterationEnd});

    EXPECT_EQ(last, Sending::kFull) << "after " << sent;
    Message read;
    EXPECT_EQ(::recv(manager_.number(), &read, sizeof(read), 0), static_cast<ssize_t>(sizeof(read)));
    EXPECT_EQ(send_at_once(program_, {.type = MessageType::kIterationEnd}), Sending::kSent);
    manager_ = OpenFile();
    EXPECT_EQ(send_at_once(program_, {.type = MessageType::kIterationEnd}), Sending::kBroken);
}

TEST_F(GpuManagerSocket, AFileOfTheProgramsWithTheSameNumberIsLeftAlone)
{
    const OpenFile other = replaced();

    EXPECT_FALSE(is_own(program_));
    EXPECT_EQ(send_at_once(program_, {.type = MessageType::kIterationEnd}), Sending::kBroken);
    EXPECT_FALSE(next_message(program_));
    close_socket(program_);
    EXPECT_NE(::fcntl(program_.descriptor, F_GETFD), -1) << "a file of the program's is closed";

    ASSERT_EQ(::close(program_.descriptor), 0);
    program_ = {};
}

TEST(GpuProtocol, AnAnswerFitsAQuestionOfItsTypeAndGpuOnly)
{
    const auto of = [](MessageType type, const char* gpu, std::int64_t first = 0) {
        return with_text({.type = type, .first = first}, gpu);
    };
    const Message place = of(MessageType::kUseGpu, "GPU-1");
    const Message growth = of(MessageType::kGrow, "GPU-1", 1);
    const Message rest = of(MessageType::kAskLeft, "GPU-1");

    EXPECT_TRUE(is_answer_to(place, of(MessageType::kPlace, "GPU-1")));
    EXPECT_TRUE(is_answer_to(growth, of(MessageType::kGrown, "GPU-1", 1)));
    EXPECT_TRUE(is_answer_to(rest, of(MessageType::kLeft, "GPU-1", -1)));

    EXPECT_FALSE(is_answer_to(place, of(MessageType::kPlace, "GPU-2")));
    EXPECT_FALSE(is_answer_to(place, of(MessageType::kLeft, "GPU-1")));
    EXPECT_FALSE(is_answer_to(growth, of(MessageType::kGrown, "GPU-1", 0))) << "of the other kind";
    EXPECT_FALSE(is_answer_to(growth, of(MessageType::kPlace, "GPU-1")));
    EXPECT_FALSE(is_answer_to(rest, of(MessageType::kGrown, "GPU-1")));
    EXPECT_FALSE(is_answer_to(of(MessageType::kUse, "GPU-1"), of(MessageType::kLeft, "GPU-1"))) << "no question";
}

TEST(GpuProtocol, ARefusalFitsTheQuestionThatItNames)
{
    const Message place = with_text({.type = MessageType::kUseGpu}, "GPU-1");
    const Message growth = with_text({.type = MessageType::kGrow}, "GPU-1");
    Message refusal = with_text({.type = MessageType::kRefused}, "it is too much");
    EXPECT_TRUE(is_answer_to(place, refusal)) << "a manager of before names none";
    EXPECT_FALSE(is_answer_to(with_text({.type = MessageType::kAskLeft}, "GPU-1"), refusal));

    refusal.second = static_cast<std::int64_t>(MessageType::kGrow);
    refusal.third = gpu_number("GPU-1");

    EXPECT_TRUE(is_answer_to(growth, refusal));
    EXPECT_FALSE(is_answer_to(place, refusal));
    EXPECT_FALSE(is_answer_to(with_text({.type = MessageType::kGrow}, "GPU-2"), refusal));
}

} // namespace
} // namespace fathom::gpu
