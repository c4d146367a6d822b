#include "server/metering/metering_api.hpp"

#include "server/api/idempotency.hpp"
#include "server/api/query_parameter.hpp"
#include "server/api/render_page.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

Answer list_policies(MeteringService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request, {});
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<PolicyRecord>> policies = co_await service->list_policies(page->size, page->after);
    if (!policies) co_return net::problem(policies.error(), call.request.request_id);
    co_return render_page(*policies);
}

Answer get_policy(MeteringService* service, Call call)
{
    const Result<std::int64_t> version = parse_version_parameter(call.request, "version");
    if (!version) co_return net::problem(version.error(), call.request.request_id);
    const Result<PolicyRecord> policy = co_await service->get_policy(call.request.path_params["id"], *version);
    if (!policy) co_return net::problem(policy.error(), call.request.request_id);
    net::Response response = json_response(200, to_json(*policy));
    response.headers["ETag"] = etag(policy->policy.version);
    co_return response;
}

Result<MetricPolicy> parse_policy_order(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    MetricPolicy policy;
    if (const Json* document = reader.object("document")) {
        const Result<MetricPolicy> parsed = parse_metric_policy(*document);
        if (parsed)
            policy = *parsed;
        else {
            const Error error = parsed.error();
            for (const FieldError& field : error.fields)
                errors.push_back({"document." + field.field, field.detail});
        }
        if (policy.id.find_first_of("@/") != std::string::npos) reader.fail("document.id", "must hold no '@' or '/'");
    } else if (!reader.has("document")) {
        reader.fail("document", "is required");
    }
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(policy), std::move(errors), "the metric policy");
}

Answer add_policy(MeteringService* service, Call call)
{
    Result<MetricPolicy> policy = parse_policy_order(call);
    if (!policy) co_return net::problem(policy.error(), call.request.request_id);
    const Result<PolicyRecord> record = co_await service->add_policy(caller_of(call), std::move(*policy));
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    net::Response response = json_response(201, to_json(*record));
    response.headers["Location"] =
        "/api/v1/metric-policies/" + record->policy.id + "?version=" + std::to_string(record->policy.version);
    co_return response;
}

/// 0 when the body is empty or names no version.
Result<std::int64_t> parse_activation(const Call& call)
{
    if (call.request.body.empty()) return std::int64_t{0};
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    const std::int64_t version = reader.optional_integer("version", 1, 1'000'000'000).value_or(0);
    reader.finish(UnknownFields::kReject);
    return value_or_errors(version, std::move(errors), "the activation");
}

Answer activate(MeteringService* service, Call call)
{
    const Result<std::int64_t> version = parse_activation(call);
    if (!version) co_return net::problem(version.error(), call.request.request_id);
    const Result<PolicyRecord> record =
        co_await service->activate(caller_of(call), call.request.path_params["id"], *version);
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    co_return json_response(200, to_json(*record));
}

Json score_json(const MeteringService::Scores& scores, const MeasurementRecord& record)
{
    const MetricPolicy& policy = scores.policy;
    const MeasuredOperator& measured = record.measured;
    const Result<ScoreValue> points = score(policy, measured);
    const auto trust = scores.trust.find(record.unit_type_id);
    const double factor = trust == scores.trust.end() ? 1 : trust->second.factor;
    return {{"center_id", record.center_id},
            {"center", record.center},
            {"unit_type_id", record.unit_type_id},
            {"unit_type", record.unit_type},
            {"operator", measured.operator_id},
            {"operator_version", record.operator_version},
            {"parameters", record.parameters},
            {"unit_count", record.unit_count},
            {"median_s", measured.median_s},
            {"ci_low_s", measured.ci_low_s},
            {"ci_high_s", measured.ci_high_s},
            {"spread", record.spread},
            {"sample_count", record.sample_count},
            {"outlier_count", record.outlier_count},
            {"operations", measured.operations},
            {"bytes", measured.bytes},
            {"rate_flops", measured.operations / measured.median_s},
            {"rate_bytes", measured.bytes / measured.median_s},
            {"error", measured.error},
            {"tolerance", measured.tolerance},
            {"precision", record.precision},
            {"library", record.library},
            {"trust_factor", factor},
            {"score", points ? Json(points->value * factor) : Json()},
            {"policy", policy.id + "@" + std::to_string(policy.version)},
            {"probe_run_id", measured.probe_run_id},
            {"measured_at", format_rfc3339(measured.measured_at)}};
}

Answer list_scores(MeteringService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request, {"policy", "center", "unit_type", "operator"});
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    auto& query = call.request.query;
    MeasurementFilter filter{query["center"], query["unit_type"], query["operator"]};
    const Result<MeteringService::Scores> scores =
        co_await service->scores(query["policy"], std::move(filter), page->size, page->after);
    if (!scores) co_return net::problem(scores.error(), call.request.request_id);
    Json items = Json::array();
    for (const MeasurementRecord& record : scores->measurements.items)
        items.push_back(score_json(*scores, record));
    co_return page_response(std::move(items), scores->measurements.next_after);
}

} // namespace

void add_metering_routes(ApiRouter& router, MeteringService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kGet, "/metric-policies", Permission::kReadNetwork, bind(list_policies));
    router.add(Method::kGet, "/metric-policies/{id}", Permission::kReadNetwork, bind(get_policy));
    router.add(Method::kPost, "/metric-policies", Permission::kManageMetering, idempotent(database, bind(add_policy)));
    router.add(Method::kPost, "/metric-policies/{id}:activate", Permission::kManageMetering,
               idempotent(database, bind(activate)));
    router.add(Method::kGet, "/scores", Permission::kReadNetwork, bind(list_scores));
}

} // namespace fathom::server
