#include "agent/executor/batch/batch_end.hpp"

#include "agent/executor/local/profile_report.hpp"
#include "agent/executor/local/staging_report.hpp"

namespace fathom::agent {
namespace {

std::int64_t size_in_bytes(const std::filesystem::path& file)
{
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(file, error);
    return error ? 0 : static_cast<std::int64_t>(bytes);
}

} // namespace

void complete_end(AttemptEnd& end, const EndedBatchJob& job, const JobUsage& usage, InputKeeper& keeper)
{
    end.attempt_id = job.id;
    end.stdout_bytes = size_in_bytes(job.folder.path / "stdout");
    end.stderr_bytes = size_in_bytes(job.folder.path / "stderr");
    add_usage(end, usage);
    const bool has_run = !job.limits.has_inputs || note_inputs(end, job.folder.work(), job.owner);
    if (has_run && job.limits.has_outputs) note_outputs(end, job.folder.work(), job.owner);
    if (end.staging) keeper.keep({job.id, job.folder.inputs(), job.folder.work(), job.owner, end.outputs});
    if (has_run && job.limits.profile && end.started_at) add_profile(end, job.folder.work());
}

} // namespace fathom::agent
