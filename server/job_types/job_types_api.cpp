#include "server/job_types/job_types_api.hpp"

#include "server/api/caller.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

Answer job_operators(JobTypesService* types, Call call)
{
    const Result<Json> operators = co_await types->job_operators(call.request.path_params["id"], reader_of(call));
    if (!operators) co_return net::problem(operators.error(), call.request.request_id);
    co_return json_response(200, *operators);
}

Answer list_job_types(JobTypesService* types, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<JobTypeRecord>> found = co_await types->list(page->size, page->after, call.principal);
    if (!found) co_return net::problem(found.error(), call.request.request_id);
    co_return render_page(*found);
}

Answer get_job_type(JobTypesService* types, Call call)
{
    const Result<JobTypeRecord> type = co_await types->get(call.request.path_params["name"], call.principal);
    if (!type) co_return net::problem(type.error(), call.request.request_id);
    co_return json_response(200, to_json(*type));
}

} // namespace

void add_job_types_routes(ApiRouter& router, JobTypesService& types)
{
    using net::Method;
    router.add(Method::kGet, "/jobs/{id}/operators", Permission::kReadJobs,
               [&types](Call call) { return job_operators(&types, std::move(call)); });
    router.add(Method::kGet, "/job-types", Permission::kReadNetwork,
               [&types](Call call) { return list_job_types(&types, std::move(call)); });
    router.add(Method::kGet, "/job-types/{name}", Permission::kReadNetwork,
               [&types](Call call) { return get_job_type(&types, std::move(call)); });
}

} // namespace fathom::server
