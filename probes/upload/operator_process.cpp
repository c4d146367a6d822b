#include "probes/upload/operator_process.hpp"

#include "core/base/secret.hpp"
#include "core/base/wait_for_child.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fathom::probes {
namespace {

using wire::Command;
using wire::Reply;
using wire::Request;
using wire::Status;

constexpr std::chrono::seconds kStartLimit{10};
constexpr std::chrono::milliseconds kNoTimeout{0};
constexpr std::chrono::milliseconds kLeaveTimeout{200}; ///< for a guest that was asked to leave
constexpr std::chrono::milliseconds kEndTimeout{2000};  ///< for bubblewrap to tell how its child ended
constexpr std::size_t kMaxLastWords = 400;

/// Text from the sandbox as one printable line.
std::string printable(std::string_view text)
{
    std::string line;
    for (const char c : text.substr(0, kMaxLastWords))
        line += c >= ' ' && c <= '~' ? c : ' ';
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

std::string after_colon(const std::string& text)
{
    return text.empty() ? "" : ": " + text;
}

std::string signal_name(int signal)
{
    const char* const abbreviation = sigabbrev_np(signal);
    return fmt::format("signal {}{}", signal,
                       abbreviation != nullptr ? fmt::format(" (SIG{})", abbreviation) : std::string());
}

std::string system_call_name(std::uint64_t number)
{
    const std::unique_ptr<char, decltype(&std::free)> name(
        number < 100'000 ? seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number)) : nullptr,
        &std::free);
    return name != nullptr ? name.get() : fmt::format("number {}", number);
}

Error no_sandbox(const std::string& why)
{
    return Error{Errc::kUnavailable,
                 "no sandbox can be made here, and uploaded operators are not run without one: " + why +
                     " (needed: the package bubblewrap, seccomp in the kernel, and user namespaces for ordinary users; "
                     "where sysctl kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns "
                     "exists, it must be 1 or 0 respectively, and user.max_user_namespaces must not be 0)"};
}

} // namespace

std::string reply_text(const wire::Reply& reply)
{
    const auto* const end = std::find(std::begin(reply.text), std::end(reply.text), '\0');
    return printable({reply.text, static_cast<std::size_t>(end - std::begin(reply.text))});
}

SharedMemory::~SharedMemory()
{
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept
{
    std::swap(bytes_, other.bytes_);
    return *this;
}

Result<std::unique_ptr<OperatorProcess>> OperatorProcess::start(std::string_view object, const SandboxNeeds& needs)
{
    Result<StartedProcess> started = start_in_sandbox(object, needs);
    if (!started) return no_sandbox(started.error().detail);
    auto process = std::make_unique<OperatorProcess>(std::move(*started));
    if (Result<void> ready = process->wait_until_ready(); !ready) return ready.error();
    return process;
}

OperatorProcess::OperatorProcess(StartedProcess started) : process_(std::move(started)) {}

OperatorProcess::~OperatorProcess()
{
    // Asked, but not waited for long: what the guest's last function does with its time is nobody's concern.
    const Request request{.ticket = 0, .command = Command::kEnd};
    const bool asked =
        process_.pid > 0 && ::send(process_.socket.number(), &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
    reap(asked ? kLeaveTimeout : kNoTimeout);
}

Result<void> OperatorProcess::wait_until_ready()
{
    const Result<Reply> hello = answer_to(0, "starting", Clock::now() + kStartLimit);
    if (hello) return {};
    const std::string words = last_words();
    return no_sandbox(words.empty() ? hello.error().detail : words);
}

Result<Reply> OperatorProcess::load(const wire::Start& start, Clock::time_point until)
{
    Request request{.ticket = 0, .command = Command::kStart};
    fill_random({reinterpret_cast<std::uint8_t*>(&request.ticket), sizeof request.ticket});
    if (::send(process_.socket.number(), &request, sizeof request, MSG_NOSIGNAL) < 0 ||
        ::send(process_.socket.number(), &start, sizeof start, MSG_NOSIGNAL) < 0)
        return ended("starting");
    return answer_to(request.ticket, "being loaded", until);
}

Result<Reply> OperatorProcess::call(Command command, std::uint64_t argument, std::string_view doing,
                                    Clock::time_point until)
{
    Request request{.ticket = 0, .command = command, .padding = 0, .argument = argument};
    // Random, so that an answer which the guest wrote by itself does not fit.
    fill_random({reinterpret_cast<std::uint8_t*>(&request.ticket), sizeof request.ticket});
    if (::send(process_.socket.number(), &request, sizeof request, MSG_NOSIGNAL) < 0) return ended(doing);
    return answer_to(request.ticket, doing, until);
}

Result<Reply> OperatorProcess::answer_to(std::uint64_t ticket, std::string_view doing, Clock::time_point until)
{
    const Result<Reply> reply = receive(doing, until);
    if (!reply) return reply;
    if (reply->ticket != ticket) return misbehaved(fmt::format("answered out of turn while {}", doing));
    switch (reply->status) {
    case Status::kOk:
        return reply;
    case Status::kRefused:
        return misbehaved(fmt::format("cannot be used{}", after_colon(reply_text(*reply))));
    case Status::kFailed:
        return Error{Errc::kUnavailable,
                     fmt::format("the uploaded code failed while {}{}", doing, after_colon(reply_text(*reply)))};
    case Status::kOutOfMemory:
        return misbehaved(fmt::format("ran out of memory while {}: its manifest's memory_bytes is too small for this "
                                      "size{}",
                                      doing, after_colon(reply_text(*reply))));
    case Status::kForbiddenCall:
        return misbehaved(
            fmt::format("made a forbidden system call while {}: {}", doing, system_call_name(reply->number)));
    case Status::kNoSandbox:
        return no_sandbox(reply_text(*reply));
    }
    return misbehaved(fmt::format("answered nonsense while {}", doing)); // a value that is none of the enumerators
}

Result<Reply> OperatorProcess::receive(std::string_view doing, Clock::time_point until)
{
    const Clock::time_point asked = Clock::now();
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        pollfd waiting{process_.socket.number(), POLLIN, 0};
        const int ready = left.count() > 0 ? ::poll(&waiting, 1, static_cast<int>(left.count())) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) {
            const double waited_s = std::chrono::duration<double>(Clock::now() - asked).count();
            return Error{Errc::kDeadline,
                         misbehaved(fmt::format("hangs, or is too slow for the task's limit: no answer within {:.2f} s "
                                                "while {}",
                                                waited_s, doing))
                             .detail};
        }
        Reply reply;
        const ssize_t size = ::recv(process_.socket.number(), &reply, sizeof reply, MSG_DONTWAIT | MSG_TRUNC);
        if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (size <= 0) return ended(doing);
        if (size != static_cast<ssize_t>(sizeof reply))
            return misbehaved(fmt::format("answered nonsense while {}", doing));
        return reply;
    }
}

Error OperatorProcess::ended(std::string_view doing)
{
    // Bubblewrap ends as its child did, with 128 + n for a signal.
    const int status = reap(kEndTimeout);
    const std::string words = last_words();
    const std::string tail = words.empty() ? "" : fmt::format("; it wrote: {}", words);
    if (status == 128 + SIGKILL)
        return misbehaved(fmt::format("was killed ({}) while {}: the unit's memory may have run out{}",
                                      signal_name(SIGKILL), doing, tail));
    if (status > 128 && status < 128 + NSIG)
        return misbehaved(fmt::format("crashed: {} while {}{}", signal_name(status - 128), doing, tail));
    return misbehaved(fmt::format("ended its process with exit code {} while {}{}", status, doing, tail));
}

Error OperatorProcess::misbehaved(const std::string& what)
{
    reap(kNoTimeout);
    return Error{Errc::kForbidden, "the uploaded code " + what};
}

std::string OperatorProcess::last_words() const
{
    std::array<char, kMaxLastWords> text{};
    const ssize_t size = ::pread(process_.stderr_memory.number(), text.data(), text.size(), 0);
    return size > 0 ? printable({text.data(), static_cast<std::size_t>(size)}) : "";
}

int OperatorProcess::reap(std::chrono::milliseconds timeout)
{
    if (process_.pid <= 0) return 0;
    const auto until = Clock::now() + timeout;
    int status = 0;
    pid_t reaped = ::waitpid(process_.pid, &status, WNOHANG);
    while (reaped == 0 && Clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        reaped = ::waitpid(process_.pid, &status, WNOHANG);
    }
    if (reaped == 0) {
        ::kill(process_.pid, SIGKILL); // all of the sandbox dies with bubblewrap's first process
        reap_child(process_.pid, status);
    }
    process_.pid = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<SharedMemory> OperatorProcess::share_result(std::size_t size_bytes)
{
    const int fd = process_.result_memory.number();
    // Sealed: if the guest could shrink it, reading it here would end this process.
    if (::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0 ||
        ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return Error{Errc::kUnavailable, fmt::format("cannot get {} bytes of shared memory for the result: {}",
                                                     size_bytes, std::strerror(errno))};
    void* const memory = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return Error{Errc::kUnavailable,
                     fmt::format("cannot map {} bytes of the result: {}", size_bytes, std::strerror(errno))};
    return SharedMemory({static_cast<std::byte*>(memory), size_bytes});
}

Result<void> try_sandbox()
{
    Result<std::unique_ptr<OperatorProcess>> process = OperatorProcess::start("", {});
    if (!process) return process.error();
    wire::Start start;
    start.threads = 1;
    start.memory_bytes = 1ULL << 20U;
    const Result<Reply> reply = (*process)->load(start, OperatorProcess::Clock::now() + kStartLimit);
    if (!reply) return no_sandbox(reply.error().detail);
    return {};
}

} // namespace fathom::probes
