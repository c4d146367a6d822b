#include "server/projects/projects_api.hpp"

#include "core/model/money.hpp"
#include "core/model/name_limits.hpp"
#include "server/api/etag.hpp"
#include "server/api/record_routes.hpp"

#include <set>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr std::size_t kMaxCenters = 1000;
constexpr double kMinShare = 1e-6;
constexpr double kMaxShare = 1e6;
constexpr std::int64_t kMaxUnits = 1'000'000'000;
constexpr double kMaxScoreHours = 1e15;

Answer get_project(ProjectsService* projects, Call call)
{
    const Result<ProjectRecord> project = co_await projects->get(call.request.path_params["name"]);
    if (!project) co_return net::problem(project.error(), call.request.request_id);
    co_return record_response(200, *project);
}

std::vector<std::string> read_centers(ObjectReader& reader)
{
    std::vector<std::string> centers =
        reader.strings("centers", kMaxCenters, {.min_length = 1, .max_length = kMaxCenterNameBytes});
    if (std::set<std::string>(centers.begin(), centers.end()).size() < centers.size())
        reader.fail("centers", "names a center twice");
    return centers;
}

Result<ProjectChange> parse_change(const Call& call, const std::string& name)
{
    const Result<Json> json = call.json();
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    ProjectChange change;
    change.profile_jobs = reader.optional_boolean("profile_jobs");
    change.share = reader.optional_number("share", kMinShare, kMaxShare);
    // Clients of the version before know them as the most that there may be.
    const std::string_view units = reader.name_or_former("max_units", "most_units");
    const std::string_view score_hours = reader.name_or_former("max_score_hours", "most_score_hours");
    const std::string_view cost = reader.name_or_former("max_cost", "most_cost");
    change.max_units = reader.optional_integer(units, 0, kMaxUnits);
    change.max_score_hours = reader.optional_number(score_hours, 0, kMaxScoreHours);
    if (reader.has(cost)) change.max_cost_micros = read_price(reader, cost);
    if (reader.has("centers")) change.centers = read_centers(reader);
    reader.finish(UnknownFields::kReject);
    if (errors.empty() && !change.profile_jobs && !change.is_about_the_network())
        errors.push_back({"", "names no setting to change"});
    if (name.empty() || name.size() > kMaxProjectNameBytes)
        errors.push_back({"name", "of a project has 1 to 128 bytes"});
    return value_or_errors(std::move(change), std::move(errors), "the project");
}

Answer put_project(ProjectsService* projects, Call call)
{
    const std::string name = call.request.path_params["name"];
    Result<ProjectChange> change = parse_change(call, name);
    if (!change) co_return net::problem(change.error(), call.request.request_id);
    if (change->is_about_the_network() && !has_permission(call.principal.role, Permission::kManageNetwork)) {
        const Error refused{Errc::kForbidden, "only an admin may change what a project may take of the network"};
        co_return net::problem(refused, call.request.request_id);
    }
    const net::Request& request = call.request;
    const ProjectsService::VersionCheck check = [&request](std::int64_t version) {
        return if_match_allows(request, version);
    };
    const Result<std::optional<ProjectRecord>> changed =
        co_await projects->change(caller_of(call), name, std::move(*change), check);
    if (!changed) co_return net::problem(changed.error(), call.request.request_id);
    if (!*changed) co_return precondition_failed(call.request);
    co_return record_response(200, **changed);
}

} // namespace

void add_projects_routes(ApiRouter& router, ProjectsService& projects)
{
    using net::Method;
    router.add(Method::kGet, "/projects", Permission::kReadNetwork,
               [&projects](Call call) { return list_records(&projects, std::move(call)); });
    router.add(Method::kGet, "/projects/{name}", Permission::kReadNetwork,
               [&projects](Call call) { return get_project(&projects, std::move(call)); });
    router.add(
        Method::kPut, "/projects/{name}", Permission::kManageMetering,
        [&projects](Call call) { return put_project(&projects, std::move(call)); }, kLargeBodyBytes);
}

} // namespace fathom::server
