#include "server/metering/curves_api.hpp"

#include "core/base/parse_number.hpp"
#include "server/api/paging.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

CurveFilter filter_of(const Query& query)
{
    return {query_text(query, "center"), query_text(query, "unit_type"), query_text(query, "operator")};
}

Json curve_json(const MeasuredCounts& counts)
{
    Json json = to_json(counts.place);
    json["operator"] = counts.operator_id;
    json["parameters"] = counts.parameters;
    json["measured_at"] = format_rfc3339(counts.measured_at);
    // Threads of one process share each problem, on however many units: fixed size, divided.
    const Result<ScalingCurve> curve = fit_scaling(counts.points, ScalingMode::kStrong);
    if (!curve) { // rates out of the database are positive and counts differ; should it be otherwise, say so
        json["problem"] = curve.error().detail;
        return json;
    }
    json.update(to_json(*curve));
    json["largest_measured"] = curve->largest_measured();
    json["knee"] = knee(*curve, static_cast<std::int64_t>(2 * curve->largest_measured()));
    return json;
}

Answer list_curves(CurvesService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<MeasuredCounts>> counts =
        co_await service->measured_counts(filter_of(call.request.query), page->size, page->after);
    if (!counts) co_return net::problem(counts.error(), call.request.request_id);
    Json items = Json::array();
    for (const MeasuredCounts& one : counts->items)
        items.push_back(curve_json(one));
    co_return page_response(std::move(items), counts->next_after);
}

Json loads_json(const MeasuredLoads& loads)
{
    Json json = to_json(loads.place);
    json["operator"] = loads.operator_id;
    json["measured_at"] = format_rfc3339(loads.measured_at);
    const std::optional<LoadCurve> curve = fit_load_curve(loads.results, loads.copies);
    if (curve)
        json.update(fathom::to_json(*curve));
    else
        json["problem"] = "no size of it was measured beside two loads that differ by half a core or more";
    return json;
}

Answer list_loads(CurvesService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<MeasuredLoads>> loads =
        co_await service->measured_loads(filter_of(call.request.query), page->size, page->after);
    if (!loads) co_return net::problem(loads.error(), call.request.request_id);
    Json items = Json::array();
    for (const MeasuredLoads& one : loads->items)
        items.push_back(loads_json(one));
    co_return page_response(std::move(items), loads->next_after);
}

/// A transfer that is to be placed in a window: `size_bytes`, and until when it may start.
struct PlannedTransfer {
    double size_bytes{};
    Timestamp latest{};
};

Result<std::optional<PlannedTransfer>> parse_transfer(const Query& query, Timestamp now)
{
    const std::string size_bytes = query_text(query, "size_bytes");
    const std::string latest_start = query_text(query, "latest_start");
    if (size_bytes.empty() && latest_start.empty()) return std::optional<PlannedTransfer>();
    std::vector<FieldError> errors;
    if (size_bytes.empty()) errors.push_back({"size_bytes", "is required with latest_start: how much is transferred"});
    PlannedTransfer transfer{.size_bytes = parse_number<double>(size_bytes).value_or(0),
                             .latest = now + std::chrono::hours(24)};
    if (const Result<Timestamp> latest = parse_rfc3339(latest_start)) transfer.latest = *latest;
    if (transfer.latest < now) errors.push_back({"latest_start", "has passed"});
    return value_or_errors(std::optional(transfer), std::move(errors), "the query");
}

Json steps_json(const std::vector<NetworkSample>& samples)
{
    Json steps = Json::array();
    for (const NetworkStep& step : find_steps(samples)) {
        steps.push_back({{"at", format_rfc3339(step.at)},
                         {"before_rate_bytes", step.before_bytes},
                         {"after_rate_bytes", step.after_bytes}});
    }
    return steps;
}

Json window_json(const TimedTransfers& transfers, const std::optional<PlannedTransfer>& planned, Timestamp now,
                 NetworkCalendar calendar)
{
    const NetworkProfile profile(transfers.samples, calendar);
    Json json = to_json(transfers.place);
    json.update(to_json(profile));
    json["sample_count"] = transfers.samples.size();
    json["newest_at"] = transfers.samples.empty() ? Json() : Json(format_rfc3339(transfers.samples.back().at));
    json["steps"] = steps_json(transfers.samples);
    const RateAtTime present = profile.at(now);
    json["now"] = {{"rate_bytes", present.rate_bytes}, {"basis", to_string(present.basis)}};
    if (!planned) return json;
    const auto window = best_window(profile, planned->size_bytes, now, planned->latest);
    const auto at_once = profile.transfer_s(now, planned->size_bytes);
    json["best_window"] = Json();
    if (window) {
        json["best_window"] = {{"start", format_rfc3339(window->start)},
                               {"transfer_s", window->transfer_s},
                               {"transfer_now_s", at_once ? Json(*at_once) : Json()}};
    }
    return json;
}

Answer list_windows(CurvesService* service, const Clock* clock, NetworkCalendar calendar, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Timestamp now = clock->now();
    const Result<std::optional<PlannedTransfer>> planned = parse_transfer(call.request.query, now);
    if (!planned) co_return net::problem(planned.error(), call.request.request_id);
    const Result<Page<TimedTransfers>> transfers =
        co_await service->transfers(filter_of(call.request.query), page->size, page->after);
    if (!transfers) co_return net::problem(transfers.error(), call.request.request_id);
    Json items = Json::array();
    for (const TimedTransfers& one : transfers->items)
        items.push_back(window_json(one, *planned, now, calendar));
    co_return page_response(std::move(items), transfers->next_after);
}

} // namespace

void add_curves_routes(ApiRouter& router, CurvesService& service, const Clock& clock, NetworkCalendar calendar)
{
    using net::Method;
    router.add(Method::kGet, "/scaling-curves", Permission::kReadNetwork,
               [target = &service](Call call) { return list_curves(target, std::move(call)); });
    router.add(Method::kGet, "/load-curves", Permission::kReadNetwork,
               [target = &service](Call call) { return list_loads(target, std::move(call)); });
    router.add(Method::kGet, "/network-windows", Permission::kReadNetwork,
               [target = &service, time = &clock, calendar](Call call) {
                   return list_windows(target, time, calendar, std::move(call));
               });
}

} // namespace fathom::server
