#include "server/probing/findings/findings_api.hpp"

#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

FindingFilter filter_of(const Query& query)
{
    FindingFilter filter;
    filter.center = query_text(query, "center");
    filter.kind = query_text(query, "kind");
    filter.is_open = query_flag(query, "open");
    return filter;
}

Answer list_findings(FindingsService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<FindingRecord>> findings =
        co_await service->list(filter_of(call.request.query), page->size, page->after);
    if (!findings) co_return net::problem(findings.error(), call.request.request_id);
    co_return render_page(*findings);
}

Result<std::string> parse_reason(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    std::string reason = reader.required_string("reason", {.min_length = 1, .max_length = 500});
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(reason), std::move(errors), "the dismissal");
}

Answer dismiss_finding(FindingsService* service, Call call)
{
    const Result<std::string> reason = parse_reason(call);
    if (!reason) co_return net::problem(reason.error(), call.request.request_id);
    const Result<FindingRecord> finding =
        co_await service->dismiss(caller_of(call), call.request.path_params["id"], *reason);
    if (!finding) co_return net::problem(finding.error(), call.request.request_id);
    co_return json_response(200, to_json(*finding));
}

} // namespace

void add_findings_routes(ApiRouter& router, FindingsService& service, Database& database)
{
    using net::Method;
    router.add(Method::kGet, "/probe-findings", Permission::kReadNetwork,
               [target = &service](Call call) { return list_findings(target, std::move(call)); });
    router.add(
        Method::kPost, "/probe-findings/{id}:dismiss", Permission::kManageMetering,
        idempotent(database, [target = &service](Call call) { return dismiss_finding(target, std::move(call)); }));
}

} // namespace fathom::server
