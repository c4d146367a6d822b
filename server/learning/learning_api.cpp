#include "server/learning/learning_api.hpp"

#include "server/api/render_page.hpp"
#include "server/learning/learning_service.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

Result<PredictionFilter> parse_filter(net::Request& request, const Principal& principal)
{
    std::vector<FieldError> errors;
    PredictionFilter filter;
    filter.unit_type = request.query["unit_type"];
    filter.center = request.query["center"];
    filter.job_type = request.query["job_type"];
    const std::string& ended = request.query["ended"];
    if (!ended.empty() && ended != "true" && ended != "false") errors.push_back({"ended", "must be true or false"});
    filter.is_ended_only = ended == "true";
    if (!has_permission(principal.role, Permission::kReadAllJobs)) filter.owner = principal.token_id.value;
    return value_or_errors(std::move(filter), std::move(errors), "the query");
}

Answer list_predictions(LearningService* learning, Call call)
{
    Result<PageRequest> page = parse_page_request(call.request, {"unit_type", "center", "job_type", "ended"});
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    Result<PredictionFilter> filter = parse_filter(call.request, call.principal);
    if (!filter) co_return net::problem(filter.error(), call.request.request_id);
    const Result<Page<PredictionRecord>> found =
        co_await learning->list(std::move(*filter), page->size, std::move(page->after));
    if (!found) co_return net::problem(found.error(), call.request.request_id);
    co_return render_page(*found);
}

Answer get_calibration(LearningService* learning, Call call)
{
    const Result<NetworkCalibration> calibration = co_await learning->calibration();
    if (!calibration) co_return net::problem(calibration.error(), call.request.request_id);
    co_return json_response(200, to_json(*calibration));
}

} // namespace

void add_learning_routes(ApiRouter& router, LearningService& learning)
{
    router.add(net::Method::kGet, "/predictions", Permission::kReadJobs,
               [target = &learning](Call call) { return list_predictions(target, std::move(call)); });
    router.add(net::Method::kGet, "/predictions:calibration", Permission::kReadNetwork,
               [target = &learning](Call call) { return get_calibration(target, std::move(call)); });
}

} // namespace fathom::server
