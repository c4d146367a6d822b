#include "server/identity/identity_api.hpp"

#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"

namespace fathom::server {
namespace {

constexpr std::int64_t kMaxValidity = 10LL * 366 * 24 * 3600; // ten years, in seconds

Json text_or_null(const std::optional<std::string>& text)
{
    return text ? Json(*text) : Json(nullptr);
}

Json to_json(const TokenRow& row)
{
    return {{"id", row.id},
            {"name", row.name},
            {"role", row.role},
            {"created_at", row.created_at},
            {"created_by", row.created_by},
            {"expires_at", text_or_null(row.expires_at)},
            {"revoked_at", text_or_null(row.revoked_at)}};
}

Result<IdentityService::TokenRequest> parse_token_request(const Json& body)
{
    std::vector<FieldError> errors;
    ObjectReader reader(body, "", errors);
    IdentityService::TokenRequest wanted;
    wanted.name = reader.required_string("name", {.min_length = 1, .max_length = 128});
    const std::string role = reader.required_string("role", {.one_of = role_names()});
    wanted.valid_s = reader.optional_integer("valid_s", 1, kMaxValidity);
    reader.finish(UnknownFields::kReject);
    if (const std::optional<Role> known = parse_role(role)) wanted.role = *known; // else reported above
    return value_or_errors(std::move(wanted), std::move(errors), "the token");
}

asio::awaitable<net::Response> create(IdentityService* identity, Call call)
{
    const Result<Json> body = call.json();
    if (!body) co_return net::problem(body.error(), call.request.request_id);
    const Result<IdentityService::TokenRequest> wanted = parse_token_request(*body);
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    const auto created = co_await identity->create_token(call.principal, *wanted, call.request.request_id);
    if (!created) co_return net::problem(created.error(), call.request.request_id);
    Json answer = to_json(created->row);
    answer["token"] = created->secret;
    net::Response response = json_response(201, answer);
    response.headers["Cache-Control"] = "no-store";
    co_return response;
}

asio::awaitable<net::Response> list(IdentityService* identity, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    // One more than asked tells whether there is a next page.
    Result<std::vector<TokenRow>> rows = co_await identity->list_tokens(page->after, page->size + 1);
    if (!rows) co_return net::problem(rows.error(), call.request.request_id);
    std::string next_after;
    if (static_cast<std::int64_t>(rows->size()) > page->size) {
        rows->pop_back();
        next_after = rows->back().id;
    }
    Json items = Json::array();
    for (const TokenRow& row : *rows)
        items.push_back(to_json(row));
    co_return page_response(std::move(items), next_after);
}

asio::awaitable<net::Response> revoke(IdentityService* identity, Call call)
{
    const std::string id = call.request.path_params.at("id");
    const Result<void> revoked = co_await identity->revoke_token(call.principal, id, call.request.request_id);
    if (!revoked) co_return net::problem(revoked.error(), call.request.request_id);
    net::Response response;
    response.status = 204;
    co_return response;
}

} // namespace

void add_identity_routes(ApiRouter& router, IdentityService& identity, Database& database)
{
    using net::Method;
    IdentityService* const service = &identity;
    ApiHandler create_once =
        idempotent(database, [service](Call call) { return create(service, std::move(call)); }, "token");
    router.add(Method::kPost, "/tokens", Permission::kManageTokens, std::move(create_once));
    router.add(Method::kGet, "/tokens", Permission::kManageTokens,
               [service](Call call) { return list(service, std::move(call)); });
    router.add(Method::kDelete, "/tokens/{id}", Permission::kManageTokens,
               [service](Call call) { return revoke(service, std::move(call)); });
}

} // namespace fathom::server
