#include "server/routing/project_use/project_use_api.hpp"

#include "core/model/name_limits.hpp"
#include "server/api/api_router.hpp"

namespace fathom::server {
namespace {

asio::awaitable<net::Response> get_use(ProjectUseService* uses, const Clock* clock, Call call)
{
    const std::string& name = call.request.path_params["name"];
    if (name.empty() || name.size() > kMaxProjectNameBytes || name.find('\0') != std::string::npos) {
        const Error error{Errc::kNotFound, "the name of a project has 1 to 128 bytes"};
        co_return net::problem(error, call.request.request_id);
    }
    const Result<Json> report = co_await uses->report(name, clock->now());
    if (!report) co_return net::problem(report.error(), call.request.request_id);
    co_return json_response(200, *report);
}

} // namespace

void add_project_use_routes(ApiRouter& api, ProjectUseService& uses, const Clock& clock)
{
    api.add(net::Method::kGet, "/projects/{name}/use", Permission::kReadNetwork,
            [&uses, &clock](Call call) { return get_use(&uses, &clock, std::move(call)); });
}

} // namespace fathom::server
