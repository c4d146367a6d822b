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

    Result<std::string> ask(const std::string& question) const
    {
        if (socket.number() < 0) return Error{Errc::kUnavailable, "copies cannot be read until the agent is restarted"};
        if (Result<void> asked = send_message(socket.number(), question); !asked) return asked.error();
        return receive_message(socket.number());
    }

    OpenFile socket;
    std::mutex mutex; ///< from a question to its answer
};

} // namespace

KeptFileRead ask_for_kept_files(OpenFile socket)
{
    return [end = std::make_shared<AskingEnd>(std::move(socket))](const std::string& sha256, std::int64_t offset,
                                                                  std::size_t max_bytes) -> Result<std::string> {
        const std::scoped_lock lock(end->mutex);
        const Result<std::string> answer = end->ask(encode(KeptFileQuestion{sha256, offset, max_bytes}));
        if (answer) return decode_answer(*answer);
        // What came of this question later would be taken for the answer to the next one.
        end->socket = OpenFile();
        return Error{Errc::kUnavailable, answer.error().detail};
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
