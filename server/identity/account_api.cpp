#include "server/identity/account_api.hpp"

#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

Json null_or(const std::optional<std::string>& text)
{
    return text ? Json(*text) : Json(nullptr);
}

Json to_json(const AccountRow& row)
{
    return {{"name", row.name},
            {"token_id", row.token_id},
            {"role", row.role},
            {"created_at", row.created_at},
            {"disabled_at", null_or(row.disabled_at)},
            {"last_sign_in_at", null_or(row.last_sign_in_at)},
            {"issuer", null_or(row.issuer)}};
}

Result<AccountService::NewAccountRequest> parse_new_account(const Json& body)
{
    std::vector<FieldError> errors;
    ObjectReader reader(body, "", errors);
    AccountService::NewAccountRequest wanted;
    wanted.name = reader.required_string("name", {.min_length = 1, .max_length = 64});
    if (!wanted.name.empty() && !is_account_name(wanted.name))
        reader.fail("name", "must begin with a letter and hold letters, digits, '.', '_', '-' and '@' only");
    const std::string role = reader.required_string("role", {.one_of = role_names()});
    if (const std::optional<Role> known = parse_role(role)) wanted.role = *known; // else reported above
    wanted.password =
        reader.required_string("password", {.min_length = kMinPasswordBytes, .max_length = kMaxPasswordBytes});
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(wanted), std::move(errors), "the account");
}

Result<AccountService::Change> parse_change(const Json& body)
{
    std::vector<FieldError> errors;
    ObjectReader reader(body, "", errors);
    AccountService::Change change;
    const std::optional<std::string> role = reader.optional_string("role", {.one_of = role_names()});
    if (role) change.role = parse_role(*role);
    change.password =
        reader.optional_string("password", {.min_length = kMinPasswordBytes, .max_length = kMaxPasswordBytes});
    change.is_disabled = reader.optional_boolean("disabled");
    if (body.is_object() && body.empty()) errors.push_back({"", "must hold what is to be changed"});
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(change), std::move(errors), "the change");
}

Answer answer_create(AccountService* service, Call call)
{
    const Result<Json> body = call.json();
    if (!body) co_return net::problem(body.error(), call.request.request_id);
    Result<AccountService::NewAccountRequest> wanted = parse_new_account(*body);
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    const Result<AccountRow> account = co_await service->create(caller_of(call), std::move(*wanted));
    if (!account) co_return net::problem(account.error(), call.request.request_id);
    net::Response response = json_response(201, to_json(*account));
    response.headers["Location"] = "/api/v1/users/" + account->name;
    co_return response;
}

Answer answer_list(AccountService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    // One more than asked tells whether there is a next page.
    Result<std::vector<AccountRow>> rows = co_await service->list(page->after, page->size + 1);
    if (!rows) co_return net::problem(rows.error(), call.request.request_id);
    std::string next_after;
    if (static_cast<std::int64_t>(rows->size()) > page->size) {
        rows->pop_back();
        next_after = rows->back().name;
    }
    Json items = Json::array();
    for (const AccountRow& row : *rows)
        items.push_back(to_json(row));
    co_return page_response(std::move(items), next_after);
}

Answer answer_get(AccountService* service, Call call)
{
    const Result<AccountRow> account = co_await service->get(call.request.path_params.at("name"));
    if (!account) co_return net::problem(account.error(), call.request.request_id);
    co_return json_response(200, to_json(*account));
}

Answer answer_change(AccountService* service, Call call)
{
    const Result<Json> body = call.json();
    if (!body) co_return net::problem(body.error(), call.request.request_id);
    Result<AccountService::Change> wanted = parse_change(*body);
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    const Result<AccountRow> account =
        co_await service->change(caller_of(call), call.request.path_params.at("name"), std::move(*wanted));
    if (!account) co_return net::problem(account.error(), call.request.request_id);
    co_return json_response(200, to_json(*account));
}

Answer answer_remove(AccountService* service, Call call)
{
    const Result<void> removed = co_await service->remove(caller_of(call), call.request.path_params.at("name"));
    if (!removed) co_return net::problem(removed.error(), call.request.request_id);
    net::Response response;
    response.status = 204;
    co_return response;
}

} // namespace

void add_account_routes(ApiRouter& router, AccountService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kPost, "/users", Permission::kManageTokens, idempotent(database, bind(answer_create)));
    router.add(Method::kGet, "/users", Permission::kManageTokens, bind(answer_list));
    router.add(Method::kGet, "/users/{name}", Permission::kManageTokens, bind(answer_get));
    router.add(Method::kPatch, "/users/{name}", Permission::kManageTokens, bind(answer_change));
    router.add(Method::kDelete, "/users/{name}", Permission::kManageTokens, bind(answer_remove));
}

} // namespace fathom::server
