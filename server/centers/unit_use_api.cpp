#include "server/centers/unit_use_api.hpp"

#include "server/api/query.hpp"
#include "server/centers/unit_use_store.hpp"

namespace fathom::server {
namespace {

constexpr std::int64_t kUsuallyNamed = 12;

asio::awaitable<net::Response> get_unit_use(Database* database, Call call)
{
    const std::int64_t most = query_integer(call.request.query, "fullest").value_or(kUsuallyNamed);
    auto work = [&](pqxx::work& transaction) -> Result<UnitUse> { return select_unit_use(transaction, most); };
    const Result<UnitUse> use = co_await database->run(std::move(work));
    if (!use) co_return net::problem(use.error(), call.request.request_id);
    co_return json_response(200, to_json(*use));
}

} // namespace

void add_unit_use_routes(ApiRouter& router, Database& database)
{
    router.add(net::Method::kGet, "/unit-use", Permission::kReadNetwork,
               [target = &database](Call call) { return get_unit_use(target, std::move(call)); });
}

} // namespace fathom::server
