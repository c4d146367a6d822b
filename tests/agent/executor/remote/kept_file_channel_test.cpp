#include "agent/executor/remote/executor_messages.hpp"
#include "agent/executor/remote/kept_file_channel.hpp"
#include "core/base/process_answer.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <sys/socket.h>

namespace fathom::agent {
namespace {

TEST(KeptFileChannel, SaysThatTheHelperIsGone)
{
    ExecutorSockets sockets = make_executor_sockets().value();
    const KeptFileRead read = ask_for_kept_files(std::move(sockets.agent));
    sockets.helper = OpenFile();

    EXPECT_EQ(read(std::string(64, 'a'), 0, 4).error().code, Errc::kUnavailable);
}

TEST(KeptFileChannel, TakesNoLateAnswerForThatToAnotherQuestion)
{
    ExecutorSockets sockets = make_executor_sockets().value();
    const KeptFileRead read = ask_for_kept_files(std::move(sockets.agent));
    // An answer that is too long to be taken, and a good one behind it.
    const std::uint32_t length = ~0U;
    ASSERT_EQ(::send(sockets.helper.number(), &length, sizeof length, 0), static_cast<ssize_t>(sizeof length));
    send_message(sockets.helper.number(), encode_answer(std::string("of another"))).value();

    EXPECT_EQ(read(std::string(64, 'a'), 0, 4).error().code, Errc::kUnavailable);
    const Result<std::string> next = read(std::string(64, 'b'), 0, 4);

    ASSERT_FALSE(next) << *next;
    EXPECT_THAT(next.error().detail, testing::HasSubstr("restarted"));
}

} // namespace
} // namespace fathom::agent
