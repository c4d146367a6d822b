#include "probes/operators/exchange_process.hpp"

#include "core/base/argument_pointers.hpp"
#include "core/base/wait_for_child.hpp"
#include "probes/operators/exchange_reply.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fathom::probes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kEndTimeout{3}; ///< for an end, before a signal and before the next
constexpr std::size_t kMaxSkippedBytes = 64UL << 10U;
constexpr std::size_t kMaxLastWordsBytes = 400;
constexpr off_t kMaxStderrBytes = 64 << 10; ///< what is written beyond is lost

Error cannot(const std::string& what)
{
    return Error{Errc::kUnavailable, what + ": " + std::error_code(errno, std::generic_category()).message()};
}

/// A file in memory that does not grow: how much was written is where its position is, which the child shares.
OpenFile stderr_file()
{
    OpenFile file(::memfd_create("fathom-exchange-stderr", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file.number() < 0 || ::ftruncate(file.number(), kMaxStderrBytes) != 0 ||
        ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_GROW) != 0)
        return OpenFile();
    return file;
}

/// In the child, between fork and exec: nothing is allocated.
[[noreturn]] void become_launcher(char* const* arguments, char* const* environment, int socket, int stderr_memory,
                                  pid_t parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127); // it ended before the line above
    if (::dup2(socket, STDIN_FILENO) < 0 || ::dup2(socket, STDOUT_FILENO) < 0 ||
        ::dup2(stderr_memory, STDERR_FILENO) < 0)
        ::_exit(127);
    ::execve(arguments[0], arguments, environment);
    ::_exit(127);
}

} // namespace

std::vector<std::string> own_environment()
{
    std::vector<std::string> settings;
    for (char** setting = environ; setting != nullptr && *setting != nullptr; ++setting)
        settings.emplace_back(*setting);
    return settings;
}

ExchangeProcess::ExchangeProcess(pid_t pid, OpenFile socket, OpenFile stderr_memory, std::string name)
    : pid_(pid), socket_(std::move(socket)), stderr_memory_(std::move(stderr_memory)), name_(std::move(name))
{
}

Result<std::unique_ptr<ExchangeProcess>> ExchangeProcess::start(std::vector<std::string> command,
                                                                std::vector<std::string> environment, std::string name)
{
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return cannot("cannot make a socket");
    OpenFile ours(ends[0]);
    const OpenFile theirs(ends[1]);
    OpenFile words = stderr_file();
    if (words.number() < 0) return cannot("cannot make a file in memory");
    const std::vector<char*> arguments = argument_pointers(command);
    const std::vector<char*> variables = argument_pointers(environment);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) become_launcher(arguments.data(), variables.data(), theirs.number(), words.number(), parent);
    if (child < 0) return cannot("cannot start " + command.front());
    return std::unique_ptr<ExchangeProcess>(
        new ExchangeProcess(child, std::move(ours), std::move(words), std::move(name)));
}

ExchangeProcess::~ExchangeProcess()
{
    ::shutdown(socket_.number(), SHUT_WR);
    if (has_failed_) ::kill(pid_, SIGTERM);
    for (const int signal : {SIGTERM, SIGKILL}) {
        if (wait_for_child(pid_, Clock::now() + kEndTimeout)) break;
        ::kill(pid_, signal);
    }
    int ignored = 0;
    reap_child(pid_, ignored);
}

Result<std::string> ExchangeProcess::read_reply(std::chrono::milliseconds limit)
{
    const Clock::time_point deadline = Clock::now() + limit;
    std::size_t seen = 0;
    while (true) {
        const std::size_t end = unread_.find('\n');
        if (end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            if (line.starts_with(kExchangeReplyPrefix) && line.size() < kMaxExchangeReplyBytes) return line;
            continue;
        }
        if (seen > kMaxSkippedBytes) return failed("says much, and no answer");
        if (!wait_for_input(socket_.number(), deadline)) return failed("does not answer");
        std::array<char, 4096> block{};
        const ssize_t size = ::read(socket_.number(), block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return failed("has ended");
        seen += static_cast<std::size_t>(size);
        unread_.append(block.data(), static_cast<std::size_t>(size));
    }
}

Result<std::string> ExchangeProcess::ask(std::string_view command, std::chrono::milliseconds limit)
{
    const std::string line = std::string(command) + "\n";
    // A command is shorter than any buffer, and is sent when the last one was answered.
    if (::send(socket_.number(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
        return failed("takes no command");
    return read_reply(limit);
}

/// The end of what it wrote to standard error, on one line.
std::string ExchangeProcess::last_words() const
{
    const off_t end = ::lseek(stderr_memory_.number(), 0, SEEK_CUR);
    if (end <= 0) return "";
    const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(kMaxLastWordsBytes));
    std::string text(static_cast<std::size_t>(end - begin), '\0');
    const ssize_t size = ::pread(stderr_memory_.number(), text.data(), text.size(), begin);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, ' ');
    const auto is_space = [](char a, char b) { return a == ' ' && b == ' '; };
    text.erase(std::unique(text.begin(), text.end(), is_space), text.end());
    return text;
}

Error ExchangeProcess::failed(const std::string& what)
{
    has_failed_ = true;
    const std::string words = last_words();
    return Error{Errc::kUnavailable, name_ + ' ' + what + (words.empty() ? "" : "; it says: " + words)};
}

} // namespace fathom::probes
