#include "agent/executor/remote/kept_file_channel.hpp"

#include "agent/executor/remote/executor_messages.hpp"
#include "core/base/process_answer.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

namespace fathom::agent {
namespace {

/// Shared by the copies of one KeptFileRead.
struct AskingEnd {
    explicit AskingEnd(OpenFile open) : socket(std::move(open)) {}

    OpenFile socket;
    std::mutex mutex; ///< from a question to its answer
};

} // namespace

KeptFileRead ask_for_kept_files(OpenFile socket)
{
    return [end = std::make_shared<AskingEnd>(std::move(socket))](const std::string& sha256, std::int64_t offset,
                                                                  std::size_t max_bytes) -> Result<std::string> {
        const std::scoped_lock lock(end->mutex);
        const Result<void> asked =
            send_message(end->socket.number(), encode(KeptFileQuestion{sha256, offset, max_bytes}));
        if (!asked) return Error{Errc::kUnavailable, asked.error().detail};
        const Result<std::string> answer = receive_message(end->socket.number());
        if (!answer) return Error{Errc::kUnavailable, answer.error().detail};
        return decode_answer(*answer);
    };
}

std::string answer_kept_file_question(const KeptFileRead& read, std::string_view question)
{
    const Result<KeptFileQuestion> asked = decode_kept_file_question(question);
    if (!asked) return encode_answer(asked.error());
    return encode_answer(read(asked->sha256, asked->offset, std::min(asked->max_bytes, kMaxOutputBytes)));
}

void serve_kept_files(OpenFile socket, KeptFileRead read)
{
    std::thread([socket = std::move(socket), read = std::move(read)] {
        for (;;) {
            const Result<std::string> question = receive_message(socket.number());
            if (!question) return; // the agent is gone
            if (!send_message(socket.number(), answer_kept_file_question(read, *question))) return;
        }
    }).detach();
}

} // namespace fathom::agent
