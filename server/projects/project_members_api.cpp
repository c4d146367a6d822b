#include "server/projects/project_members_api.hpp"

#include "core/model/name_limits.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"
#include "server/projects/projects_store.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr double kMaxUnitHours = 1e12;

Answer list_members(ProjectMembersService* members, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<ProjectMember>> found =
        co_await members->list(call.request.path_params["name"], page->size, page->after);
    if (!found) co_return net::problem(found.error(), call.request.request_id);
    co_return render_page(*found);
}

ProjectMembersService::By by_of(const Call& call)
{
    const bool manages = has_permission(call.principal.role, Permission::kManageNetwork);
    return manages ? ProjectMembersService::By::kNetwork : ProjectMembersService::By::kLead;
}

Result<ProjectMembersService::Change> parse_member(const Call& call, const std::string& project)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    ProjectMembersService::Change change;
    if (const std::optional<std::string> role = reader.optional_string("role", {.one_of = project_role_names()}))
        change.role = parse_project_role(*role).value_or(change.role);
    change.reserve_unit_hours = reader.optional_number("reserve_unit_hours", 0, kMaxUnitHours);
    if (change.role == ProjectRole::kViewer && change.reserve_unit_hours.value_or(0) > 0)
        reader.fail("reserve_unit_hours", "of a viewer is 0: it submits nothing");
    reader.finish(UnknownFields::kReject);
    if (project.empty() || project.size() > kMaxProjectNameBytes)
        errors.push_back({"name", "of a project has 1 to 128 bytes"});
    return value_or_errors(std::move(change), std::move(errors), "the member");
}

Answer put_member(ProjectMembersService* members, Call call)
{
    const std::string project = call.request.path_params["name"];
    Result<ProjectMembersService::Change> change = parse_member(call, project);
    if (!change) co_return net::problem(change.error(), call.request.request_id);
    const Result<ProjectMember> member = co_await members->put(caller_of(call), by_of(call), project,
                                                               call.request.path_params["token"], std::move(*change));
    if (!member) co_return net::problem(member.error(), call.request.request_id);
    co_return json_response(200, to_json(*member));
}

Answer remove_member(ProjectMembersService* members, Call call)
{
    using LastMember = ProjectMembersService::LastMember;
    const bool may_open = query_flag(call.request.query, "open").value_or(false);
    const Result<ProjectMember> removed = co_await members->remove(
        caller_of(call), by_of(call), call.request.path_params["name"], call.request.path_params["token"],
        may_open ? LastMember::kOpensProject : LastMember::kStays);
    if (!removed) co_return net::problem(removed.error(), call.request.request_id);
    co_return json_response(200, to_json(*removed));
}

} // namespace

void add_project_members_routes(ApiRouter& router, ProjectMembersService& members)
{
    using net::Method;
    const auto bind = [&members](auto handler) -> ApiHandler {
        return [handler, target = &members](Call call) { return handler(target, std::move(call)); };
    };
    router.add_for_leads(Method::kGet, "/projects/{name}/members", Permission::kReadAllJobs, "name",
                         bind(list_members));
    router.add_for_leads(Method::kPut, "/projects/{name}/members/{token}", Permission::kManageNetwork, "name",
                         bind(put_member));
    router.add_for_leads(Method::kDelete, "/projects/{name}/members/{token}", Permission::kManageNetwork, "name",
                         bind(remove_member));
}

} // namespace fathom::server
