#include "server/centers/diversity_api.hpp"

#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"
#include "server/centers/diversity_store.hpp"

namespace fathom::server {
namespace {

asio::awaitable<net::Response> list_diversity(Database* database, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const std::string operator_id = query_text(call.request.query, "operator");
    const bool lists_unit_types = query_flag(call.request.query, "unit_types").value_or(true);
    const UnitTypesListed listed = lists_unit_types ? UnitTypesListed::kYes : UnitTypesListed::kNo;
    auto work = [&](pqxx::work& transaction) -> Result<Page<OperatorDiversity>> {
        return select_diversity_page(transaction, operator_id, listed, page->size, page->after);
    };
    const Result<Page<OperatorDiversity>> operators = co_await database->run(std::move(work));
    if (!operators) co_return net::problem(operators.error(), call.request.request_id);
    co_return render_page(*operators);
}

} // namespace

void add_diversity_routes(ApiRouter& router, Database& database)
{
    router.add(net::Method::kGet, "/diversity", Permission::kReadNetwork,
               [target = &database](Call call) { return list_diversity(target, std::move(call)); });
}

} // namespace fathom::server
