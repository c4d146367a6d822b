#include "server/centers/sessions/agent_session.hpp"

#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "server/centers/catalog_change.hpp"
#include "server/centers/resources_store.hpp"
#include "server/centers/sessions/dead_letter_store.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace fathom::server {
namespace {

/// How far an attempt is, where the message tells that; it is moved out.
std::optional<AttemptReport> report_in(link::Body& body)
{
    if (auto* started = std::get_if<link::AttemptStarted>(&body)) return std::move(*started);
    if (auto* ended = std::get_if<link::AttemptEnded>(&body)) return std::move(*ended);
    return std::nullopt;
}

/// What is written down when the database has time.
bool is_usual(const link::Body& body)
{
    return std::holds_alternative<link::AttemptOutput>(body) || std::holds_alternative<BalanceSteps>(body) ||
           std::holds_alternative<link::KeptFilePiece>(body);
}

} // namespace

AgentSession::AgentSession(std::shared_ptr<net::WebSocket> socket, net::PeerCertificate certificate,
                           AgentSessionParts parts, AgentSessionOptions options, asio::any_io_executor executor)
    : socket_(std::move(socket)), certificate_(std::move(certificate)), parts_(parts), options_(std::move(options)),
      executor_(executor), reports_came_(executor), reports_went_(executor), outputs_(executor), queued_(executor),
      questions_(*parts_.database), files_(*parts_.database),
      notices_(*parts_.database, executor, options_.notice_pause), wake_timer_(executor),
      catalog_pace_(options_.catalog_changes, options_.catalog_pause),
      sub_unit_pace_(options_.sub_unit_messages, options_.sub_unit_pause)
{
}

asio::awaitable<std::optional<link::Hello>> AgentSession::read_hello()
{
    asio::steady_timer limit(executor_, options_.hello_time);
    limit.async_wait([socket = std::weak_ptr(socket_)](const boost::system::error_code& ec) {
        if (ec) return;
        if (const auto open = socket.lock()) open->close("no hello in time");
    });
    Result<std::string> text = co_await socket_->read();
    limit.cancel();
    if (!text) co_return std::nullopt;
    auto message = link::decode(*text);
    if (auto* failure = std::get_if<link::DecodeFailure>(&message)) {
        refuse(failure->id, failure->error, "");
        end("the first message is malformed");
        co_return std::nullopt;
    }
    auto& body = std::get<link::Message>(message).body;
    if (auto* hello = std::get_if<link::Hello>(&body)) co_return std::move(*hello);
    end("the first message must be hello");
    co_return std::nullopt;
}

asio::awaitable<std::optional<SessionGrant>> AgentSession::greet()
{
    std::optional<link::Hello> hello = co_await read_hello();
    if (!hello) co_return std::nullopt;
    if (const Result<void> good = check_facts(hello->catalog); !good) {
        log_refusal(good.error(), "");
        end(good.error().detail);
        co_return std::nullopt;
    }
    const CenterId center{certificate_.common_name};
    auto work = [&](pqxx::work& transaction) -> Result<SessionGrant> {
        std::optional<SessionGrant> grant = open_session(transaction, center, certificate_.serial_hex, options_.replica,
                                                         hello->agent_version, hello->catalog.facts, hello->host_id);
        if (!grant) return Error{Errc::kForbidden, "this certificate is not, or no longer, accepted"};
        store_trusted_authorities(transaction, *grant, hello->authorities);
        const Result<bool> taken = take_catalog(transaction, center, hello->catalog);
        if (!taken) return taken.error();
        clear_resource_state(transaction, center); // the agent says anew what there is to say
        // An older session, perhaps on another replica, shall see that it is superseded.
        notify(transaction, "center", center.value);
        notify(transaction, "catalog", center.value);
        notify(transaction, "route", "");
        return *grant;
    };
    const Result<SessionGrant> grant = co_await parts_.database->run(std::move(work), DatabaseLine::kVital);
    if (!grant) {
        log_limited("agent_refused", {{"center_id", center.value}, {"error", grant.error().detail}});
        if (grant.error().code == Errc::kForbidden)
            end(grant.error().detail, net::CloseKind::kRefused);
        else if (grant.error().code == Errc::kInvalid)
            end(grant.error().detail);
        else
            end("not available now");
        co_return std::nullopt;
    }
    grant_ = *grant;
    inventory_ = std::move(hello->inventory);
    library_digest_ = std::move(hello->library_digest);
    trusted_ = std::move(hello->authorities);
    touched_ = std::chrono::steady_clock::now();
    log_info("agent_connected", {{"center", grant_.center_name},
                                 {"center_id", grant_.center_id.value},
                                 {"epoch", grant_.epoch},
                                 {"agent_version", hello->agent_version}});
    co_return grant_;
}

asio::awaitable<Result<void>> AgentSession::welcome()
{
    Result<AttemptGateway::Reconciliation> known =
        co_await parts_.gateway->reconcile(reporter(), std::move(inventory_));
    if (!known) co_return known.error();
    link::Welcome welcome;
    welcome.server_version = options_.server_version;
    welcome.center_id = grant_.center_id.value;
    welcome.center_name = grant_.center_name;
    welcome.heartbeat_s = options_.heartbeat.count();
    welcome.stop = std::move(known->stop);
    welcome.forget = std::move(known->forget);
    welcome.takes_queues = true;
    if (parts_.balance != nullptr) {
        welcome.balance_steps = options_.balance_steps;
        welcome.balance_pause_s = std::chrono::duration<double>(options_.balance_pause).count();
    }
    send(std::move(welcome));
    library_pending_ = true;
    authorities_pending_ = true;
    co_return Result<void>();
}

asio::awaitable<void> AgentSession::serve()
{
    const Result<void> welcomed = co_await welcome();
    if (!welcomed) {
        log_warning("agent_welcome_failed", {{"center", grant_.center_name}, {"error", describe(welcomed.error())}});
        end("not available now");
        co_return;
    }
    wake();
    for (;;) {
        Result<std::string> text = co_await socket_->read();
        if (!text) {
            log_info("agent_disconnected", {{"center", grant_.center_name},
                                            {"center_id", grant_.center_id.value},
                                            {"epoch", grant_.epoch},
                                            {"cause", text.error().detail}});
            break;
        }
        is_heard_ = true;
        const bool go_on = co_await handle(std::move(*text));
        if (!go_on) break;
    }
    end("");
}

asio::awaitable<bool> AgentSession::handle(std::string text)
{
    auto decoded = link::decode(text);
    if (const auto* failure = std::get_if<link::DecodeFailure>(&decoded))
        co_return refuse(failure->id, failure->error, "");
    auto& message = std::get<link::Message>(decoded);
    if (std::holds_alternative<link::Heartbeat>(message.body)) co_return true;
    if (auto* ack = std::get_if<link::Ack>(&message.body)) {
        co_await handle_ack(std::move(*ack));
        co_return !ended_;
    }
    if (std::optional<AttemptReport> said = report_in(message.body)) {
        AttemptId attempt = attempt_of(*said);
        ReadReport report{std::move(*said), std::move(attempt), message.id, std::move(text), ++read_count_};
        co_await add_report(std::move(report));
        co_return !ended_;
    }
    const auto* const output = std::get_if<link::AttemptOutput>(&message.body);
    std::string attempt = output == nullptr ? std::string() : output->attempt_id.value;
    ReadMessage read{message.id, std::move(message.body), std::move(attempt), std::move(text)};
    if (is_usual(read.body)) {
        co_await add_waiting(std::move(read));
        co_return !ended_;
    }
    // What comes after reports is carried out after them.
    if (queued_.messages.empty()) co_await until_reports_wait_for_output();
    if (ended_) co_return false;
    if (!must_queue(read.body)) co_return co_await carry_out(std::move(read));
    co_await add_queued(std::move(read));
    co_return !ended_;
}

asio::awaitable<bool> AgentSession::carry_out(ReadMessage read)
{
    const bool is_wish = std::holds_alternative<link::SubUnitRequest>(read.body);
    const Result<void> applied = co_await apply(read.id, std::move(read.body));
    if (applied) {
        acknowledge(read.id, std::nullopt);
        co_return true;
    }
    const Error error = applied.error();
    // Who asks too often hears so. Without an answer the agent would ask the same again, and again.
    const bool is_too_often = is_wish && error.code == Errc::kTooMany;
    if (!is_transient(error.code) || is_too_often) co_return refuse(read.id, error, read.attempt);
    // An internal error comes again with the same message, and everything behind it would never be heard.
    const bool is_put_away = error.code == Errc::kInternal && co_await put_away(read.text, read.attempt, error);
    if (is_put_away) co_return refuse(read.id, error, read.attempt);
    log_refusal(error, read.attempt);
    end("not available now");
    co_return false;
}

asio::awaitable<bool> AgentSession::put_away(std::string text, std::string attempt, Error error)
{
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        insert_dead_letter(transaction, grant_.center_id, {attempt, text, describe(error)});
        return {};
    };
    const Result<void> kept = co_await parts_.database->run(std::move(work), DatabaseLine::kVital);
    if (!kept) co_return false;
    log_error("agent_message_put_away", {{"center", grant_.center_name},
                                         {"center_id", grant_.center_id.value},
                                         {"attempt_id", attempt},
                                         {"error", describe(error)},
                                         {"kept_in", "agent_dead_letter"}});
    co_return true;
}

/// Tells the agent never to send the message again. False when the connection had too many that make no sense.
bool AgentSession::refuse(const std::optional<MessageId>& id, const Error& error, const std::string& attempt_id)
{
    log_refusal(error, attempt_id);
    if (id) acknowledge(*id, Error{Errc::kInvalid, describe(error)});
    // An attempt that is unknown here says nothing against the agent.
    if (error.code != Errc::kInvalid || ++refusals_ < options_.refusals) return true;
    log_warning("agent_closed_for_malformed_messages", {{"center", grant_.center_name}, {"count", refusals_}});
    end("too many malformed messages");
    return false;
}

asio::awaitable<void> AgentSession::tell_of_catalog()
{
    co_await notices_.run(grant_.center_id);
}

AgentSession::Standing AgentSession::take_standing(std::chrono::steady_clock::time_point now,
                                                   std::chrono::milliseconds touch_period)
{
    if (ended_) return Standing::kKnown;
    if (now - touched_ >= touch_period && is_heard_.exchange(false)) {
        is_asked_ = false; // the answer says that, too
        return Standing::kHeard;
    }
    return is_asked_.exchange(false) ? Standing::kAsked : Standing::kKnown;
}

void AgentSession::standing_unknown(bool was_heard)
{
    is_asked_ = true;
    if (was_heard) is_heard_ = true;
}

void AgentSession::send(link::Body body)
{
    const link::Message message = link::make_message(std::move(body));
    if (!socket_->send(link::encode(message))) end("the agent reads too slowly");
}

void AgentSession::acknowledge(const MessageId& id, const std::optional<Error>& error)
{
    send(link::Ack{id, error});
}

void AgentSession::log_refusal(const Error& error, const std::string& attempt_id) const
{
    log_limited("agent_message_refused", {{"center", grant_.center_name},
                                          {"center_id", certificate_.common_name},
                                          {"attempt_id", attempt_id},
                                          {"error", describe(error)}});
}

void AgentSession::raise(bool AgentSession::* pending)
{
    asio::post(executor_, [self = shared_from_this(), pending] {
        self.get()->*pending = true;
        self->wake_pending_ = true;
        self->wake_timer_.cancel();
    });
}

void AgentSession::wake()
{
    raise(&AgentSession::wake_pending_);
}

void AgentSession::ask()
{
    raise(&AgentSession::question_pending_);
}

void AgentSession::ask_for_pieces()
{
    raise(&AgentSession::piece_pending_);
}

void AgentSession::retarget()
{
    raise(&AgentSession::target_pending_);
}

void AgentSession::reconfigure()
{
    raise(&AgentSession::resources_pending_);
}

void AgentSession::rematch()
{
    raise(&AgentSession::library_pending_);
}

void AgentSession::retrust()
{
    raise(&AgentSession::authorities_pending_);
}

void AgentSession::recheck()
{
    is_asked_ = true;
}

void AgentSession::end(std::string reason, net::CloseKind kind)
{
    if (ended_.exchange(true)) return;
    socket_->close(std::move(reason), kind);
    wake();
    asio::post(executor_, [self = shared_from_this()] {
        self->reports_came_.cancel();
        self->reports_went_.cancel();
        for (MessageQueue* const queue : {&self->outputs_, &self->queued_}) {
            queue->came.cancel();
            queue->went.cancel();
        }
        self->notices_.end();
    });
}

} // namespace fathom::server
