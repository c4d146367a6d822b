#include "server/jobs/job_types_api.hpp"

#include "server/api/caller.hpp"
#include "server/api/render_page.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr std::size_t kLongestProject = 128;

Answer job_operators(JobTypesService* types, Call call)
{
    const Result<Json> operators = co_await types->job_operators(call.request.path_params["id"], call.principal);
    if (!operators) co_return net::problem(operators.error(), call.request.request_id);
    co_return json_response(200, *operators);
}

Answer list_job_types(JobTypesService* types, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request, {});
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<JobTypeRecord>> found = co_await types->list(page->size, page->after);
    if (!found) co_return net::problem(found.error(), call.request.request_id);
    co_return render_page(*found);
}

Answer get_job_type(JobTypesService* types, Call call)
{
    const Result<JobTypeRecord> type = co_await types->get(call.request.path_params["name"]);
    if (!type) co_return net::problem(type.error(), call.request.request_id);
    co_return json_response(200, to_json(*type));
}

net::Response project_response(const ProjectRecord& project)
{
    net::Response response = json_response(200, to_json(project));
    response.headers["ETag"] = etag(project.version);
    return response;
}

Answer list_projects(ProjectsService* projects, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request, {});
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<ProjectRecord>> found = co_await projects->list(page->size, page->after);
    if (!found) co_return net::problem(found.error(), call.request.request_id);
    co_return render_page(*found);
}

Answer get_project(ProjectsService* projects, Call call)
{
    const Result<ProjectRecord> project = co_await projects->get(call.request.path_params["name"]);
    if (!project) co_return net::problem(project.error(), call.request.request_id);
    co_return project_response(*project);
}

Result<ProjectRecord> parse_project(const Call& call, const std::string& name)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    ProjectRecord project;
    project.name = name;
    const std::optional<bool> profile_jobs = reader.optional_boolean("profile_jobs");
    if (!profile_jobs && errors.empty()) reader.fail("profile_jobs", "is required");
    project.profile_jobs = profile_jobs.value_or(false);
    reader.finish(UnknownFields::kReject);
    if (name.empty() || name.size() > kLongestProject) errors.push_back({"name", "of a project has 1 to 128 bytes"});
    return value_or_errors(std::move(project), std::move(errors), "the project");
}

Answer put_project(ProjectsService* projects, Call call)
{
    Result<ProjectRecord> project = parse_project(call, call.request.path_params["name"]);
    if (!project) co_return net::problem(project.error(), call.request.request_id);
    const net::Request& request = call.request;
    const ProjectsService::VersionCheck check = [&request](std::int64_t version) {
        return if_match_allows(request, version);
    };
    const Result<std::optional<ProjectRecord>> changed =
        co_await projects->put(caller_of(call), std::move(*project), check);
    if (!changed) co_return net::problem(changed.error(), call.request.request_id);
    if (!*changed) co_return precondition_failed(call.request);
    co_return project_response(**changed);
}

} // namespace

void add_job_types_routes(ApiRouter& router, JobTypesService& types, ProjectsService& projects)
{
    using net::Method;
    router.add(Method::kGet, "/jobs/{id}/operators", Permission::kReadJobs,
               [&types](Call call) { return job_operators(&types, std::move(call)); });
    router.add(Method::kGet, "/job-types", Permission::kReadNetwork,
               [&types](Call call) { return list_job_types(&types, std::move(call)); });
    router.add(Method::kGet, "/job-types/{name}", Permission::kReadNetwork,
               [&types](Call call) { return get_job_type(&types, std::move(call)); });
    router.add(Method::kGet, "/projects", Permission::kReadNetwork,
               [&projects](Call call) { return list_projects(&projects, std::move(call)); });
    router.add(Method::kGet, "/projects/{name}", Permission::kReadNetwork,
               [&projects](Call call) { return get_project(&projects, std::move(call)); });
    router.add(Method::kPut, "/projects/{name}", Permission::kManageMetering,
               [&projects](Call call) { return put_project(&projects, std::move(call)); });
}

} // namespace fathom::server
