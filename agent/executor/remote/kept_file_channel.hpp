#pragma once

#include "agent/executor/kept_file_read.hpp"
#include "core/base/open_inside.hpp"

namespace fathom::agent {

// Kept files on their way from the helper to the agent, over a pair of sockets of their own (make_executor_sockets): a
// file system that stands still holds up nothing else that the two say to each other.

/// The agent's end. One question after another, whoever asks; each waits for its answer.
/// @error kUnavailable  also: the helper is gone, or did not answer as it should; it is not asked again then.
KeptFileRead ask_for_kept_files(OpenFile socket);

/// The helper's answer to a question, once that is seen to be no more than the agent may ask: a file by the SHA-256 of
/// its content alone, and at most kMaxOutputBytes of it.
std::string answer_kept_file_question(const KeptFileRead& read, std::string_view question);

/// The helper's end: a thread of its own answers until the agent's end is closed. Nobody waits for it, as it may be in
/// a read that does not come back: call this after the last fork.
void serve_kept_files(OpenFile socket, KeptFileRead read);

} // namespace fathom::agent
