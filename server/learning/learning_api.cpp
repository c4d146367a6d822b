#include "server/learning/learning_api.hpp"

#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"
#include "server/learning/learning_service.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

PredictionFilter filter_of(const Query& query, const Principal& principal)
{
    PredictionFilter filter;
    filter.unit_type = query_text(query, "unit_type");
    filter.center = query_text(query, "center");
    filter.job_type = query_text(query, "job_type");
    filter.is_ended_only = query_text(query, "ended") == "true";
    filter.scope = job_scope_of(principal);
    return filter;
}

Answer list_predictions(LearningService* learning, Call call)
{
    Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    PredictionFilter filter = filter_of(call.request.query, call.principal);
    const Result<Page<PredictionRecord>> found =
        co_await learning->list(std::move(filter), page->size, std::move(page->after));
    if (!found) co_return net::problem(found.error(), call.request.request_id);
    co_return render_page(*found);
}

/// The service, and how many calibrations, of jobs and of operators, a token may ask for at once: each reads and
/// computes from thousands of runs. The console's page asks for one of each, so neither takes the other's places.
struct Calibrations {
    explicit Calibrations(LearningService& service) : learning(&service) {}
    static constexpr std::size_t kMaxOfToken = 2;
    LearningService* learning;
    TokenPlaces places{kMaxOfToken};
    TokenPlaces operator_places{kMaxOfToken};
};

net::Response asked_at_once(const Call& call)
{
    const Error error{Errc::kTooMany, "this token asks for calibrations already: ask again when one has been "
                                      "answered"};
    return net::problem(error, call.request.request_id);
}

Answer get_calibration(std::shared_ptr<Calibrations> calibrations, Call call)
{
    const std::shared_ptr<const void> place = calibrations->places.take(call.principal.token_id.value);
    if (!place) co_return asked_at_once(call);
    const Result<NetworkCalibration> calibration = co_await calibrations->learning->calibration();
    if (!calibration) co_return net::problem(calibration.error(), call.request.request_id);
    co_return json_response(200, to_json(*calibration));
}

Answer get_operator_accuracy(std::shared_ptr<Calibrations> calibrations, Call call)
{
    const std::shared_ptr<const void> place = calibrations->operator_places.take(call.principal.token_id.value);
    if (!place) co_return asked_at_once(call);
    const Query& query = call.request.query;
    OperatorAccuracyFilter filter;
    filter.operator_id = query_text(query, "operator");
    filter.unit_type = query_text(query, "unit_type");
    filter.center = query_text(query, "center");
    const Result<std::vector<OperatorAccuracy>> found =
        co_await calibrations->learning->operator_accuracy(std::move(filter));
    if (!found) co_return net::problem(found.error(), call.request.request_id);
    Json items = Json::array();
    for (const OperatorAccuracy& one : *found)
        items.push_back(to_json(one));
    Json answer = Json::object();
    answer["items"] = std::move(items);
    co_return json_response(200, answer);
}

} // namespace

void add_learning_routes(ApiRouter& router, LearningService& learning)
{
    router.add(net::Method::kGet, "/predictions", Permission::kReadJobs,
               [target = &learning](Call call) { return list_predictions(target, std::move(call)); });
    const auto calibrations = std::make_shared<Calibrations>(learning);
    router.add(net::Method::kGet, "/predictions:calibration", Permission::kReadNetwork,
               [calibrations](Call call) { return get_calibration(calibrations, std::move(call)); });
    router.add(net::Method::kGet, "/predictions:operators", Permission::kReadNetwork,
               [calibrations](Call call) { return get_operator_accuracy(calibrations, std::move(call)); });
}

} // namespace fathom::server
