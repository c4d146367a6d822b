#pragma once

#include "agent/link/backoff.hpp"
#include "agent/link/conversation.hpp"
#include "agent/link/enrolment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <mutex>

namespace fathom::net {
class WebSocket;
}

namespace fathom::agent {

/// Keeps one connection to the metascheduler, for ever: connects, passes messages to the conversation,
/// connects again.
///
/// Runs on: the network context; the conversation is reached only by posting to its own executor, a
/// single thread, so that file and database work there never holds up the network.
class Connector : public std::enable_shared_from_this<Connector> {
  public:
    /// `conversation` must outlive the tasks of both executors.
    Connector(EnrolmentFiles files, Conversation& conversation, boost::asio::any_io_executor conversation_executor,
              BackoffPolicy policy = {});

    /// Returns only by the cancellation of its task (operation_aborted).
    boost::asio::awaitable<void> run();

    /// Ends the present connection; the next one is made at once with the files as they are then.
    /// Thread-safe.
    void reconnect(const std::string& reason);

  private:
    struct Attempt {
        bool welcome{};
        Error error{Errc::kUnavailable, "closed"};
    };

    using Decoded = std::variant<link::Message, link::DecodeFailure>;
    /// What has come over one connection and was not passed on yet.
    struct Inbox {
        std::mutex mutex;
        std::vector<Decoded> messages;
    };

    boost::asio::awaitable<Attempt> connect_once();
    boost::asio::awaitable<Attempt> talk(std::shared_ptr<net::WebSocket> socket);
    void pass_on(const std::shared_ptr<Inbox>& inbox, Decoded decoded);
    void deliver(Inbox& inbox);
    void set_socket(std::shared_ptr<net::WebSocket> socket);
    std::chrono::milliseconds next_delay(const Attempt& attempt);
    void log_failure(const Attempt& attempt, std::chrono::milliseconds delay) const;

    EnrolmentFiles files_;
    Conversation& conversation_;
    boost::asio::any_io_executor conversation_executor_;
    BackoffPolicy policy_;
    int failures_{};
    std::string server_; ///< HOST:PORT, for the log
    std::mutex socket_mutex_;
    std::shared_ptr<net::WebSocket> socket_; ///< the present connection; guarded
};

} // namespace fathom::agent
