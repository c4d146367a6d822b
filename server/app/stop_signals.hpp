#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <future>

namespace fathom::server {

/// Tells the main thread of the first SIGTERM or SIGINT. Later ones change nothing: sent to all our processes, as
/// systemd does, one reaches this one twice, and the supervisor's copy comes when that gets to run. It is the
/// supervisor that knows whether a stop is asked for again, and then kills this process.
class StopSignals {
  public:
    explicit StopSignals(boost::asio::io_context& context);

    std::future<int> first() { return promise_.get_future(); }

  private:
    void wait_first();
    void ignore_later();

    boost::asio::signal_set signals_;
    std::promise<int> promise_;
};

/// From here on other threads take SIGTERM and SIGINT: those that run the handlers, until they have ended. One that
/// comes later, from a service manager or passed on by the supervisor, then does not end what is ending.
void leave_signals_to_other_threads();

} // namespace fathom::server
