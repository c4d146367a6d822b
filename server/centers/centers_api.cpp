#include "server/centers/centers_api.hpp"

#include "server/api/etag.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/record_routes.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr std::size_t kEnrolmentBytes = 20UL << 10U; // a token and a signing request
constexpr std::int64_t kMaxToken_s = 30 * 86400;

Result<CenterChange> parse_change(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    CenterChange change{.drained = reader.optional_boolean("drained"),
                        .drain_reason = reader.optional_string("drain_reason", {.max_length = 500}),
                        .probe_share = reader.optional_number("probe_share", 0, 1)};
    if (change.drain_reason && !change.drained.value_or(false))
        errors.push_back({"drain_reason", "is that of a drain: send it with \"drained\": true"});
    if (!change.drained && !change.probe_share && errors.empty())
        errors.push_back({"", "must hold \"drained\" or \"probe_share\""});
    reader.finish(UnknownFields::kReject);
    return value_or_errors(change, std::move(errors), "the change of a center");
}

Answer patch_center(CentersService* service, Call call)
{
    const Result<CenterChange> change = parse_change(call);
    if (!change) co_return net::problem(change.error(), call.request.request_id);
    VersionRule rule = [request = &call.request](std::int64_t version) { return if_match_allows(*request, version); };
    const Result<std::optional<CenterRecord>> center =
        co_await service->change(caller_of(call), call.request.path_params["id"], *change, std::move(rule));
    if (!center) co_return net::problem(center.error(), call.request.request_id);
    if (!*center) co_return precondition_failed(call.request);
    co_return record_response(200, **center);
}

Answer revoke_center(CentersService* service, Call call)
{
    const Result<CenterRecord> center = co_await service->revoke(caller_of(call), call.request.path_params["id"]);
    if (!center) co_return net::problem(center.error(), call.request.request_id);
    co_return record_response(200, *center);
}

Answer release_quarantine(CentersService* service, Call call)
{
    const Result<CenterRecord> center = co_await service->release(caller_of(call), call.request.path_params["id"]);
    if (!center) co_return net::problem(center.error(), call.request.request_id);
    co_return record_response(200, *center);
}

Answer list_unit_types(CentersService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const bool is_advised = query_flag(call.request.query, "advised").value_or(false);
    const Result<Page<UnitTypeRecord>> unit_types =
        co_await service->list_unit_types(query_text(call.request.query, "center"), page->size, page->after,
                                          is_advised ? UnitTypesWanted::kAdvised : UnitTypesWanted::kAll);
    if (!unit_types) co_return net::problem(unit_types.error(), call.request.request_id);
    co_return render_page(*unit_types);
}

Answer get_unit_type(CentersService* service, Call call)
{
    const Result<UnitTypeRecord> unit_type = co_await service->get_unit_type(call.request.path_params["id"]);
    if (!unit_type) co_return net::problem(unit_type.error(), call.request.request_id);
    co_return json_response(200, to_json(*unit_type));
}

struct TokenOrder {
    std::string center_name;
    std::chrono::seconds valid{3600};
};

Result<TokenOrder> parse_token_order(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    TokenOrder order;
    order.center_name = reader.required_string("center_name", {.min_length = 1, .max_length = 63});
    order.valid =
        std::chrono::seconds(reader.optional_integer("valid_s", 1, kMaxToken_s).value_or(order.valid.count()));
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the enrolment token");
}

Answer create_token(EnrolmentService* service, Call call)
{
    const Result<TokenOrder> order = parse_token_order(call);
    if (!order) co_return net::problem(order.error(), call.request.request_id);
    const Result<EnrolmentService::NewToken> token =
        co_await service->create_token(caller_of(call), order->center_name, order->valid);
    if (!token) co_return net::problem(token.error(), call.request.request_id);
    Json body = to_json(token->record);
    body["token"] = token->secret;
    co_return json_response(201, body);
}

Answer withdraw_token(EnrolmentService* service, Call call)
{
    const Result<void> withdrawn = co_await service->withdraw_token(caller_of(call), call.request.path_params.at("id"));
    if (!withdrawn) co_return net::problem(withdrawn.error(), call.request.request_id);
    net::Response response;
    response.status = 204;
    co_return response;
}

Answer list_tokens(EnrolmentService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<EnrolmentTokenRecord>> tokens = co_await service->list_tokens(page->size, page->after);
    if (!tokens) co_return net::problem(tokens.error(), call.request.request_id);
    co_return render_page(*tokens);
}

struct EnrolOrder {
    std::string token;
    std::string request_pem;
};

Result<EnrolOrder> parse_enrol_order(const std::string& body)
{
    const Result<Json> json = parse_json(body);
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    EnrolOrder order;
    order.token = reader.required_string("token", {.min_length = 1, .max_length = 256});
    order.request_pem = reader.required_string("signing_request_pem", {.min_length = 1, .max_length = 16384});
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the enrolment");
}

Answer enrol(EnrolmentService* service, net::Request request)
{
    const Result<EnrolOrder> order = parse_enrol_order(request.body);
    if (!order) co_return net::problem(order.error(), request.request_id);
    const Result<EnrolmentService::Enrolment> enrolment =
        co_await service->enrol(order->token, order->request_pem, request.request_id, request.remote_address);
    if (!enrolment) co_return net::problem(enrolment.error(), request.request_id);
    const Json body{{"center_id", enrolment->center_id.value},
                    {"center_name", enrolment->center_name},
                    {"certificate_pem", enrolment->certificate_pem},
                    {"ca_pem", enrolment->ca_pem},
                    {"agent_host", nullptr}, // the agent knows by which name it reached us
                    {"agent_port", enrolment->agent_port},
                    {"certificate_not_after", format_rfc3339(enrolment->certificate_not_after)}};
    co_return json_response(201, body);
}

} // namespace

void add_centers_routes(ApiRouter& router, CentersService& centers, EnrolmentService& enrolment, Database& database)
{
    using net::Method;
    // The lambdas are no coroutines: what they capture need not outlive the call.
    const auto bind = [](auto handler, auto& service) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kGet, "/centers", Permission::kReadNetwork, bind(list_records<CentersService>, centers));
    router.add(Method::kGet, "/centers/{id}", Permission::kReadNetwork, bind(get_record<CentersService>, centers));
    router.add(Method::kPatch, "/centers/{id}", Permission::kManageNetwork, bind(patch_center, centers));
    router.add(Method::kPost, "/centers/{id}:revoke", Permission::kManageNetwork,
               idempotent(database, bind(revoke_center, centers)));
    router.add(Method::kPost, "/centers/{id}:release", Permission::kManageNetwork,
               idempotent(database, bind(release_quarantine, centers)));
    router.add(Method::kGet, "/unit-types", Permission::kReadNetwork, bind(list_unit_types, centers));
    router.add(Method::kGet, "/unit-types/{id}", Permission::kReadNetwork, bind(get_unit_type, centers));
    router.add(Method::kPost, "/enrolment-tokens", Permission::kManageNetwork,
               idempotent(database, bind(create_token, enrolment), "token"));
    router.add(Method::kGet, "/enrolment-tokens", Permission::kManageNetwork, bind(list_tokens, enrolment));
    router.add(Method::kDelete, "/enrolment-tokens/{id}", Permission::kManageNetwork, bind(withdraw_token, enrolment));
}

void add_enrolment_routes(ApiRouter& router, EnrolmentService& enrolment)
{
    router.add_open(
        net::Method::kPost, "/agents:enrol",
        [service = &enrolment](net::Request request) { return enrol(service, std::move(request)); }, kEnrolmentBytes);
}

} // namespace fathom::server
