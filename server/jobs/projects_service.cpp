#include "server/jobs/projects_service.hpp"

#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {

asio::awaitable<Result<Page<ProjectRecord>>> ProjectsService::list(std::int64_t size, std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<ProjectRecord>> {
        return select_projects(transaction, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<ProjectRecord>> ProjectsService::get(std::string name)
{
    auto work = [&](pqxx::work& transaction) -> Result<ProjectRecord> {
        std::optional<ProjectRecord> project = select_project(transaction, name);
        if (!project) return Error{Errc::kNotFound, "this project has no settings of its own"};
        return std::move(*project);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<std::optional<ProjectRecord>>> ProjectsService::put(Caller caller, ProjectRecord project,
                                                                           VersionCheck check)
{
    project.changed_by = caller.actor;
    auto work = [&](pqxx::work& transaction) -> Result<std::optional<ProjectRecord>> {
        const std::optional<ProjectRecord> known = lock_project(transaction, project.name);
        if (!check(known ? known->version : 0)) return std::optional<ProjectRecord>();
        const ProjectRecord changed = upsert_project(transaction, project);
        audit(transaction, caller.actor, "project.change", changed.name, caller.request_id,
              {{"profile_jobs", changed.profile_jobs}});
        // Admission reads it from the catalog snapshot.
        notify(transaction, "catalog", "");
        return std::optional(changed);
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
