#include "server/billing/billing_api.hpp"

#include "server/api/caller.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"
#include "server/billing/bill_statement.hpp"
#include "server/billing/billing_parameters.hpp"
#include "server/billing/export_slots.hpp"
#include "server/billing/job_cost.hpp"
#include "server/identity/job_scope.hpp"
#include "server/store/database_now.hpp"

#include <pqxx/pqxx>

#include <memory>
#include <utility>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr const char* kRetryExportAfter_s = "10";

/// What all handlers need.
struct BillingRoom {
    LedgerService* ledger;
    Database* database;
    ComputePool* compute;
    const CatalogCache* catalog;
    std::string network;
    std::shared_ptr<ExportSlots> exports; ///< under way, until their last byte is sent
};
using Room = std::shared_ptr<const BillingRoom>;

Answer list_usage(Room room, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<UsageFilter> filter = parse_usage_filter(call.request.query);
    if (!filter) co_return net::problem(filter.error(), call.request.request_id);
    auto work = [&](pqxx::work& transaction) -> Result<Page<UsageRecord>> {
        return select_usage_page(transaction, *filter, page->size, page->after);
    };
    const Result<Page<UsageRecord>> usage = co_await room->database->run(std::move(work));
    if (!usage) co_return net::problem(usage.error(), call.request.request_id);
    co_return render_page(*usage);
}

/// Thousandths of the points of one unit as the catalog has them.
std::int64_t score_of(const CatalogSnapshot& catalog, const std::string& unit_type_id)
{
    for (const UnitTypeView& view : catalog.unit_types)
        if (view.id.value == unit_type_id) return to_score_milli(view.score);
    return to_score_milli(kAssumedScore);
}

Answer get_job_cost(Room room, Call call)
{
    auto work = [&](pqxx::work& transaction) -> Result<Json> {
        const std::optional<JobCost> cost = select_job_cost(transaction, call.request.path_params["id"]);
        if (!cost || !job_scope_of(call.principal).includes(cost->submitted_by, cost->project))
            return Error{Errc::kNotFound, "there is no such job"};
        record_job_look(
            transaction, reader_of(call), "job.read_cost",
            {call.request.path_params["id"], cost->is_probe ? "probe" : "job", cost->submitted_by, cost->project});
        if (!cost->running_since) return to_json(*cost, {});
        const std::int64_t score_milli = score_of(*room->catalog->get(), cost->unit_type_id);
        return to_json(*cost, running_cost(*cost, score_milli, *room->ledger->books().get(transaction),
                                           database_now(transaction)));
    };
    const Result<Json> cost = co_await room->database->run(std::move(work));
    if (!cost) co_return net::problem(cost.error(), call.request.request_id);
    co_return json_response(200, *cost);
}

Answer get_evidence(Room room, Call call)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::string> {
        std::string document = select_score_evidence(transaction, call.request.path_params["id"]);
        if (document.empty()) return Error{Errc::kNotFound, "there is no such evidence"};
        return document;
    };
    Result<std::string> document = co_await room->database->run(std::move(work));
    if (!document) co_return net::problem(document.error(), call.request.request_id);
    co_return net::json_response(200, std::move(*document));
}

Answer get_statement(Room room, Call call)
{
    const net::Request& request = call.request;
    const std::string project = parameter(request.query, "project");
    const std::string center = parameter(request.query, "center");
    const std::string format = parameter(request.query, "format");
    const Result<std::string> period = period_parameter(request.query);
    Error error;
    if (project.empty() == center.empty())
        error = parameter_error("project", "is required, or center is; not both");
    else if (!period)
        error = period.error();
    if (!error.detail.empty()) co_return net::problem(error, request.request_id);
    const auto of = center.empty() ? BillStatement::Of::kProject : BillStatement::Of::kCenter;
    const std::string& name = center.empty() ? project : center;
    auto work = [&](pqxx::work& transaction) -> Result<BillStatement> {
        return select_statement(transaction, of, name, *period);
    };
    const Result<BillStatement> statement = co_await room->database->run(std::move(work));
    if (!statement) co_return net::problem(statement.error(), request.request_id);
    if (format.empty() || format == "json") co_return json_response(200, to_json(*statement));
    net::Response response;
    response.headers["Content-Type"] = format == "csv" ? "text/csv; charset=utf-8" : "text/html; charset=utf-8";
    response.body = format == "csv" ? statement_csv(*statement) : statement_html(*statement);
    co_return response;
}

Answer list_periods(Room room, Call call)
{
    const Result<std::vector<BillingPeriod>> periods = co_await room->ledger->periods();
    if (!periods) co_return net::problem(periods.error(), call.request.request_id);
    Json items = Json::array();
    for (const BillingPeriod& period : *periods)
        items.push_back(to_json(period));
    co_return page_response(std::move(items), "");
}

Answer close_period(Room room, Call call)
{
    const Result<BillingPeriod> closed =
        co_await room->ledger->close(caller_of(call), call.request.path_params["period"]);
    if (!closed) co_return net::problem(closed.error(), call.request.request_id);
    co_return json_response(200, to_json(*closed));
}

Answer verify_ledger(Room room, Call call)
{
    const Result<LedgerCheck> check = co_await room->ledger->verify(call.principal.token_id.value);
    if (!check) co_return net::problem(check.error(), call.request.request_id);
    co_return json_response(200, to_json(*check));
}

net::Response refuse_export(const Error& error, const Call& call)
{
    net::Response response = net::problem(error, call.request.request_id);
    response.headers["Retry-After"] = kRetryExportAfter_s;
    return response;
}

ExportReader export_reader_of(const Call& call)
{
    const bool reads_all = has_permission(call.principal.role, Permission::kReadBilling);
    return {call.principal.token_id.value, reads_all ? std::string() : parameter(call.request.query, "project")};
}

Answer export_charges(Room room, Call call)
{
    Result<ExportRequest> wanted = parse_export(call.request.path_params["format"], call.request.query);
    if (!wanted) co_return net::problem(wanted.error(), call.request.request_id);
    // Another's export may end for this one: not for a request that gets none. HEAD never does.
    std::shared_ptr<ExportSlot> place;
    if (call.request.method != net::Method::kHead) {
        Result<std::shared_ptr<ExportSlot>> taken = room->exports->take(export_reader_of(call));
        if (!taken) co_return refuse_export(taken.error(), call);
        place = std::move(*taken);
    }
    wanted->focus.network = room->network;
    Result<ExportRequest> settled = co_await settle_export(*room->database, std::move(*wanted));
    if (!settled) co_return net::problem(settled.error(), call.request.request_id);
    net::Response response;
    response.headers["Content-Type"] = content_type_of(settled->format);
    // With it the same export can be made again, to the byte.
    response.headers["X-Fathom-Last-Entry"] = std::to_string(settled->charges.last_seq);
    settled->turns = call.turns;
    auto stream = [room, request = std::move(*settled)](std::shared_ptr<net::BodyWriter> writer) {
        return stream_export(*room->database, *room->compute, request, std::move(writer));
    };
    // The answer to HEAD has the headers of a stream, which is never begun.
    if (place)
        response.stream = pace_stream(std::move(stream), std::move(place));
    else
        response.stream = std::move(stream);
    co_return response;
}

} // namespace

void add_billing_routes(ApiRouter& router, LedgerService& ledger, Database& database, ComputePool& compute,
                        const CatalogCache& catalog, Metrics& metrics, const std::string& network)
{
    using net::Method;
    const auto exports = std::make_shared<ExportSlots>(ExportLimits(), metrics);
    const Room room =
        std::make_shared<const BillingRoom>(BillingRoom{&ledger, &database, &compute, &catalog, network, exports});
    const auto bind = [room](auto handler) -> ApiHandler {
        return [handler, room](Call call) { return handler(room, std::move(call)); };
    };
    router.add(Method::kGet, "/jobs/{id}/cost", Permission::kReadJobs, bind(get_job_cost));
    router.add_for_leads(Method::kGet, "/usage", Permission::kReadBilling, "project", bind(list_usage));
    router.add(Method::kGet, "/score-evidence/{id}", Permission::kReadNetwork, bind(get_evidence));
    router.add_for_leads(Method::kGet, "/statements", Permission::kReadBilling, "project", bind(get_statement));
    router.add(Method::kGet, "/billing-periods", Permission::kReadBilling, bind(list_periods));
    router.add(Method::kPost, "/billing-periods/{period}/close", Permission::kManageBilling, bind(close_period));
    router.add(Method::kGet, "/ledger:verify", Permission::kReadBilling, bind(verify_ledger));
    router.add_for_leads(Method::kGet, "/exports/{format}", Permission::kReadBilling, "project", bind(export_charges));
}

} // namespace fathom::server
