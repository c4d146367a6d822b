#pragma once

#include "agent/executor/executor.hpp"
#include "core/base/open_inside.hpp"

#include <optional>

namespace fathom::agent {

// What the agent says to its helper, which owns the executor and may run as root, and what that answers: messages over
// a pair of local sockets, each four bytes of length in the machine's order and then so many bytes. A request starts
// with a byte that says which; each but kPrepare gets one answer (process_answer), in order. Kept files have a pair of
// sockets of their own (kept_file_channel).

enum class ExecutorRequest : char {
    kPrepare = 'p',      ///< no answer
    kStart = 's',        ///< with a RunOrder as JSON
    kLook = 'l',         ///< with an attempt's id, as are those below without another word; answer: a RunView
    kWatch = 'w',        ///<
    kUnwatch = 'u',      ///<
    kChanges = 'c',      ///< with nothing; answer: ExecutorChanges
    kGivenCpus = 'g',    ///< answer: a list of processors as the kernel writes it
    kCancel = 'x',       ///<
    kReadOutput = 'o',   ///< with an OutputQuestion; answer: the bytes themselves
    kEndLeftovers = 'e', ///<
    kKnown = 'k',        ///< with nothing; answer: a line for each attempt
    kRemove = 'r',       ///<
    kLookAtQueues = 'q', ///< with QueuePlaces; answer: nothing
    kReadSettings = 'h', ///< with nothing; answer: what the helper's owner makes of it
};

/// Longest message: an order with a job's files.
inline constexpr std::size_t kMaxExecutorMessageBytes = 64UL << 20U;
/// Most bytes of output, or of a kept file, in one answer.
inline constexpr std::size_t kMaxOutputBytes = 1UL << 20U;

struct ExecutorSockets {
    OpenFile agent;
    OpenFile helper;
};

/// Whoever waits on one of them for the other end in the middle of a message gives up after a minute.
/// @error kUnavailable  too many files are open.
Result<ExecutorSockets> make_executor_sockets();

/// Blocks while the other end does not read.
/// @error kTooLarge     longer than kMaxExecutorMessageBytes; nothing was sent.
/// @error kUnavailable  the other end is gone, or stands still.
Result<void> send_message(int socket, std::string_view text);

/// The next message, which is waited for however long it takes to begin.
/// @error kNotFound     the other end is gone.
/// @error kUnavailable  it stands still in the middle of a message, or sent what is none.
Result<std::string> receive_message(int socket);

std::string encode(const RunView& view);
Result<RunView> decode_run_view(std::string_view text);

std::string encode(const std::vector<QueuePlace>& places);
Result<std::vector<QueuePlace>> decode_queue_places(std::string_view text);

std::string encode(const ExecutorChanges& changes);
Result<ExecutorChanges> decode_changes(std::string_view text);

struct OutputQuestion {
    AttemptId attempt_id;
    OutputStream stream{};
    std::int64_t offset{};
    std::size_t max_bytes{};
};
std::string encode(const OutputQuestion& question);
Result<OutputQuestion> decode_output_question(std::string_view text);

struct KeptFileQuestion {
    std::string sha256; ///< 64 lower-case hex digits
    std::int64_t offset{};
    std::size_t max_bytes{};
};
std::string encode(const KeptFileQuestion& question);
Result<KeptFileQuestion> decode_kept_file_question(std::string_view text);

} // namespace fathom::agent
