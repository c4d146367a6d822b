#include "probes/profile/group_witness.hpp"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::profile {
namespace {

constexpr int kNoteTimeout_ms = 20;

[[noreturn]] void witness(const sigset_t& signals, int notes)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Whoever reads the program's output waits until all have closed it.
    if (::dup2(notes, 0) != 0) ::_exit(1);
    ::close_range(1, ~0U, 0);
    while (true) {
        const int signal = ::sigwaitinfo(&signals, nullptr);
        if (signal < 0 && errno != EINTR) ::_exit(1);
        const char note = static_cast<char>(signal);
        if (signal > 0 && ::write(0, &note, 1) != 1) ::_exit(1);
    }
}

} // namespace

GroupWitness::GroupWitness(const sigset_t& signals)
{
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    process_ = ::fork();
    if (process_ == 0) witness(signals, ends[1]);
    ::close(ends[1]);
    notes_ = OpenFile(ends[0]);
}

GroupWitness::~GroupWitness()
{
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
}

bool GroupWitness::saw(int signal)
{
    pollfd ready = {notes_.number(), POLLIN, 0};
    while (notes_.number() >= 0 && ::poll(&ready, 1, kNoteTimeout_ms) > 0) {
        char note = 0;
        if (::read(notes_.number(), &note, 1) != 1) return false;
        if (note == static_cast<char>(signal)) return true;
    }
    return false;
}

} // namespace fathom::profile
