#include "server/operators/operators_api.hpp"

#include "core/base/parse_number.hpp"
#include "server/api/caller.hpp"
#include "server/api/etag.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/record_routes.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

net::Response operator_response(int status, const OperatorRecord& record)
{
    net::Response response = json_response(status, to_json(record));
    response.headers["ETag"] = etag(record.manifest.version);
    return response;
}

/// A whole number of at least 1, else 0, which no version is.
std::int64_t to_version(const std::string& text)
{
    return std::max<std::int64_t>(parse_number<std::int64_t>(text).value_or(0), 0);
}

Result<OperatorOrder> read_order(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    return parse_operator_order(*json);
}

Answer get_operator(OperatorsService* service, Call call)
{
    const std::int64_t version = query_integer(call.request.query, "version").value_or(0); // 0: the newest
    const Result<OperatorRecord> record = co_await service->get(call.request.path_params["id"], version);
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    co_return operator_response(200, *record);
}

Answer list_versions(OperatorsService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const std::int64_t after = to_version(page->after);
    if (!page->after.empty() && after == 0) {
        const Error error(Errc::kInvalid, "the page_token is not one of this list");
        co_return net::problem(error, call.request.request_id);
    }
    const Result<Page<OperatorRecord>> versions =
        co_await service->list_versions(call.request.path_params["id"], page->size, after);
    if (!versions) co_return net::problem(versions.error(), call.request.request_id);
    co_return render_page(*versions);
}

Answer get_package(OperatorsService* service, Call call)
{
    const std::int64_t version = to_version(call.request.path_params["version"]);
    const Result<std::string> package = co_await service->package(call.request.path_params["id"], version);
    if (!package) co_return net::problem(package.error(), call.request.request_id);
    co_return net::json_response(200, *package);
}

Answer add_operator_version(OperatorsService* service, Call call)
{
    Result<OperatorOrder> order = read_order(call);
    if (!order) co_return net::problem(order.error(), call.request.request_id);
    const Result<OperatorRecord> record = co_await service->add(caller_of(call), std::move(*order));
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    net::Response response = operator_response(201, *record);
    response.headers["Location"] =
        "/api/v1/operators/" + record->manifest.id + "?version=" + std::to_string(record->manifest.version);
    co_return response;
}

Answer put_operator(OperatorsService* service, Call call)
{
    Result<OperatorOrder> order = read_order(call);
    if (!order) co_return net::problem(order.error(), call.request.request_id);
    OperatorVersionRule rule = [request = &call.request](std::int64_t version) {
        return if_match_allows(*request, version);
    };
    const Result<std::optional<OperatorRecord>> record =
        co_await service->change(caller_of(call), call.request.path_params["id"], std::move(*order), std::move(rule));
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    if (!*record) co_return precondition_failed(call.request);
    co_return operator_response(200, **record);
}

Answer withdraw_version(OperatorsService* service, Call call)
{
    const std::int64_t version = to_version(call.request.path_params["version"]);
    if (version == 0) {
        const Error error(Errc::kNotFound, "no such operator or version");
        co_return net::problem(error, call.request.request_id);
    }
    const Result<void> done = co_await service->withdraw(caller_of(call), call.request.path_params["id"], version);
    if (!done) co_return net::problem(done.error(), call.request.request_id);
    net::Response response;
    response.status = 204;
    co_return response;
}

} // namespace

void add_operators_routes(ApiRouter& router, OperatorsService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kGet, "/operators", Permission::kReadNetwork, bind(list_records<OperatorsService>));
    router.add(Method::kPost, "/operators", Permission::kManageMetering,
               idempotent(database, bind(add_operator_version)), kLargeBodyBytes);
    router.add(Method::kGet, "/operators/{id}", Permission::kReadNetwork, bind(get_operator));
    router.add(Method::kPut, "/operators/{id}", Permission::kManageMetering, bind(put_operator), kLargeBodyBytes);
    router.add(Method::kGet, "/operators/{id}/versions", Permission::kReadNetwork, bind(list_versions));
    router.add(Method::kDelete, "/operators/{id}/versions/{version}", Permission::kManageMetering,
               bind(withdraw_version));
    router.add(Method::kGet, "/operators/{id}/versions/{version}/package", Permission::kReadUploads, bind(get_package));
}

} // namespace fathom::server
