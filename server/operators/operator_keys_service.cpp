#include "server/operators/operator_keys_service.hpp"

#include "server/identity/audit.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {
namespace {

/// What this transaction has just written.
OperatorKeyRecord stored(pqxx::work& transaction, const std::string& id)
{
    std::optional<OperatorKeyRecord> key = select_operator_key(transaction, id);
    FATHOM_ASSERT(key.has_value());
    return std::move(*key);
}

Result<OperatorKeyRecord> add_key(pqxx::work& transaction, const Caller& caller, const OperatorKeyOrder& order)
{
    lock_operator_keys(transaction);
    const std::string id = key_id(order.key);
    if (const std::optional<OperatorKeyRecord> known = select_operator_key(transaction, id)) {
        return Error{Errc::kConflict, known->revoked_at ? "key " + id + " was revoked, for good; make a new key pair"
                                                        : "key " + id + " is trusted already, as " + known->name};
    }
    OperatorKeyRecord key;
    if (!order.center.empty()) {
        const std::optional<std::string> center = select_center_of_key(transaction, order.center);
        if (!center)
            return Error{
                Errc::kInvalid, "the operator key has 1 error", {{"center", "there is no center " + order.center}}};
        key.center_id = *center;
    }
    key.id = id;
    key.name = order.name;
    key.public_key_pem = order.public_key_pem;
    key.created_by = caller.actor;
    insert_operator_key(transaction, key);
    audit(transaction, caller.actor, "operator_key.add", id, caller.request_id,
          {{"name", order.name}, {"center", order.center}});
    return stored(transaction, id);
}

Result<OperatorKeyRecord> revoke_key(pqxx::work& transaction, const Caller& caller, const std::string& id)
{
    lock_operator_keys(transaction);
    std::optional<OperatorKeyRecord> key = select_operator_key(transaction, id);
    if (!key) return Error{Errc::kNotFound, "no such operator key"};
    if (key->revoked_at) return std::move(*key);
    update_to_revoked(transaction, id, caller.actor);
    audit(transaction, caller.actor, "operator_key.revoke", id, caller.request_id, {{"name", key->name}});
    return stored(transaction, id);
}

} // namespace

asio::awaitable<Result<OperatorKeyRecord>> OperatorKeysService::add(Caller caller, OperatorKeyOrder order)
{
    auto work = [&](pqxx::work& transaction) { return add_key(transaction, caller, order); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<OperatorKeyRecord>>> OperatorKeysService::list(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<OperatorKeyRecord>> {
        return select_operator_keys(transaction, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<OperatorKeyRecord>> OperatorKeysService::revoke(Caller caller, std::string id)
{
    auto work = [&](pqxx::work& transaction) { return revoke_key(transaction, caller, id); };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
