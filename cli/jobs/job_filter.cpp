#include "cli/jobs/job_filter.hpp"

namespace fathom::cli {

void add_job_filter_options(CLI::App& verb, JobFilterOptions& options)
{
    verb.add_option("--label", options.label, "job (the default), probe, or all")
        ->check(CLI::IsMember({"job", "probe", "all"}));
    verb.add_option("--state", options.state, "Only in this state")
        ->check(CLI::IsMember(
            {"queued", "metering", "placed", "dispatched", "running", "succeeded", "failed", "cancelled", "lost"}));
    verb.add_option("--project", options.project, "Only of this project");
    verb.add_option("--name", options.name, "Only those whose name begins so");
    verb.add_option("--type", options.type, "Only of this job type");
    verb.add_option("--center", options.center, "Only those whose newest attempt is at this center (name or id)");
    verb.add_option("--unit-type", options.unit_type,
                    "Only those whose newest attempt is at this unit type (id, or center/unit type)");
    verb.add_option("--submitted-by", options.submitted_by, "Only those submitted with this token (its id)");
    verb.add_option("--submitted-after", options.submitted_after,
                    "Only those submitted then or later, such as 2026-11-01T00:00:00Z");
    verb.add_option("--submitted-before", options.submitted_before, "Only those submitted before");
}

Query job_filter_query(const JobFilterOptions& options)
{
    return {{"label", options.label},
            {"state", options.state},
            {"project", options.project},
            {"center", options.center},
            {"unit_type", options.unit_type},
            {"type", options.type},
            {"submitted_by", options.submitted_by},
            {"submitted_after", options.submitted_after},
            {"submitted_before", options.submitted_before},
            {"name", options.name}};
}

} // namespace fathom::cli
