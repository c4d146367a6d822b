#pragma once

namespace fathom::server {

/// What the server may ask of its supervisor, which may run as root: nothing else, and no name of a file or program
/// among it. One packet (core/base/packet_socket): this byte, then the request's text. The answer is a packet, too
/// (process_answer).
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

} // namespace fathom::server
