#include "server/operators/operator_reviews_api.hpp"

#include "server/api/caller.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/query.hpp"
#include "server/api/record_routes.hpp"
#include "server/operators/operator_order.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

net::Response answer_of(const Call& call, int status, const Result<OperatorReview>& review)
{
    if (!review) return net::problem(review.error(), call.request.request_id);
    return json_response(status, to_json(*review));
}

/// `{"package": {…}}`, and nothing else.
Result<OperatorPackage> read_submitted(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    Result<OperatorOrder> order = parse_operator_order(*json);
    if (!order) return order.error();
    if (!order->package)
        return Error{Errc::kInvalid,
                     "the operator has 1 error",
                     {{"manifest", "a review is of a signed package: a manifest with its code"}}};
    return std::move(*order->package);
}

Result<std::string> read_reason(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    std::string reason = reader.required_string("reason", {.min_length = 1, .max_length = 1000});
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(reason), std::move(errors), "the rejection");
}

Answer submit(OperatorReviewsService* service, Call call)
{
    Result<OperatorPackage> package = read_submitted(call);
    if (!package) co_return net::problem(package.error(), call.request.request_id);
    const Result<OperatorReview> review = co_await service->submit(caller_of(call), std::move(*package));
    co_return answer_of(call, 201, review);
}

Answer list(OperatorReviewsService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    std::string state = query_text(call.request.query, "state");
    const Result<Page<OperatorReview>> reviews = co_await service->list(std::move(state), page->size, page->after);
    if (!reviews) co_return net::problem(reviews.error(), call.request.request_id);
    co_return render_page(*reviews);
}

Answer get_reviewed_package(OperatorReviewsService* service, Call call)
{
    const Result<std::string> package = co_await service->package(call.request.path_params["id"]);
    if (!package) co_return net::problem(package.error(), call.request.request_id);
    co_return net::json_response(200, *package);
}

Answer approve(OperatorReviewsService* service, Call call)
{
    const Result<OperatorReview> review = co_await service->approve(caller_of(call), call.request.path_params["id"]);
    co_return answer_of(call, 200, review);
}

Answer reject(OperatorReviewsService* service, Call call)
{
    Result<std::string> reason = read_reason(call);
    if (!reason) co_return net::problem(reason.error(), call.request.request_id);
    const Result<OperatorReview> review =
        co_await service->reject(caller_of(call), call.request.path_params["id"], std::move(*reason));
    co_return answer_of(call, 200, review);
}

} // namespace

void add_operator_reviews_routes(ApiRouter& router, OperatorReviewsService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kGet, "/operator-reviews", Permission::kReadNetwork, bind(list));
    router.add(Method::kPost, "/operator-reviews", Permission::kManageMetering, idempotent(database, bind(submit)),
               kLargeBodyBytes);
    router.add(Method::kGet, "/operator-reviews/{id}/package", Permission::kReadUploads, bind(get_reviewed_package));
    router.add(Method::kPost, "/operator-reviews/{id}:approve", Permission::kManageOperatorKeys,
               idempotent(database, bind(approve)));
    router.add(Method::kPost, "/operator-reviews/{id}:reject", Permission::kManageOperatorKeys,
               idempotent(database, bind(reject)));
}

} // namespace fathom::server
