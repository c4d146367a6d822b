#include "tests/server/centers/support/test_agent.hpp"

#include "core/net/tls_context.hpp"
#include "core/net/websocket_client.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace fathom::server::test {

using namespace std::chrono_literals;

Result<void> FakeGateway::note(const std::string& line)
{
    const std::scoped_lock lock(mutex_);
    calls_.push_back(line);
    if (!failure_) return {};
    const Error error = *failure_;
    failure_.reset();
    return error;
}

asio::awaitable<Result<AttemptGateway::Reconciliation>>
FakeGateway::reconcile(Reporter, std::vector<link::InventoryItem> inventory)
{
    Reconciliation known;
    for (const link::InventoryItem& item : inventory)
        (item.state == "running" ? known.stop : known.forget).push_back(item.attempt_id);
    co_return known;
}

asio::awaitable<Result<std::vector<CenterId>>> FakeGateway::centers_with_orders(std::string)
{
    const std::scoped_lock lock(mutex_);
    co_return orders_.empty() ? std::vector<CenterId>() : centers_;
}

asio::awaitable<Result<AttemptGateway::PendingOrders>>
FakeGateway::pending_orders(Reporter reporter, std::vector<std::string> on_their_way, std::int64_t room_bytes)
{
    const std::scoped_lock lock(mutex_);
    ++polls_;
    centers_.push_back(std::move(reporter.center_id));
    PendingOrders pending;
    for (const link::Body& order : orders_) {
        const auto* start = std::get_if<link::StartAttempt>(&order);
        const bool is_sent =
            start != nullptr && std::count(on_their_way.begin(), on_their_way.end(), start->order.attempt_id.value) > 0;
        if (is_sent) continue;
        pending.has_more = pending.has_more || (start != nullptr && room_bytes <= 0);
        if (pending.has_more) continue;
        if (start != nullptr) room_bytes -= std::ssize(link::encode(link::make_message(order)));
        pending.bodies.push_back(order);
    }
    co_return pending;
}

asio::awaitable<std::vector<Result<void>>> FakeGateway::take_reports(Reporter, std::vector<AttemptReport> reports)
{
    std::vector<Result<void>> taken;
    for (const AttemptReport& report : reports)
        taken.push_back(take(report));
    co_return taken;
}

Result<void> FakeGateway::take(const AttemptReport& report)
{
    const std::string attempt = attempt_of(report).value;
    if (std::holds_alternative<link::AttemptStarted>(report)) return note("started " + attempt);
    if (std::holds_alternative<link::AttemptEnded>(report)) return note("ended " + attempt);
    {
        const std::scoped_lock lock(mutex_);
        std::erase_if(orders_, [&](const link::Body& body) {
            const auto* start = std::get_if<link::StartAttempt>(&body);
            return start != nullptr && start->order.attempt_id.value == attempt;
        });
    }
    return note((std::get<StartAcknowledged>(report).refusal ? "refused " : "acknowledged ") + attempt);
}

asio::awaitable<Result<void>> FakeGateway::attempt_output(Reporter, link::AttemptOutput output)
{
    const auto is_held = [this] {
        const std::scoped_lock lock(mutex_);
        return holds_output_;
    };
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (is_held()) {
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return note("output " + output.data);
}

void FakeGateway::hold_output()
{
    const std::scoped_lock lock(mutex_);
    holds_output_ = true;
}

void FakeGateway::release_output()
{
    const std::scoped_lock lock(mutex_);
    holds_output_ = false;
}

asio::awaitable<Result<void>> FakeGateway::note_queues(Reporter, link::QueueReport report, CatalogNotice notice)
{
    Result<void> noted;
    for (const link::QueuedAttempt& one : report.attempts)
        noted = note("queued " + one.attempt_id.value + ": " + one.reason);
    const std::scoped_lock lock(mutex_);
    if (noted) notices_.push_back(notice);
    co_return noted;
}

std::vector<CatalogNotice> FakeGateway::notices() const
{
    const std::scoped_lock lock(mutex_);
    return notices_;
}

void FakeGateway::order(link::Body order)
{
    const std::scoped_lock lock(mutex_);
    orders_.push_back(std::move(order));
}

void FakeGateway::fail_next(Error error)
{
    const std::scoped_lock lock(mutex_);
    failure_ = std::move(error);
}

std::vector<std::string> FakeGateway::calls() const
{
    const std::scoped_lock lock(mutex_);
    return calls_;
}

int FakeGateway::polls() const
{
    const std::scoped_lock lock(mutex_);
    return polls_;
}

bool FakeGateway::has_call(const std::string& line) const
{
    const std::vector<std::string> all = calls();
    return std::find(all.begin(), all.end(), line) != all.end();
}

asio::awaitable<Result<void>> FakeBalance::take_steps(Reporter, BalanceSteps steps)
{
    const std::scoped_lock lock(mutex_);
    taken_.push_back(std::move(steps));
    co_return Result<void>();
}

std::vector<BalanceSteps> FakeBalance::taken() const
{
    const std::scoped_lock lock(mutex_);
    return taken_;
}

asio::awaitable<Result<void>> FakeSubUnits::take_state(Reporter, link::SubUnitState)
{
    const std::scoped_lock lock(mutex_);
    calls_.emplace_back("state");
    co_return Result<void>();
}

asio::awaitable<Result<void>> FakeSubUnits::take_request(Reporter, MessageId, link::SubUnitRequest request)
{
    const std::scoped_lock lock(mutex_);
    calls_.push_back(request.action + " " + std::to_string(request.count));
    co_return answer_;
}

asio::awaitable<Result<std::vector<link::SubUnitTarget>>> FakeSubUnits::targets(Reporter)
{
    const std::scoped_lock lock(mutex_);
    co_return targets_;
}

void FakeSubUnits::set(link::SubUnitTarget target)
{
    const std::scoped_lock lock(mutex_);
    targets_ = {std::move(target)};
}

void FakeSubUnits::answer(Result<void> answer)
{
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(answer);
}

std::vector<std::string> FakeSubUnits::calls() const
{
    const std::scoped_lock lock(mutex_);
    return calls_;
}

std::shared_ptr<const link::MatchLibrary> FakeLibrary::match_library() const
{
    const std::scoped_lock lock(mutex_);
    return library_;
}

void FakeLibrary::set(link::MatchLibrary library)
{
    const std::scoped_lock lock(mutex_);
    library_ = std::make_shared<const link::MatchLibrary>(std::move(library));
}

AgentServer::AgentServer(std::chrono::milliseconds hello_time)
    : authority(net::make_authority("test network", 10).value())
{
    authorities.set(only_authority(authority).value());
    enrolment = std::make_unique<EnrolmentService>(
        store.database(), EnrolmentOptions{.authorities = &authorities, .agent_port = 8444, .certificate_days = 30});
    AgentHubOptions options;
    options.replica = "rep_test";
    options.hello_time = hello_time;
    options.order_tick = 200ms;
    options.touch_period = 0ms;
    options.catalog_pause = 200ms;
    options.longest_away = 1s;
    options.connection_pause = 1h;
    const AgentHubParts parts{store.database(), gateway, *enrolment, &sub_units, &balance, &library};
    hub = std::make_unique<AgentHub>(parts, options);
    notifier_ = std::make_unique<Notifier>(store.url());
    hub->subscribe(*notifier_);
    notifier_->subscribe("catalog", [this](const std::string& payload) {
        const std::scoped_lock lock(mutex_);
        ++catalog_notices_[payload];
    });
    notifier_->start();
    net::Router router;
    hub->add_route(router);
    const net::Credential credential = net::make_server_credential(authority, {"127.0.0.1"}, 10).value();
    server_ = std::make_unique<net::Server>(
        io.context(),
        net::make_server_context(credential, net::ClientCertificates::kOptional, authority.certificate_pem).value(),
        std::move(router), net::ServerLimits{}, metrics_);
    server_->listen({"127.0.0.1", 0}).value();
    hub->start(io.context().get_executor());
}

AgentServer::~AgentServer()
{
    hub->close();
    asio::co_spawn(io.context(), server_->stop(1s), asio::use_future).get();
    hub->wait(60s);
    notifier_->stop();
    store.database().stop();
}

int AgentServer::catalog_notices(const CenterId& center) const
{
    const std::scoped_lock lock(mutex_);
    const auto found = catalog_notices_.find(center.value);
    return found == catalog_notices_.end() ? 0 : found->second;
}

AgentServer::Enrolled AgentServer::enrol(const std::string& center_name)
{
    const auto token = io.run(enrolment->create_token({"tok_test", "req_test"}, center_name, 60s)).value();
    const std::string key = net::make_private_key().value();
    const std::string request = net::make_signing_request(key, "anything").value();
    const auto enrolled = io.run(enrolment->enrol(token.secret, request, "req_test")).value();
    return {enrolled.center_id, {enrolled.certificate_pem, key}};
}

net::TlsContext AgentServer::client_context(const net::Credential* credential) const
{
    return net::make_client_context(authority.certificate_pem, credential).value();
}

TestAgent::TestAgent(AgentServer& server, const net::Credential* credential) : server_(&server)
{
    const net::ClientOptions options;
    socket_ =
        server.io.run(net::connect_websocket(server.endpoint(), server.client_context(credential), "/link/v1", options))
            .value();
}

MessageId TestAgent::send(link::Body body)
{
    const link::Message message = link::make_message(std::move(body));
    send_text(link::encode(message));
    return message.id;
}

void TestAgent::send_text(std::string text)
{
    EXPECT_TRUE(socket_->send(std::move(text)));
}

std::string TestAgent::expect_end()
{
    for (;;) {
        const Result<std::string> text = server_->io.run(socket_->read());
        if (!text) return text.error().detail;
    }
}

link::Welcome TestAgent::greet(Catalog catalog, std::vector<link::InventoryItem> inventory)
{
    link::Hello hello;
    hello.agent_version = "0.1.0";
    hello.catalog = std::move(catalog);
    hello.inventory = std::move(inventory);
    send(std::move(hello));
    return expect<link::Welcome>();
}

link::Ack TestAgent::send_and_wait(link::Body body)
{
    const MessageId id = send(std::move(body));
    for (;;) {
        link::Ack ack = expect<link::Ack>();
        if (ack.of == id || testing::Test::HasFailure()) return ack;
    }
}

} // namespace fathom::server::test
