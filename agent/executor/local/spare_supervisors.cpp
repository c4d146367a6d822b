#include "agent/executor/local/spare_supervisors.hpp"

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/supervise.hpp"
#include "core/base/error_text.hpp"

#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace fathom::agent {
namespace {

/// One is told its attempt while the other one gets ready.
constexpr std::size_t kSpares = 2;
/// That stay of those that come back.
constexpr std::size_t kMaxSpares = 16;

} // namespace

SpareSupervisors::SpareSupervisors(std::filesystem::path program, Isolation isolation)
    : fork_server_(std::move(program), std::move(isolation)), answers_(::epoll_create1(EPOLL_CLOEXEC))
{
}

void SpareSupervisors::refill()
{
    reap();
    take_back();
    while (spares_.size() < kSpares) {
        Result<OpenFile> started = start_one();
        if (!started) return; // supervise() says so, when it matters
        spares_.push_back(std::move(*started));
    }
}

Result<void> SpareSupervisors::supervise(const std::filesystem::path& folder)
{
    take_back();
    const std::string line = folder.string() + "\n";
    for (;;) {
        const bool is_spare = !spares_.empty();
        Result<OpenFile> supervisor = is_spare ? Result<OpenFile>(std::move(spares_.back())) : start_one();
        if (!supervisor) return supervisor.error();
        if (is_spare) spares_.pop_back();
        const ssize_t sent = ::send(supervisor->number(), line.data(), line.size(), MSG_NOSIGNAL);
        const int error = errno;
        if (sent == static_cast<ssize_t>(line.size())) {
            watch(std::move(*supervisor));
            return {};
        }
        // A spare that somebody has killed; the next one may live.
        if (!is_spare) return Error{Errc::kUnavailable, "cannot talk to a supervisor: " + error_text(error)};
    }
}

/// One that cannot be watched serves this attempt only: its input ends.
void SpareSupervisors::watch(OpenFile busy)
{
    const int number = busy.number();
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = number;
    if (::epoll_ctl(answers_.number(), EPOLL_CTL_ADD, number, &event) != 0) return;
    busy_.insert_or_assign(number, std::move(busy));
}

/// Those that ask for another attempt, as many as are of use.
void SpareSupervisors::take_back()
{
    std::array<epoll_event, 64> events{};
    for (;;) {
        const int count = ::epoll_wait(answers_.number(), events.data(), static_cast<int>(events.size()), 0);
        for (int i = 0; i < count; ++i)
            take_back_one(events.at(static_cast<std::size_t>(i)).data.fd);
        if (count < static_cast<int>(events.size())) return;
    }
}

void SpareSupervisors::take_back_one(int number)
{
    const auto found = busy_.find(number);
    if (found == busy_.end()) return;
    OpenFile supervisor = std::move(found->second);
    busy_.erase(found);
    ::epoll_ctl(answers_.number(), EPOLL_CTL_DEL, number, nullptr);
    std::array<char, kNextFolder.size()> text{};
    const bool asks = ::recv(number, text.data(), text.size(), MSG_DONTWAIT) == static_cast<ssize_t>(text.size());
    if (asks && spares_.size() < kMaxSpares) spares_.push_back(std::move(supervisor));
}

Result<OpenFile> SpareSupervisors::start_one()
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return Error{Errc::kUnavailable, "cannot make a socket for a supervisor: " + error_text(errno)};
    OpenFile ours(ends[0]);
    const OpenFile its(ends[1]);
    const Result<void> asked = fork_server_.fork_supervisor(its.number());
    if (!asked) return asked.error();
    return ours;
}

void SpareSupervisors::reap()
{
    fork_server_.reap();
}

} // namespace fathom::agent
