#include "server/projects/project_members_service.hpp"

#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

using By = ProjectMembersService::By;

/// Admission reads members from the catalog snapshot, authentication what callers see.
void tell_of_members(pqxx::work& transaction)
{
    notify(transaction, "catalog", "");
    notify(transaction, "identity", "");
}

Error several_named(const std::string& who)
{
    return {Errc::kConflict, "several tokens are named " + who + ": say which one by its id"};
}

Error not_for_leads(const std::string& what)
{
    return {Errc::kForbidden, "only who manages the network may " + what};
}

Error last_submitter()
{
    return {Errc::kConflict,
            "this is the last member who may submit: without one, whoever may submit jobs may submit to "
            "the project. Add another first, or remove it and say that the project shall be open "
            "(open=true)"};
}

/// Whether somebody may make a member what is wanted of what it is.
Result<void> check_right(By by, const std::optional<ProjectMember>& present,
                         const ProjectMembersService::Change& change)
{
    if (by == By::kNetwork) return {};
    if (change.role == ProjectRole::kLead) return not_for_leads("make somebody lead a project");
    if (present && present->role == ProjectRole::kLead) return not_for_leads("change what a lead of a project may do");
    if (change.reserve_unit_hours) return not_for_leads("say how much a member may reserve");
    return {};
}

double hours_of(By by, const std::optional<ProjectMember>& present, const ProjectMembersService::Change& change)
{
    if (change.reserve_unit_hours) return *change.reserve_unit_hours;
    const bool stays = by == By::kLead && present && change.role != ProjectRole::kViewer;
    return stays ? present->reserve_unit_hours : 0;
}

Result<ProjectMember> put_in(pqxx::work& transaction, const Caller& caller, By by, const std::string& project,
                             const std::string& who, const ProjectMembersService::Change& change)
{
    const std::vector<std::string> tokens = find_usable_tokens(transaction, who);
    if (tokens.empty())
        return Error{Errc::kInvalid,
                     "a member is a token that works",
                     {{"token", "no token that works has the id or name " + who + "; create it first"}}};
    if (tokens.size() > 1) return several_named(who);
    lock_project_of_members(transaction, project, caller.actor);
    const std::optional<ProjectMember> present = select_member(transaction, project, tokens.front());
    if (const Result<void> right = check_right(by, present, change); !right) return right.error();
    const bool stops_submitting =
        present && present->role != ProjectRole::kViewer && change.role == ProjectRole::kViewer;
    if (stops_submitting && count_submitters(transaction, project) == 1) return last_submitter();
    ProjectMember wanted;
    wanted.project = project;
    wanted.token_id = tokens.front();
    wanted.role = change.role;
    wanted.reserve_unit_hours = hours_of(by, present, change);
    wanted.added_by = caller.actor;
    upsert_member(transaction, wanted);
    audit(transaction, caller.actor, "project_member.put", project, caller.request_id,
          {{"token_id", wanted.token_id},
           {"role", to_string(wanted.role)},
           {"reserve_unit_hours", wanted.reserve_unit_hours}});
    tell_of_members(transaction);
    return select_member(transaction, project, wanted.token_id).value();
}

Result<ProjectMember> remove_in(pqxx::work& transaction, const Caller& caller, By by, const std::string& project,
                                const std::string& who, ProjectMembersService::LastMember last)
{
    std::vector<ProjectMember> found = find_members(transaction, project, who);
    if (found.empty()) return Error{Errc::kNotFound, "project " + project + " has no member " + who};
    if (found.size() > 1) return several_named(who);
    lock_project_of_members(transaction, project, caller.actor);
    const std::optional<ProjectMember> member = select_member(transaction, project, found.front().token_id);
    if (!member) return Error{Errc::kNotFound, "project " + project + " has no member " + who};
    if (by == By::kLead && member->role == ProjectRole::kLead) return not_for_leads("remove a lead of a project");
    const bool is_last = member->role != ProjectRole::kViewer && count_submitters(transaction, project) == 1;
    if (is_last && by == By::kLead) return not_for_leads("open a project to everybody");
    if (is_last && last == ProjectMembersService::LastMember::kStays) return last_submitter();
    delete_member(transaction, project, member->token_id);
    audit(transaction, caller.actor, "project_member.remove", project, caller.request_id,
          {{"token_id", member->token_id}, {"role", to_string(member->role)}, {"is_open_now", is_last}});
    tell_of_members(transaction);
    return *member;
}

} // namespace

asio::awaitable<Result<Page<ProjectMember>>> ProjectMembersService::list(std::string project, std::int64_t size,
                                                                         std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<ProjectMember>> {
        return select_members(transaction, project, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ProjectMember>> ProjectMembersService::put(Caller caller, By by, std::string project,
                                                                  std::string who, Change change)
{
    auto work = [&](pqxx::work& transaction) { return put_in(transaction, caller, by, project, who, change); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ProjectMember>> ProjectMembersService::remove(Caller caller, By by, std::string project,
                                                                     std::string who, LastMember last)
{
    auto work = [&](pqxx::work& transaction) { return remove_in(transaction, caller, by, project, who, last); };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
