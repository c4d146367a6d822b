#include "server/operators/operators_api.hpp"

#include "server/api/query_parameter.hpp"
#include "server/api/render_page.hpp"

namespace fathom::server {
namespace {

asio::awaitable<net::Response> list_operators(OperatorsService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request, {});
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<OperatorRecord>> operators = co_await service->list(page->size, page->after);
    if (!operators) co_return net::problem(operators.error(), call.request.request_id);
    co_return render_page(*operators);
}

asio::awaitable<net::Response> get_operator(OperatorsService* service, Call call)
{
    const Result<std::int64_t> version = parse_version_parameter(call.request, "version");
    if (!version) co_return net::problem(version.error(), call.request.request_id);
    const Result<OperatorRecord> record = co_await service->get(call.request.path_params["id"], *version);
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    net::Response response = json_response(200, to_json(*record));
    response.headers["ETag"] = etag(record->manifest.version);
    co_return response;
}

} // namespace

void add_operators_routes(ApiRouter& router, OperatorsService& service)
{
    router.add(net::Method::kGet, "/operators", Permission::kReadNetwork,
               [&service](Call call) { return list_operators(&service, std::move(call)); });
    router.add(net::Method::kGet, "/operators/{id}", Permission::kReadNetwork,
               [&service](Call call) { return get_operator(&service, std::move(call)); });
}

} // namespace fathom::server
