#include "server/app/stop_signals.hpp"

#include <signal.h>

namespace fathom::server {

StopSignals::StopSignals(boost::asio::io_context& context) : signals_(context, SIGTERM, SIGINT)
{
    wait_first();
}

void StopSignals::wait_first()
{
    signals_.async_wait([this](const boost::system::error_code& error, int number) {
        if (error) return;
        promise_.set_value(number);
        ignore_later();
    });
}

void StopSignals::ignore_later()
{
    signals_.async_wait([this](const boost::system::error_code& error, int) {
        if (!error) ignore_later();
    });
}

void leave_signals_to_other_threads()
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

} // namespace fathom::server
