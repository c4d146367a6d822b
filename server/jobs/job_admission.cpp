#include "server/jobs/job_admission.hpp"

#include "core/base/nearest_name.hpp"
#include "server/catalog/job_operators.hpp"
#include "server/routing/job_limits.hpp"

#include <algorithm>
#include <optional>

namespace fathom::server {
namespace {

constexpr std::string_view kDefaultProject = "default"; // JobSpec::project
constexpr std::size_t kMaxListedErrors = 100; ///< nobody reads more, and an answer must not be larger than its request

bool is_enough(const std::vector<FieldError>& errors)
{
    return errors.size() > kMaxListedErrors;
}

/// A thousand jobs that all fail alike need not all be listed.
Error error_of(Errc code, std::string detail, std::vector<FieldError> errors)
{
    if (is_enough(errors)) {
        errors.resize(kMaxListedErrors);
        errors.push_back({"", "there are more errors than are listed here"});
    }
    return Error{code, std::move(detail), std::move(errors)};
}

std::string prefix_of(std::size_t i, JobBatch batch)
{
    return batch == JobBatch::kMany ? "[" + std::to_string(i) + "]." : std::string();
}

/// Gathers why jobs of a batch are infeasible.
class Infeasible {
  public:
    explicit Infeasible(JobBatch batch) : batch_(batch) {}

    void add(std::size_t job, const Result<void>& checked)
    {
        if (checked) return;
        const Error error = checked.error();
        ++failed_;
        if (!error_) error_ = Error{error.code, error.detail};
        for (const FieldError& field : error.fields)
            error_->fields.push_back({prefix_of(job, batch_) + field.field, field.detail});
    }
    /// A thousand jobs that all fail alike need not all be listed.
    bool is_enough() const { return failed_ > 200 || (error_ && error_->fields.size() > 200); }
    Result<void> result() const
    {
        if (error_) return *error_;
        return {};
    }

  private:
    JobBatch batch_;
    std::size_t failed_{};
    std::optional<Error> error_;
};

/// @error kInfeasible  a project has used up a budget that refuses more.
Result<void> check_budgets(const std::vector<JobSpec>& specs, const CatalogSnapshot& catalog, JobBatch batch)
{
    if (catalog.spent_projects.empty()) return {};
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < specs.size() && !is_enough(errors); ++i) {
        const auto spent = catalog.spent_projects.find(specs[i].project);
        if (spent != catalog.spent_projects.end()) errors.push_back({prefix_of(i, batch) + "project", spent->second});
    }
    if (errors.empty()) return {};
    return error_of(Errc::kInfeasible, "the project's budget for this month is used up", std::move(errors));
}

} // namespace

Result<void> check_jobs(std::vector<JobSpec>& specs, const CatalogSnapshot& catalog, Timestamp now, JobBatch batch)
{
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < specs.size() && !is_enough(errors); ++i)
        complete_operators(specs[i], catalog, prefix_of(i, batch), errors);
    if (!errors.empty())
        return error_of(Errc::kInvalid, "the job does not fit the operator library", std::move(errors));
    for (std::size_t i = 0; i < specs.size() && !is_enough(errors); ++i)
        check_terms(specs[i], catalog, now, prefix_of(i, batch), errors);
    if (!errors.empty()) return error_of(Errc::kInvalid, "the job asks for what cannot be", std::move(errors));
    if (Result<void> affordable = check_budgets(specs, catalog, batch); !affordable) return affordable;
    Infeasible infeasible(batch);
    for (std::size_t i = 0; i < specs.size() && !infeasible.is_enough(); ++i)
        infeasible.add(i, check_feasible(specs[i], catalog));
    return infeasible.result();
}

Result<void> check_membership(const std::vector<JobSpec>& specs, const Principal& caller,
                              const CatalogSnapshot& catalog, JobBatch batch)
{
    if (catalog.project_members.empty() || has_permission(caller.role, Permission::kManageNetwork)) return {};
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < specs.size() && !is_enough(errors); ++i) {
        const std::string& project = specs[i].project;
        const auto members = catalog.project_members.find(project);
        if (members == catalog.project_members.end() || members->second.contains(caller.token_id.value)) continue;
        errors.push_back({prefix_of(i, batch) + "project",
                          "only submitters and leads of " + project + " may submit to it; one of its leads or an " +
                              "administrator adds you with `fathom project member add " + project + " " +
                              caller.token_id.value + "`"});
    }
    if (errors.empty()) return {};
    return error_of(Errc::kForbidden, "you are not a member of the project", std::move(errors));
}

Result<void> check_priorities(const std::vector<JobSpec>& specs, const Principal& caller, std::int64_t most,
                              JobBatch batch)
{
    if (has_permission(caller.role, Permission::kManageNetwork)) return {};
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < specs.size() && !is_enough(errors); ++i) {
        if (specs[i].priority <= most) continue;
        errors.push_back({prefix_of(i, batch) + "priority",
                          "must be at most " + std::to_string(most) + " here: only operators and admins give more, " +
                              "since it counts against the jobs of others; give your less urgent jobs less, or ask " +
                              "an operator to submit this one"});
    }
    if (errors.empty()) return {};
    return error_of(Errc::kForbidden, "the priority is higher than you may give", std::move(errors));
}

bool have_limits(const std::vector<AdmittedJob>& jobs, const CatalogSnapshot& catalog)
{
    return std::any_of(jobs.begin(), jobs.end(),
                       [&](const AdmittedJob& job) { return JobLimits::has_limit(job.spec, catalog); });
}

Result<void> check_limits(const std::vector<AdmittedJob>& jobs, const std::string& owner,
                          const CatalogSnapshot& catalog, Timestamp now, JobBatch batch)
{
    JobLimits limits(catalog, now);
    Infeasible infeasible(batch);
    for (std::size_t i = 0; i < jobs.size() && !infeasible.is_enough(); ++i)
        infeasible.add(i, limits.check(jobs[i].spec, {jobs[i].job_type, owner, !jobs[i].operators_from.empty()}));
    return infeasible.result();
}

std::set<std::string, std::less<>> projects_without_settings(const std::vector<JobSpec>& specs,
                                                             const CatalogSnapshot& catalog)
{
    std::set<std::string, std::less<>> projects;
    for (const JobSpec& spec : specs) {
        if (spec.project != kDefaultProject && !catalog.projects.contains(spec.project)) projects.insert(spec.project);
    }
    return projects;
}

Result<void> refuse_unknown_projects(const std::vector<JobSpec>& specs,
                                     const std::set<std::string, std::less<>>& unknown, const CatalogSnapshot& catalog,
                                     JobBatch batch)
{
    std::set<std::string, std::less<>> known{std::string(kDefaultProject)};
    for (const auto& [name, rules] : catalog.projects)
        known.insert(name);
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < specs.size() && !is_enough(errors); ++i) {
        const std::string& project = specs[i].project;
        if (unknown.contains(project))
            errors.push_back(
                {prefix_of(i, batch) + "project", "there is no project " + project + name_hint(project, known)});
    }
    if (errors.empty()) return {};
    return error_of(
        Errc::kInvalid,
        "jobs must be of a project that there is; an administrator makes one with 'fathom project set NAME'",
        std::move(errors));
}

} // namespace fathom::server
