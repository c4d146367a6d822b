#pragma once

#include "core/base/open_inside.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// What the server may ask of its supervisor, which may run as root: nothing else, and no name of a file or program
/// among it. One message over a pair of local sockets, which keep messages apart: this byte, then the request's text.
/// The answer is a message, too (process_answer).
enum class SupervisorRequest : char {
    kStartDatabase = 'd',    ///< answer: URL, NUL, the command with which an administrator gets in; or why not
    kDatabaseState = 's',    ///< answer: "ok", or what is wrong
    kFreeBytes = 'f',        ///< answer: decimal, of the database's disk; empty when nobody can tell
    kReadAdminToken = 'r',   ///< answer: the file's content
    kWriteAdminToken = 'w',  ///< with the content
    kWriteAuthorities = 'a', ///< with the certificates of the network's CAs
    kReadAuthorityKey = 'k', ///< answer: the content of the file that the authority is encrypted with
    kMakeAuthorityKey = 'm', ///< the same; where there is no such file it is made first
    kReadCertificate = 'c',  ///< answer: of the REST listener as the settings name them: certificates, NUL, key
    kFindVerifier = 'v',     ///< answer: "yes", or empty when there is no program that can verify
};

/// Over a second pair: at most one verifying probe at a time.
enum class VerifyingRequest : char {
    kRun = 'r', ///< with two descriptors, the task to read and where output goes; answer, when it has ended: how
    kEnd = 'e', ///< kills it; no answer of its own
};

/// Longest text of a message.
inline constexpr std::size_t kMaxExecutorMessageBytes = 64UL << 10U;

struct SocketPair {
    OpenFile first;
    OpenFile second;
};

/// @error kUnavailable  too many files are open.
Result<SocketPair> make_message_pair();

/// Sends one message whole, with descriptors, which stay open here. Blocks while the other end does not read.
/// @error kUnavailable  the other end is gone.
/// @error kTooLarge     it is longer than kMaxExecutorMessageBytes.
Result<void> send_message(int socket, const std::string& text, std::initializer_list<int> descriptors = {});

struct Message {
    std::string text;
    std::vector<OpenFile> descriptors;
};

/// The next message; none when the other end is gone, or sent what is no message. Blocks.
std::optional<Message> receive_message(int socket);

} // namespace fathom::server
