#include "server/operators/operator_keys_api.hpp"

#include "server/api/caller.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/record_routes.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

Result<OperatorKeyOrder> parse_key_order(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    OperatorKeyOrder order;
    order.name = reader.required_string("name", {.min_length = 1, .max_length = 128});
    order.public_key_pem = reader.required_string("public_key_pem", {.min_length = 1, .max_length = 4096});
    order.center = reader.optional_string("center", {.max_length = 64}).value_or("");
    if (!order.public_key_pem.empty()) {
        const Result<std::vector<PublicKey>> keys = parse_public_keys(order.public_key_pem);
        if (!keys)
            reader.fail("public_key_pem", keys.error().detail);
        else if (keys->size() != 1)
            reader.fail("public_key_pem", "must hold one key, not " + std::to_string(keys->size()));
        else
            order.key = keys->front();
    }
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the operator key");
}

Answer add_key(OperatorKeysService* service, Call call)
{
    Result<OperatorKeyOrder> order = parse_key_order(call);
    if (!order) co_return net::problem(order.error(), call.request.request_id);
    const Result<OperatorKeyRecord> key = co_await service->add(caller_of(call), std::move(*order));
    if (!key) co_return net::problem(key.error(), call.request.request_id);
    co_return json_response(201, to_json(*key));
}

Answer revoke_key(OperatorKeysService* service, Call call)
{
    const Result<OperatorKeyRecord> key = co_await service->revoke(caller_of(call), call.request.path_params["id"]);
    if (!key) co_return net::problem(key.error(), call.request.request_id);
    co_return json_response(200, to_json(*key));
}

} // namespace

void add_operator_keys_routes(ApiRouter& router, OperatorKeysService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    const Permission needed = Permission::kManageOperatorKeys;
    router.add(Method::kGet, "/operator-keys", needed, bind(list_records<OperatorKeysService>));
    router.add(Method::kPost, "/operator-keys", needed, idempotent(database, bind(add_key)));
    router.add(Method::kDelete, "/operator-keys/{id}", needed, bind(revoke_key));
}

} // namespace fathom::server
