#include "server/api/system_api.hpp"

#include "core/base/log.hpp"
#include "server/api/api_router.hpp"
#include "server/api/query_contract.hpp"
#include "server/api/readiness.hpp"

namespace fathom::server {
namespace {

asio::awaitable<net::Response> answer_now(net::Response response)
{
    co_return response;
}

/// Alive: the process answers. Says nothing of others, so that a supervisor does not restart us for the
/// database's sake.
net::Response health()
{
    return json_response(200, {{"status", "ok"}});
}

asio::awaitable<net::Response> answer_readiness(std::shared_ptr<Readiness> readiness)
{
    const auto word = [](bool good) { return good ? "ok" : "unavailable"; };
    const Readiness::State state = co_await readiness->get();
    Json checks = {{"database", word(state.database)}};
    if (state.embedded) checks["embedded_postgres"] = word(*state.embedded);
    // Not a reason to send clients elsewhere: all but new jobs goes on.
    if (state.is_disk_low) checks["disk"] = *state.is_disk_low ? "low" : "ok";
    const bool is_degraded = state.is_ready() && state.is_disk_low.value_or(false);
    const Json body = {{"status", is_degraded ? "degraded" : word(state.is_ready())}, {"checks", std::move(checks)}};
    co_return json_response(state.is_ready() ? 200 : 503, body);
}

net::Response metrics_text(const Metrics& metrics)
{
    net::Response response;
    response.headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8";
    response.body = metrics.expose();
    return response;
}

/// The document that clients are generated from, as JSON.
net::Response openapi_answer()
{
    const Result<Json>& document = openapi_document();
    if (!document) {
        log_warning("openapi_unreadable", {{"error", describe(document.error())}});
        return net::problem(Error{Errc::kUnavailable, "this build has no readable OpenAPI document"}, "");
    }
    return json_response(200, *document);
}

} // namespace

void add_system_routes(net::Router& router, Database& database, std::function<std::string()> embedded_state,
                       std::function<bool()> is_disk_low)
{
    using net::Method;
    const net::BodyRule no_body{.most_bytes = 0};
    router.add(Method::kGet, "/healthz", [](net::Request) { return answer_now(health()); }, no_body);
    auto readiness = std::make_shared<Readiness>(database, std::move(embedded_state), std::move(is_disk_low));
    router.add(Method::kGet, "/readyz", [readiness](net::Request) { return answer_readiness(readiness); }, no_body);
    // Converted once: the document does not change while we run.
    router.add(
        Method::kGet, "/openapi.json", [document = openapi_answer()](net::Request) { return answer_now(document); },
        no_body);
}

void add_metrics_route(ApiRouter& router, Metrics& metrics)
{
    router.add_at_root(
        net::Method::kGet, "/metrics", Permission::kReadNetwork,
        [metrics = &metrics](Call) { return answer_now(metrics_text(*metrics)); }, 0);
}

void add_open_metrics_route(net::Router& router, Metrics& metrics)
{
    const net::BodyRule no_body{.most_bytes = 0};
    router.add(
        net::Method::kGet, "/metrics",
        [metrics = &metrics](net::Request) { return answer_now(metrics_text(*metrics)); }, no_body);
}

} // namespace fathom::server
