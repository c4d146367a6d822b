#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <future>

namespace fathom::server {

/// Tells the main thread of the first SIGTERM or SIGINT; a later one ends the process at once. One that comes within a
/// second is the same: sent to all our processes, as systemd does, it reaches this one twice.
class StopSignals {
  public:
    explicit StopSignals(boost::asio::io_context& context);

    std::future<int> first() { return promise_.get_future(); }

  private:
    void wait_first();
    void wait_second();

    boost::asio::signal_set signals_;
    std::promise<int> promise_;
    std::chrono::steady_clock::time_point first_;
};

/// From here on other threads take SIGTERM and SIGINT: those that run the handlers, until they have ended. One that
/// comes later, from a service manager or passed on by the supervisor, then does not end what is ending.
void leave_signals_to_other_threads();

} // namespace fathom::server
