#include "server/probing/results/comparison_api.hpp"

#include "server/probing/results/comparison_store.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

Json report_json(const char* name, const std::string& id, RunReport report)
{
    Json runs = Json::array();
    for (const ProbeRunRecord& run : report.runs)
        runs.push_back(to_json(run));
    return {{name, id}, {"runs", std::move(runs)}, {"comparison", compare_results(std::move(report.results))}};
}

Answer get_order(Database* database, Call call)
{
    const std::string id = call.request.path_params["id"];
    auto work = [&](pqxx::work& transaction) -> Result<RunReport> {
        RunReport report = select_order_report(transaction, id);
        if (report.runs.empty()) return Error{Errc::kNotFound, "no such order of probe runs"};
        return report;
    };
    Result<RunReport> report = co_await database->run(std::move(work));
    if (!report) co_return net::problem(report.error(), call.request.request_id);
    co_return json_response(200, report_json("order_id", id, std::move(*report)));
}

Answer get_task_comparison(Database* database, Call call)
{
    const std::string id = call.request.path_params["id"];
    auto work = [&](pqxx::work& transaction) -> Result<RunReport> {
        if (!select_task(transaction, id)) return Error{Errc::kNotFound, "no such probe task"};
        return select_task_report(transaction, id);
    };
    Result<RunReport> report = co_await database->run(std::move(work));
    if (!report) co_return net::problem(report.error(), call.request.request_id);
    co_return json_response(200, report_json("probe_task_id", id, std::move(*report)));
}

} // namespace

void add_comparison_routes(ApiRouter& router, Database& database)
{
    const auto bind = [&database](auto handler) -> ApiHandler {
        return [handler, target = &database](Call call) { return handler(target, std::move(call)); };
    };
    router.add(net::Method::kGet, "/probe-orders/{id}", Permission::kReadNetwork, bind(get_order));
    router.add(net::Method::kGet, "/probe-tasks/{id}/comparison", Permission::kReadNetwork, bind(get_task_comparison));
}

} // namespace fathom::server
