#include "server/probing/orders/probing_api.hpp"

#include "core/model/job.hpp"
#include "server/api/etag.hpp"
#include "server/api/idempotency.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

using TaskOrder = ProbingService::TaskOrder;

void read_document(ObjectReader& reader, TaskOrder& order, std::vector<FieldError>& errors)
{
    const Json* document = reader.object("document");
    if (document == nullptr) return;
    const Result<ProbeTask> task = parse_probe_task(*document);
    if (task) {
        order.document = *task;
        return;
    }
    const Error error = task.error();
    for (const FieldError& field : error.fields)
        errors.push_back({"document." + field.field, field.detail});
}

Result<TaskOrder> parse_task_order(const Call& call)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    TaskOrder order;
    read_document(reader, order, errors);
    order.job_type = reader.optional_string("job_type", {.max_length = kMaxJobTypeBytes}).value_or("");
    order.from_job = reader.optional_string("from_job", {.min_length = 1, .max_length = 64}).value_or("");
    order.name = reader.optional_string("name", {.min_length = 1, .max_length = kMaxJobNameBytes}).value_or("");
    const auto form = reader.optional_string("form", {.one_of = {"one_task", "several_tasks"}});
    if (form == "several_tasks") order.form = TaskForm::kSeveralTasks;
    if (!reader.has("document") && order.from_job.empty()) reader.fail("document", "is required without from_job");
    if (reader.has("document") && (form || !order.name.empty()))
        reader.fail("document", "has its own name and form: leave out \"name\" and \"form\"");
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the probe task");
}

net::Response task_response(int status, const ProbeTaskRecord& task)
{
    net::Response response = json_response(status, to_json(task));
    response.headers["ETag"] = etag(task.version);
    return response;
}

Answer create_task(ProbingService* service, Call call)
{
    Result<TaskOrder> order = parse_task_order(call);
    if (!order) co_return net::problem(order.error(), call.request.request_id);
    const bool may_be_several = order->form == TaskForm::kSeveralTasks;
    const Result<std::vector<ProbeTaskRecord>> tasks =
        co_await service->create_tasks(caller_of(call), std::move(*order));
    if (!tasks) co_return net::problem(tasks.error(), call.request.request_id);
    if (may_be_several) {
        Json items = Json::array();
        for (const ProbeTaskRecord& task : *tasks)
            items.push_back(to_json(task));
        const Json body{{"items", std::move(items)}};
        co_return json_response(201, body);
    }
    net::Response response = task_response(201, tasks->front());
    response.headers["Location"] = "/api/v1/probe-tasks/" + tasks->front().id.value;
    co_return response;
}

Answer list_tasks(ProbingService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Query& query = call.request.query;
    TaskFilter filter{query_text(query, "state"), query_text(query, "job_type")};
    const Result<Page<ProbeTaskRecord>> tasks =
        co_await service->list_tasks(std::move(filter), page->size, page->after);
    if (!tasks) co_return net::problem(tasks.error(), call.request.request_id);
    co_return render_page(*tasks);
}

Answer get_task(ProbingService* service, Call call)
{
    const Result<ProbeTaskRecord> task = co_await service->get_task(call.request.path_params["id"]);
    if (!task) co_return net::problem(task.error(), call.request.request_id);
    co_return task_response(200, *task);
}

Answer move_task(ProbingService* service, ProbingService::TaskStep step, Call call)
{
    const net::Request& request = call.request;
    const ProbingService::VersionCheck check = [&request](std::int64_t version) {
        return if_match_allows(request, version);
    };
    const Result<ProbingService::StepAnswer> answer =
        co_await service->move_task(caller_of(call), call.request.path_params["id"], step, check);
    if (!answer) co_return net::problem(answer.error(), call.request.request_id);
    if (answer->is_stale) co_return precondition_failed(call.request);
    co_return task_response(step == ProbingService::TaskStep::kTest ? 202 : 200, answer->task);
}

Answer create_runs(ProbingService* service, Call call)
{
    const Result<Json> json = call.json();
    if (!json) co_return net::problem(json.error(), call.request.request_id);
    Result<RunOrder> order = parse_run_order(*json);
    if (!order) co_return net::problem(order.error(), call.request.request_id);
    const Result<ProbingService::CreatedRuns> created =
        co_await service->create_runs(caller_of(call), std::move(*order));
    if (!created) co_return net::problem(created.error(), call.request.request_id);
    Json items = Json::array();
    for (const ProbeRunRecord& run : created->runs)
        items.push_back(to_json(run));
    Json left_out = Json::array();
    for (const FieldError& place : created->left_out)
        left_out.push_back({{"place", place.field}, {"reason", place.detail}});
    const Json body{{"items", std::move(items)}, {"left_out", std::move(left_out)}};
    co_return json_response(201, body);
}

Answer list_runs(ProbingService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Query& query = call.request.query;
    RunFilter filter{query_text(query, "state"), query_text(query, "unit_type"), query_text(query, "probe_task"),
                     query_text(query, "order")};
    const Result<Page<ProbeRunRecord>> runs = co_await service->list_runs(std::move(filter), page->size, page->after);
    if (!runs) co_return net::problem(runs.error(), call.request.request_id);
    co_return render_page(*runs);
}

Answer get_run(ProbingService* service, Call call)
{
    const Result<ProbeRunRecord> run = co_await service->get_run(call.request.path_params["id"]);
    if (!run) co_return net::problem(run.error(), call.request.request_id);
    co_return json_response(200, to_json(*run));
}

} // namespace

void add_probing_routes(ApiRouter& router, ProbingService& service, Database& database)
{
    using net::Method;
    const auto bind = [&service](auto handler) -> ApiHandler {
        return [handler, target = &service](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kPost, "/probe-tasks", Permission::kManageMetering, idempotent(database, bind(create_task)),
               kLargeBodyBytes);
    router.add(Method::kGet, "/probe-tasks", Permission::kReadNetwork, bind(list_tasks));
    router.add(Method::kGet, "/probe-tasks/{id}", Permission::kReadNetwork, bind(get_task));
    const auto bind_step = [&service](ProbingService::TaskStep step) -> ApiHandler {
        return [step, target = &service](Call call) { return move_task(target, step, std::move(call)); };
    };
    using Step = ProbingService::TaskStep;
    router.add(Method::kPost, "/probe-tasks/{id}:test", Permission::kManageMetering,
               idempotent(database, bind_step(Step::kTest)));
    router.add(Method::kPost, "/probe-tasks/{id}:release", Permission::kManageMetering,
               idempotent(database, bind_step(Step::kRelease)));
    router.add(Method::kPost, "/probe-tasks/{id}:retire", Permission::kManageMetering,
               idempotent(database, bind_step(Step::kRetire)));
    router.add_unlined(Method::kPost, "/probe-runs", Permission::kManageMetering,
                       idempotent(database, bind(create_runs)), kLargeBodyBytes);
    router.add(Method::kGet, "/probe-runs", Permission::kReadNetwork, bind(list_runs));
    router.add(Method::kGet, "/probe-runs/{id}", Permission::kReadNetwork, bind(get_run));
}

} // namespace fathom::server
