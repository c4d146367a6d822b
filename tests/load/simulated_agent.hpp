#pragma once

#include "agent/link/backoff.hpp"
#include "agent/link/enrolment.hpp"
#include "core/net/client.hpp"
#include "schema/link/messages.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fathom::load {

namespace asio = boost::asio;

/// What all agents of this process have come to, so far.
struct AgentCounts {
    std::int64_t online{};                       ///< welcomed, and connected still
    std::int64_t welcomes{};                     ///< in all
    std::int64_t failures{};                     ///< to connect, and connections that ended
    std::map<std::string, std::int64_t> reasons; ///< of these
    std::int64_t orders{};                       ///< to start an attempt
    std::int64_t repeats{};                      ///< of them, those of an attempt that was ordered before
    std::int64_t unacknowledged{};               ///< messages that wait for their acknowledgement
};

/// An agent without a machine behind it, over a real connection with a certificate of its own: it greets, sends
/// heartbeats, comes back with the pace of a real one (agent::backoff_delay), and reports each attempt that it is
/// ordered to start as started and ended at once. It tells each end until that is acknowledged.
/// Runs on: the context of its coroutine, which must have one thread; `counts` is shared by all of that thread.
class SimulatedAgent : public std::enable_shared_from_this<SimulatedAgent> {
  public:
    using OnOrder = std::function<void(const JobId& job)>;

    /// @param on_order  called for the first order of each attempt.
    SimulatedAgent(const agent::Enrolment& enrolment, net::TlsContext tls, AgentCounts& counts, OnOrder on_order);

    /// Never returns.
    asio::awaitable<void> run();

  private:
    /// Until the connection has ended, or did not come about. @return why
    asio::awaitable<std::string> connect_once();
    asio::awaitable<std::string> talk(std::shared_ptr<net::WebSocket> socket);
    void hear(const std::shared_ptr<net::WebSocket>& socket, const link::Message& message);
    void greet_back(const std::shared_ptr<net::WebSocket>& socket, const link::Welcome& welcome);
    void take_order(net::WebSocket& socket, const link::Message& message, const AttemptOrder& order);
    void report(net::WebSocket& socket, const AttemptId& attempt, link::Body body);
    std::set<AttemptId> held() const;

    const net::Endpoint endpoint_;
    const net::TlsContext tls_;
    AgentCounts* counts_;
    OnOrder on_order_;
    int failures_ = 0;
    bool is_online_ = false;
    asio::any_io_executor executor_;
    /// A report that is not acknowledged.
    struct Report {
        MessageId id;
        AttemptId attempt;
        std::string text;
    };
    std::vector<Report> reports_; ///< oldest first
};

/// The catalog of each: one unit type of eight cores, which needs no measurement.
Catalog simulated_catalog();

} // namespace fathom::load
