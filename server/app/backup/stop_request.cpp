#include "server/app/backup/stop_request.hpp"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace fathom::server {

StopRequest::StopRequest()
{
    sigset_t awaited;
    sigemptyset(&awaited);
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&awaited, number);
    pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
    signals_ = OpenFile(signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<int> StopRequest::seen()
{
    signalfd_siginfo signal{};
    if (!first_ && read(signals_.number(), &signal, sizeof signal) == sizeof signal)
        first_ = static_cast<int>(signal.ssi_signo);
    return first_;
}

} // namespace fathom::server
