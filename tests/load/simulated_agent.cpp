#include "tests/load/simulated_agent.hpp"

#include "core/net/task_group.hpp"
#include "core/net/websocket_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

namespace fathom::load {
namespace {

constexpr const char* kTarget = "/link/v1";
constexpr const char* kUnitType = "core";
constexpr std::int64_t kUnits = 8;

/// Until the connection is gone.
asio::awaitable<void> send_heartbeats(std::weak_ptr<net::WebSocket> socket, std::chrono::seconds period)
{
    // Not all at the same moment: agents that came one after the other would have come so.
    auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(period * agent::random_fraction());
    for (;;) {
        co_await net::TaskGroup::sleep(pause);
        pause = period;
        const std::shared_ptr<net::WebSocket> open = socket.lock();
        if (!open || !open->send(link::encode(link::make_message(link::Heartbeat{0.5, 0, 0})))) co_return;
    }
}

} // namespace

Catalog simulated_catalog()
{
    UnitTypeReport type;
    type.name = kUnitType;
    type.unit_count = kUnits;
    type.cores_per_unit = 1;
    type.memory_bytes_per_unit = 1LL << 30U;
    Catalog catalog;
    catalog.unit_types.push_back(std::move(type));
    catalog.facts = {{"executor", "simulated"}};
    return catalog;
}

SimulatedAgent::SimulatedAgent(const agent::Enrolment& enrolment, net::TlsContext tls, AgentCounts& counts,
                               OnOrder on_order)
    : endpoint_{enrolment.host, enrolment.port}, tls_(std::move(tls)), counts_(&counts), on_order_(std::move(on_order))
{
}

asio::awaitable<void> SimulatedAgent::run()
{
    const auto self = shared_from_this();
    executor_ = co_await asio::this_coro::executor;
    for (;;) {
        const std::string reason = co_await connect_once();
        if (is_online_) --counts_->online;
        is_online_ = false;
        ++counts_->failures;
        ++counts_->reasons[reason];
        ++failures_;
        co_await net::TaskGroup::sleep(agent::backoff_delay({}, failures_, agent::random_fraction()));
    }
}

asio::awaitable<std::string> SimulatedAgent::connect_once()
{
    net::ClientOptions options;
    options.queue_time = agent::kQueueTime;
    net::Endpoint endpoint = endpoint_;
    std::string target = kTarget;
    Result<std::shared_ptr<net::WebSocket>> socket =
        co_await net::connect_websocket(std::move(endpoint), tls_, std::move(target), options);
    if (!socket) co_return socket.error().detail;
    co_return co_await talk(std::move(*socket));
}

asio::awaitable<std::string> SimulatedAgent::talk(std::shared_ptr<net::WebSocket> socket)
{
    link::Hello hello{FATHOM_VERSION, simulated_catalog(), {}};
    for (const AttemptId& attempt : held())
        hello.inventory.push_back({attempt, "ended"});
    static_cast<void>(socket->send(link::encode(link::make_message(std::move(hello)))));
    for (;;) {
        const Result<std::string> text = co_await socket->read();
        if (!text) co_return text.error().detail;
        const auto decoded = link::decode(*text);
        if (const auto* message = std::get_if<link::Message>(&decoded)) hear(socket, *message);
    }
}

void SimulatedAgent::hear(const std::shared_ptr<net::WebSocket>& socket, const link::Message& message)
{
    if (const auto* welcome = std::get_if<link::Welcome>(&message.body)) {
        greet_back(socket, *welcome);
    } else if (const auto* start = std::get_if<link::StartAttempt>(&message.body)) {
        take_order(*socket, message, start->order);
    } else if (const auto* ack = std::get_if<link::Ack>(&message.body)) {
        counts_->unacknowledged -=
            static_cast<std::int64_t>(std::erase_if(reports_, [&](const Report& one) { return one.id == ack->of; }));
    } else if (const auto* query = std::get_if<link::UnitTypesQuery>(&message.body)) {
        const link::UnitTypesAnswer answer{query->query_id, {{kUnitType, kUnits, kUnits}}, {}};
        static_cast<void>(socket->send(link::encode(link::make_message(answer))));
    } else if (link::needs_ack(message.body)) {
        static_cast<void>(socket->send(link::encode(link::make_message(link::Ack{message.id, std::nullopt}))));
    }
}

void SimulatedAgent::greet_back(const std::shared_ptr<net::WebSocket>& socket, const link::Welcome& welcome)
{
    failures_ = 0;
    is_online_ = true;
    ++counts_->online;
    ++counts_->welcomes;
    for (const Report& one : reports_)
        static_cast<void>(socket->send(one.text));
    asio::co_spawn(executor_, send_heartbeats(socket, std::chrono::seconds(welcome.heartbeat_s)), asio::detached);
}

void SimulatedAgent::take_order(net::WebSocket& socket, const link::Message& message, const AttemptOrder& order)
{
    ++counts_->orders;
    static_cast<void>(socket.send(link::encode(link::make_message(link::Ack{message.id, std::nullopt}))));
    if (held().contains(order.attempt_id)) {
        ++counts_->repeats;
        return;
    }
    on_order_(order.job_id);
    const Timestamp now = SystemClock().now();
    link::AttemptStarted started{order.attempt_id, now, {0}, {0}, kUnitType, {}};
    AttemptEnd end;
    end.attempt_id = order.attempt_id;
    end.outcome = AttemptOutcome::kExited;
    end.exit_code = 0;
    end.started_at = now;
    end.ended_at = now;
    report(socket, order.attempt_id, std::move(started));
    report(socket, order.attempt_id, link::AttemptEnded{std::move(end)});
}

void SimulatedAgent::report(net::WebSocket& socket, const AttemptId& attempt, link::Body body)
{
    const link::Message message = link::make_message(std::move(body));
    reports_.push_back({message.id, attempt, link::encode(message)});
    ++counts_->unacknowledged;
    static_cast<void>(socket.send(reports_.back().text));
}

std::set<AttemptId> SimulatedAgent::held() const
{
    std::set<AttemptId> attempts;
    for (const Report& one : reports_)
        attempts.insert(one.attempt);
    return attempts;
}

} // namespace fathom::load
