#include "server/metering/curves_api.hpp"

#include <charconv>
#include <cmath>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

CurveFilter filter_of(net::Request& request)
{
    return {request.query["center"], request.query["unit_type"], request.query["operator"]};
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
    const Result<PageRequest> page = parse_page_request(call.request, {"center", "unit_type", "operator"});
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<MeasuredCounts>> counts =
        co_await service->measured_counts(filter_of(call.request), page->size, page->after);
    if (!counts) co_return net::problem(counts.error(), call.request.request_id);
    Json items = Json::array();
    for (const MeasuredCounts& one : counts->items)
        items.push_back(curve_json(one));
    co_return page_response(std::move(items), counts->next_after);
}

/// A transfer that is to be placed in a window: `size_bytes`, and until when it may start.
struct PlannedTransfer {
    double size_bytes{};
    Timestamp latest{};
};

Result<std::optional<PlannedTransfer>> parse_transfer(net::Request& request, Timestamp now)
{
    const bool has_size = request.query.contains("size_bytes");
    const bool has_latest = request.query.contains("latest_start");
    if (!has_size && !has_latest) return std::optional<PlannedTransfer>();
    std::vector<FieldError> errors;
    PlannedTransfer transfer;
    const std::string& size = request.query["size_bytes"];
    const auto [end, ec] = std::from_chars(size.data(), size.data() + size.size(), transfer.size_bytes);
    if (ec != std::errc{} || end != size.data() + size.size() || !(transfer.size_bytes > 0) ||
        !std::isfinite(transfer.size_bytes))
        errors.push_back({"size_bytes", "must be a positive number: how much is to be transferred"});
    transfer.latest = now + std::chrono::hours(24);
    if (has_latest) {
        const Result<Timestamp> latest = parse_rfc3339(request.query["latest_start"]);
        if (latest)
            transfer.latest = *latest;
        else
            errors.push_back({"latest_start", latest.error().detail});
        if (latest && *latest < now) errors.push_back({"latest_start", "has passed"});
    }
    if (!errors.empty()) return Error{Errc::kInvalid, "the query has errors", std::move(errors)};
    return std::optional(transfer);
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
    const Result<PageRequest> page =
        parse_page_request(call.request, {"center", "unit_type", "size_bytes", "latest_start"});
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Timestamp now = clock->now();
    const Result<std::optional<PlannedTransfer>> planned = parse_transfer(call.request, now);
    if (!planned) co_return net::problem(planned.error(), call.request.request_id);
    const Result<Page<TimedTransfers>> transfers =
        co_await service->transfers(filter_of(call.request), page->size, page->after);
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
    router.add(Method::kGet, "/network-windows", Permission::kReadNetwork,
               [target = &service, time = &clock, calendar](Call call) {
                   return list_windows(target, time, calendar, std::move(call));
               });
}

} // namespace fathom::server
