#include "server/metering/metering_api.hpp"

#include "core/decide/scoring/find_measured.hpp"
#include "server/api/etag.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"
#include "server/store/column.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

Answer list_policies(MeteringService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<PolicyRecord>> policies = co_await service->list_policies(page->size, page->after);
    if (!policies) co_return net::problem(policies.error(), call.request.request_id);
    co_return render_page(*policies);
}

Answer get_policy(MeteringService* service, Call call)
{
    const std::int64_t version = query_integer(call.request.query, "version").value_or(0); // 0: the newest
    const Result<PolicyRecord> policy = co_await service->get_policy(call.request.path_params["id"], version);
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

Json number_or_null(const std::optional<double>& number)
{
    return number ? Json(*number) : Json();
}

Json rank_or_null(const std::optional<std::int64_t>& rank)
{
    return rank ? Json(*rank) : Json();
}

Json to_json(const ComparedScore& scores)
{
    return {
        {"score_before", number_or_null(scores.before)},         {"score_after", number_or_null(scores.after)},
        {"rank_before", rank_or_null(scores.rank_before)},       {"rank_after", rank_or_null(scores.rank_after)},
        {"missing_before", text_or_null(scores.missing_before)}, {"missing_after", text_or_null(scores.missing_after)}};
}

Json unit_types_json(const PolicyTrial& trial)
{
    Json items = Json::array();
    for (const PolicyTrial::Place& one : trial.unit_types) {
        Json json = to_json(one.place);
        json.update(to_json(one.scores));
        items.push_back(std::move(json));
    }
    return items;
}

Json trial_json(const PolicyTrial& trial)
{
    Json operators = Json::array();
    for (const PolicyTrial::Operator& one : trial.operators) {
        Json json = to_json(one.place);
        json["operator"] = one.operator_id;
        json["parameters"] = fathom::to_json(parameters_of_key(one.parameters_key));
        json.update(to_json(one.scores));
        operators.push_back(std::move(json));
    }
    return {{"policy", policy_name(trial.policy)},
            {"active_policy", policy_name(trial.active)},
            {"unit_types", unit_types_json(trial)},
            {"operators", std::move(operators)},
            {"unit_type_count", trial.unit_type_count}};
}

Answer try_document(ScoresService* scores, Call call)
{
    Result<MetricPolicy> policy = parse_policy_order(call);
    if (!policy) co_return net::problem(policy.error(), call.request.request_id);
    const Result<PolicyTrial> trial = co_await scores->try_document(std::move(*policy));
    if (!trial) co_return net::problem(trial.error(), call.request.request_id);
    co_return json_response(200, trial_json(*trial));
}

/// Either a document or the name of a stored policy.
Answer try_policy(ScoresService* scores, Call call)
{
    const Result<Json> json = call.json();
    if (!json) co_return net::problem(json.error(), call.request.request_id);
    if (!json->is_object() || !json->contains("policy")) co_return co_await try_document(scores, std::move(call));
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    std::string name = reader.required_string("policy", {.min_length = 1, .max_length = 80});
    if (reader.has("document")) reader.fail("document", "cannot stand beside policy: one of the two is tried");
    reader.any("document");
    reader.finish(UnknownFields::kReject);
    const Result<std::string> policy = value_or_errors(std::move(name), std::move(errors), "the request");
    if (!policy) co_return net::problem(policy.error(), call.request.request_id);
    const Result<PolicyTrial> trial = co_await scores->try_policy(*policy);
    if (!trial) co_return net::problem(trial.error(), call.request.request_id);
    co_return json_response(200, trial_json(*trial));
}

Answer activate(MeteringService* service, ScoresService* scores, Call call)
{
    const Result<std::int64_t> version = parse_activation(call);
    if (!version) co_return net::problem(version.error(), call.request.request_id);
    const std::string id = call.request.path_params["id"];
    const Result<PolicyRecord> wanted = co_await service->get_policy(id, *version);
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    // Before: afterwards there is nothing left to compare with.
    const Result<PolicyTrial> trial = co_await scores->try_policy(policy_name(wanted->policy));
    if (!trial) co_return net::problem(trial.error(), call.request.request_id);
    const Result<PolicyRecord> record = co_await service->activate(caller_of(call), id, wanted->policy.version);
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    Json json = to_json(*record);
    json["replaced_policy"] = policy_name(trial->active);
    json["unit_types"] = unit_types_json(*trial);
    co_return json_response(200, json);
}

} // namespace

void add_metering_routes(ApiRouter& router, MeteringService& service, ScoresService& scores, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kGet, "/metric-policies", Permission::kReadNetwork, bind(list_policies));
    router.add(Method::kGet, "/metric-policies/{id}", Permission::kReadNetwork, bind(get_policy));
    router.add(Method::kPost, "/metric-policies", Permission::kManageMetering, idempotent(database, bind(add_policy)),
               kLargeBodyBytes);
    router.add(
        Method::kPost, "/metric-policies:try", Permission::kManageMetering,
        [target = &scores](Call call) { return try_policy(target, std::move(call)); }, kLargeBodyBytes);
    const ApiHandler activation = [target = &service, judge = &scores](Call call) {
        return activate(target, judge, std::move(call));
    };
    router.add(Method::kPost, "/metric-policies/{id}:activate", Permission::kManageMetering,
               idempotent(database, activation));
}

} // namespace fathom::server
