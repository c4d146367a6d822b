#include "server/centers/resources_api.hpp"

#include "server/api/caller.hpp"
#include "server/api/etag.hpp"
#include "server/centers/centers_store.hpp"
#include "server/centers/resources_store.hpp"
#include "server/identity/audit.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

#include <functional>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

Error no_center_of_resources()
{
    return Error{Errc::kNotFound, "no such center"};
}

net::Response resources_response(const CenterResourcesRecord& record)
{
    net::Response response = json_response(200, to_json(record));
    response.headers["ETag"] = etag(record.order.version);
    return response;
}

Answer get_resources(Database* database, Call call)
{
    auto work = [&](pqxx::work& transaction) -> Result<CenterResourcesRecord> {
        std::optional<CenterResourcesRecord> record =
            select_center_resources(transaction, call.request.path_params.at("id"));
        if (!record) return no_center_of_resources();
        return std::move(*record);
    };
    const Result<CenterResourcesRecord> record = co_await database->run(std::move(work));
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    co_return resources_response(*record);
}

/// What is as it is to be already stays the version that it is. Empty: not the version that the change is based on.
Result<std::optional<CenterResourcesRecord>> change_resources(pqxx::work& transaction, const Call& call,
                                                              const std::vector<UnitCut>& unit_types)
{
    const std::optional<CenterRecord> center = lock_center(transaction, call.request.path_params.at("id"));
    if (!center) return no_center_of_resources();
    const CenterResourcesRecord before = select_center_resources(transaction, center->id.value).value();
    if (!if_match_allows(call.request, before.order.version)) return std::optional<CenterResourcesRecord>();
    const bool is_same = before.is_readable && before.order.unit_types == unit_types;
    if (is_same) return std::optional(before);
    const Caller caller = caller_of(call);
    put_center_resources(transaction, center->id, unit_types, caller.actor);
    std::optional<CenterResourcesRecord> after = select_center_resources(transaction, center->id.value);
    audit(transaction, caller.actor, "center.resources", center->id.value, caller.request_id,
          {{"center_name", center->name},
           {"from_version", before.order.version},
           {"to_version", after->order.version},
           {"unit_type_count", unit_types.size()}});
    notify(transaction, "center_resources", center->id.value);
    log_after_commit(LogLevel::kInfo, "center_resources_changed",
                     {{"center", center->name},
                      {"center_id", center->id.value},
                      {"version", after->order.version},
                      {"unit_types", unit_types.size()}});
    return after;
}

Answer put_resources(Database* database, Call call)
{
    const Result<Json> json = call.json();
    const Result<std::vector<UnitCut>> unit_types =
        json ? parse_resource_document(*json) : Result<std::vector<UnitCut>>(json.error());
    if (!unit_types) co_return net::problem(unit_types.error(), call.request.request_id);
    auto work = [&](pqxx::work& transaction) { return change_resources(transaction, call, *unit_types); };
    const Result<std::optional<CenterResourcesRecord>> changed = co_await database->run(std::move(work));
    if (!changed) co_return net::problem(changed.error(), call.request.request_id);
    if (!*changed) co_return precondition_failed(call.request);
    co_return resources_response(**changed);
}

} // namespace

void add_resources_routes(ApiRouter& router, Database& database)
{
    router.add(net::Method::kGet, "/centers/{id}/resources", Permission::kReadNetwork,
               [target = &database](Call call) { return get_resources(target, std::move(call)); });
    router.add(net::Method::kPut, "/centers/{id}/resources", Permission::kManageNetwork,
               [target = &database](Call call) { return put_resources(target, std::move(call)); });
}

} // namespace fathom::server
