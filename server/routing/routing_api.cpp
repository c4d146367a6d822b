#include "server/routing/routing_api.hpp"

#include "server/api/api_router.hpp"
#include "server/routing/routing_service.hpp"

namespace fathom::server {
namespace {

asio::awaitable<net::Response> get_placement(RoutingService* routing, Call call)
{
    const std::string request_id = call.request.request_id;
    const std::optional<JobId> id = JobId::parse(call.request.path_params["id"]);
    if (!id) co_return net::problem(Error(Errc::kNotFound, "there is no such job"), request_id);
    std::string owner;
    if (!has_permission(call.principal.role, Permission::kReadAllJobs)) owner = call.principal.token_id.value;
    const Result<Json> explanation = co_await routing->explain(*id, std::move(owner));
    if (!explanation) co_return net::problem(explanation.error(), request_id);
    co_return json_response(200, *explanation);
}

asio::awaitable<net::Response> preview_placement(RoutingService* routing, Call call)
{
    const std::string request_id = call.request.request_id;
    const Result<Json> body = call.json();
    if (!body) co_return net::problem(body.error(), request_id);
    Result<JobSpec> spec = parse_job_spec(*body);
    if (!spec) co_return net::problem(spec.error(), request_id);
    const Result<Json> decision = co_await routing->preview(std::move(*spec));
    if (!decision) co_return net::problem(decision.error(), request_id);
    co_return json_response(200, *decision);
}

} // namespace

void add_routing_routes(ApiRouter& api, RoutingService& routing)
{
    api.add(net::Method::kGet, "/jobs/{id}/placement", Permission::kReadJobs,
            [&routing](Call call) { return get_placement(&routing, std::move(call)); });
    api.add(net::Method::kPost, "/placements:preview", Permission::kReadJobs,
            [&routing](Call call) { return preview_placement(&routing, std::move(call)); });
}

} // namespace fathom::server
