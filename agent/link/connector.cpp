#include "agent/link/connector.hpp"

#include "core/base/log.hpp"
#include "core/net/client.hpp"
#include "core/net/task_group.hpp"
#include "core/net/tls_context.hpp"
#include "core/net/websocket_client.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

namespace fathom::agent {
namespace {

namespace asio = boost::asio;

constexpr const char* kTarget = "/link/v1";
constexpr std::chrono::seconds kWelcomeLimit{30};

/// A refusal of the upgrade, or of the certificate right after it.
bool is_refusal(const Error& error)
{
    const Errc code = error.code;
    return code == Errc::kForbidden || code == Errc::kUnauthenticated || code == Errc::kNotFound;
}

/// Closes a connection whose first word never comes.
std::shared_ptr<asio::steady_timer> start_welcome_limit(const asio::any_io_executor& executor,
                                                        const std::shared_ptr<net::WebSocket>& socket)
{
    auto timer = std::make_shared<asio::steady_timer>(executor, kWelcomeLimit);
    timer->async_wait([weak = std::weak_ptr(socket)](const boost::system::error_code& error) {
        const std::shared_ptr<net::WebSocket> held = weak.lock();
        if (!error && held) held->close("no welcome in time");
    });
    return timer;
}

} // namespace

Connector::Connector(EnrolmentFiles files, Conversation& conversation, asio::any_io_executor conversation_executor,
                     BackoffPolicy policy)
    : files_(std::move(files)), conversation_(conversation), conversation_executor_(std::move(conversation_executor)),
      policy_(policy)
{
}

asio::awaitable<void> Connector::run()
{
    for (;;) {
        const Attempt attempt = co_await connect_once();
        const std::chrono::milliseconds delay = next_delay(attempt);
        log_failure(attempt, delay);
        co_await net::TaskGroup::sleep(delay);
    }
}

asio::awaitable<Connector::Attempt> Connector::connect_once()
{
    Attempt failed;
    // Read each time: enrolling again or a renewed certificate takes effect without a restart.
    const Result<Enrolment> enrolment = files_.load();
    if (!enrolment) {
        failed.error = enrolment.error();
        co_return failed;
    }
    server_ = enrolment->host + ":" + std::to_string(enrolment->port);
    const Result<net::CertificateFacts> facts = net::read_certificate(enrolment->credential.certificate_pem);
    if (facts && facts->not_after < SystemClock().now()) {
        failed.error = Error{Errc::kForbidden, "the certificate ended at " + format_rfc3339(facts->not_after)};
        co_return failed;
    }
    const Result<net::TlsContext> tls = net::make_client_context(enrolment->authority_pem, &enrolment->credential);
    if (!tls) {
        failed.error = tls.error();
        co_return failed;
    }
    net::Endpoint endpoint{enrolment->host, enrolment->port};
    net::ClientOptions options;
    options.queue_time = kQueueTime;
    std::string target = kTarget;
    Result<std::shared_ptr<net::WebSocket>> socket =
        co_await net::connect_websocket(std::move(endpoint), *tls, std::move(target), options);
    if (!socket) {
        failed.error = socket.error();
        co_return failed;
    }
    co_return co_await talk(std::move(*socket));
}

asio::awaitable<Connector::Attempt> Connector::talk(std::shared_ptr<net::WebSocket> socket)
{
    set_socket(socket);
    const auto executor = co_await asio::this_coro::executor;
    const std::shared_ptr<asio::steady_timer> limit = start_welcome_limit(executor, socket);
    Peer peer{[socket](std::string text) { return socket->send(std::move(text)).has_value(); },
              [socket](std::string reason) { socket->close(std::move(reason)); }};
    const auto self = shared_from_this();
    // The conversation must hear of the end also when this coroutine is cancelled.
    const std::shared_ptr<void> farewell(nullptr, [self](void*) {
        asio::post(self->conversation_executor_, [self] { self->conversation_.disconnected(); });
        self->set_socket(nullptr);
    });
    asio::post(conversation_executor_,
               [self, peer = std::move(peer)]() mutable { self->conversation_.connected(std::move(peer)); });

    const auto inbox = std::make_shared<Inbox>();
    Attempt attempt;
    for (;;) {
        Result<std::string> text = co_await socket->read();
        if (!text) {
            attempt.error = text.error();
            socket->close("");
            co_return attempt;
        }
        Decoded decoded = link::decode(*text);
        if (const auto* message = std::get_if<link::Message>(&decoded);
            message != nullptr && std::holds_alternative<link::Welcome>(message->body)) {
            attempt.welcome = true;
            failures_ = 0;
            limit->cancel();
        }
        pass_on(inbox, std::move(decoded));
    }
}

void Connector::pass_on(const std::shared_ptr<Inbox>& inbox, Decoded decoded)
{
    {
        const std::lock_guard guard(inbox->mutex);
        inbox->messages.push_back(std::move(decoded));
        if (inbox->messages.size() > 1) return; // somebody is on the way to them
    }
    asio::post(conversation_executor_, [self = shared_from_this(), inbox] { self->deliver(*inbox); });
}

/// All that has come until now, so that the conversation can answer it at once.
void Connector::deliver(Inbox& inbox)
{
    std::vector<Decoded> messages;
    {
        const std::lock_guard guard(inbox.mutex);
        messages.swap(inbox.messages);
    }
    for (const Decoded& message : messages) {
        if (const auto* failure = std::get_if<link::DecodeFailure>(&message))
            conversation_.refuse(*failure);
        else
            conversation_.receive(std::get<link::Message>(message));
    }
    conversation_.settle();
}

void Connector::reconnect(const std::string& reason)
{
    std::shared_ptr<net::WebSocket> socket;
    {
        const std::lock_guard guard(socket_mutex_);
        socket = socket_;
    }
    if (socket) socket->close(reason);
}

void Connector::set_socket(std::shared_ptr<net::WebSocket> socket)
{
    const std::lock_guard guard(socket_mutex_);
    socket_ = std::move(socket);
}

std::chrono::milliseconds Connector::next_delay(const Attempt& attempt)
{
    ++failures_;
    return backoff_delay(is_refusal(attempt.error) ? kRefusedBackoff : policy_, failures_, random_fraction());
}

void Connector::log_failure(const Attempt& attempt, std::chrono::milliseconds delay) const
{
    const double delay_s = static_cast<double>(delay.count()) * 1e-3;
    if (is_refusal(attempt.error))
        log_error("agent_refused", {{"server", server_},
                                    {"reason", describe(attempt.error)},
                                    {"way_out", "if this center shall still take part, get an enrolment token and run "
                                                "fathom-agent enrol --force"},
                                    {"next_try_s", delay_s}});
    else
        log_warning(attempt.welcome ? "disconnected" : "cannot_connect",
                    {{"server", server_}, {"reason", describe(attempt.error)}, {"next_try_s", delay_s}});
}

} // namespace fathom::agent
