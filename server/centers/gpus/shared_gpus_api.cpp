#include "server/centers/gpus/shared_gpus_api.hpp"

#include "server/api/caller.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"
#include "server/centers/gpus/job_gpus_store.hpp"
#include "server/centers/gpus/shared_gpus_store.hpp"

namespace fathom::server {
namespace {

asio::awaitable<net::Response> list_shared_gpus(Database* database, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const SharedGpuFilter filter{.center = query_text(call.request.query, "center"),
                                 .job = query_text(call.request.query, "job"),
                                 .scope = job_scope_of(call.principal)};
    auto work = [&](pqxx::work& transaction) -> Result<Page<SharedGpuRecord>> {
        return select_shared_gpus(transaction, filter, page->size, page->after);
    };
    const Result<Page<SharedGpuRecord>> gpus = co_await database->run(std::move(work));
    if (!gpus) co_return net::problem(gpus.error(), call.request.request_id);
    co_return render_page(*gpus);
}

asio::awaitable<net::Response> list_job_gpus(Database* database, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const std::string id = call.request.path_params["id"];
    const JobScope scope = job_scope_of(call.principal);
    auto work = [&](pqxx::work& transaction) -> Result<Page<JobGpuRecord>> {
        const std::optional<LookedAtJob> job = select_job_with_gpus(transaction, id, scope);
        if (!job) return Error{Errc::kNotFound, "there is no such job"};
        record_job_look(transaction, reader_of(call), "job.read_gpus", *job);
        return select_job_gpus(transaction, id, scope, page->size, page->after);
    };
    const Result<Page<JobGpuRecord>> gpus = co_await database->run(std::move(work));
    if (!gpus) co_return net::problem(gpus.error(), call.request.request_id);
    co_return render_page(*gpus);
}

} // namespace

void add_shared_gpus_routes(ApiRouter& router, Database& database)
{
    router.add(net::Method::kGet, "/shared-gpus", Permission::kReadNetwork,
               [target = &database](Call call) { return list_shared_gpus(target, std::move(call)); });
    router.add(net::Method::kGet, "/jobs/{id}/gpus", Permission::kReadJobs,
               [target = &database](Call call) { return list_job_gpus(target, std::move(call)); });
}

} // namespace fathom::server
