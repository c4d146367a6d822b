#include "server/projects/projects_service.hpp"

#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxNamed = 20;

std::string named(const std::vector<std::string>& names)
{
    if (names.empty()) return "none is enrolled";
    std::string text = "there are ";
    for (std::size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i)
        text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > kMaxNamed) text += " and " + std::to_string(names.size() - kMaxNamed) + " more";
    return text;
}

Result<void> check_centers(pqxx::work& transaction, const std::vector<std::string>& centers)
{
    if (centers.empty()) return {};
    const std::vector<std::string> known = select_center_names(transaction);
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < centers.size(); ++i) {
        if (!std::binary_search(known.begin(), known.end(), centers[i]))
            errors.push_back(
                {"centers[" + std::to_string(i) + "]", "no center is named " + centers[i] + "; " + named(known)});
    }
    if (errors.empty()) return {};
    return Error{Errc::kInvalid, "the project names centers that there are not", std::move(errors)};
}

ProjectRecord changed_record(ProjectRecord record, const ProjectChange& change)
{
    record.profile_jobs = change.profile_jobs.value_or(record.profile_jobs);
    record.share = change.share.value_or(record.share);
    record.max_units = change.max_units.value_or(record.max_units);
    record.max_score_hours = change.max_score_hours.value_or(record.max_score_hours);
    record.max_cost_micros = change.max_cost_micros.value_or(record.max_cost_micros);
    if (change.centers) record.centers = *change.centers;
    return record;
}

/// For the audit log: the settings, without what the log says anyway.
Json audited(const ProjectRecord& project)
{
    Json detail = to_json(project);
    for (const char* name : {"name", "changed_at", "changed_by"})
        detail.erase(name);
    return detail;
}

} // namespace

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

asio::awaitable<Result<std::optional<ProjectRecord>>> ProjectsService::change(Caller caller, std::string name,
                                                                              ProjectChange change, VersionCheck check)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::optional<ProjectRecord>> {
        const std::optional<ProjectRecord> known = lock_project(transaction, name);
        if (!check(known ? known->version : 0)) return std::optional<ProjectRecord>();
        if (change.centers) {
            const Result<void> checked = check_centers(transaction, *change.centers);
            if (!checked) return checked.error();
        }
        ProjectRecord wanted = changed_record(known.value_or(ProjectRecord()), change);
        wanted.name = name;
        wanted.changed_by = caller.actor;
        const ProjectRecord changed = upsert_project(transaction, wanted);
        audit(transaction, caller.actor, "project.change", changed.name, caller.request_id, audited(changed));
        // Admission and the router read it from the catalog snapshot.
        notify(transaction, "catalog", "");
        return std::optional(changed);
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
