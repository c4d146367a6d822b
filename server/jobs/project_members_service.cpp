#include "server/jobs/project_members_service.hpp"

#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

Error several_named(const std::string& who)
{
    return {Errc::kConflict, "several tokens are named " + who + ": say which one by its id"};
}

Result<ProjectMember> put_in(pqxx::work& transaction, const Caller& caller, const std::string& project,
                             const std::string& who, double reserve_unit_hours)
{
    const std::vector<std::string> tokens = find_usable_tokens(transaction, who);
    if (tokens.empty())
        return Error{Errc::kInvalid,
                     "a member is a token that works",
                     {{"token", "no token that works has the id or name " + who + "; create it first"}}};
    if (tokens.size() > 1) return several_named(who);
    lock_project_of_members(transaction, project, caller.actor);
    ProjectMember wanted;
    wanted.project = project;
    wanted.token_id = tokens.front();
    wanted.reserve_unit_hours = reserve_unit_hours;
    wanted.added_by = caller.actor;
    upsert_member(transaction, wanted);
    audit(transaction, caller.actor, "project_member.put", project, caller.request_id,
          {{"token_id", wanted.token_id}, {"reserve_unit_hours", reserve_unit_hours}});
    // Admission reads it from the catalog snapshot.
    notify(transaction, "catalog", "");
    return select_member(transaction, project, wanted.token_id).value();
}

Result<ProjectMember> remove_in(pqxx::work& transaction, const Caller& caller, const std::string& project,
                                const std::string& who, ProjectMembersService::LastMember last)
{
    std::vector<ProjectMember> found = find_members(transaction, project, who);
    if (found.empty()) return Error{Errc::kNotFound, "project " + project + " has no member " + who};
    if (found.size() > 1) return several_named(who);
    lock_project_of_members(transaction, project, caller.actor);
    const bool is_last = count_members(transaction, project) == 1;
    if (is_last && last == ProjectMembersService::LastMember::kStays)
        return Error{Errc::kConflict, "this is the last member: without members whoever may submit jobs may submit to "
                                      "the project. Add another first, or say that it shall be open (open=true)"};
    delete_member(transaction, project, found.front().token_id);
    audit(transaction, caller.actor, "project_member.remove", project, caller.request_id,
          {{"token_id", found.front().token_id}, {"is_open_now", is_last}});
    notify(transaction, "catalog", "");
    return std::move(found.front());
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

asio::awaitable<Result<ProjectMember>> ProjectMembersService::put(Caller caller, std::string project, std::string who,
                                                                  double reserve_unit_hours)
{
    auto work = [&](pqxx::work& transaction) { return put_in(transaction, caller, project, who, reserve_unit_hours); };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ProjectMember>> ProjectMembersService::remove(Caller caller, std::string project,
                                                                     std::string who, LastMember last)
{
    auto work = [&](pqxx::work& transaction) { return remove_in(transaction, caller, project, who, last); };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
