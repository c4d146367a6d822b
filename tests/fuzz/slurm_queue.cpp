#include "agent/executor/slurm/job_end.hpp"
#include "agent/executor/slurm/usage_note.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever squeue and sacct print and a job's script has noted, each job has a number, and an end that can be told.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fathom::agent;
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const std::string_view notes_text = text.substr(0, text.find('\n'));
    const ScriptNotes notes = read_notes(notes_text, notes_text);
    FATHOM_ASSERT(notes.cpu_s >= 0 && (!notes.exit_code || (*notes.exit_code >= 0 && *notes.exit_code <= 255)));
    const JobUsage usage = read_usage(text);
    FATHOM_ASSERT(usage.cpu_s >= 0 && usage.cpu_s <= 1e12);
    FATHOM_ASSERT(usage.peak_memory_bytes >= 0 && usage.peak_memory_bytes <= 1LL << 50U);
    std::vector<SlurmJob> jobs = parse_queue(text);
    for (SlurmJob& job : parse_accounts(text))
        jobs.push_back(std::move(job));
    for (const SlurmJob& job : jobs) {
        FATHOM_ASSERT(!job.id.empty() && job.id.find_first_not_of(" 0123456789") == std::string::npos);
        FATHOM_ASSERT(job.cpu_s >= 0 && job.cpu_s <= 1e12);
        FATHOM_ASSERT(job.peak_memory_bytes >= 0 && job.peak_memory_bytes <= 1LL << 50U);
        const fathom::AttemptEnd end = end_of(job, notes, EndAsked::kNo, fathom::Timestamp());
        FATHOM_ASSERT(end.run_s >= 0 && (!end.exit_code || (*end.exit_code >= 0 && *end.exit_code <= 255)));
        FATHOM_ASSERT(!end.signal || (*end.signal >= 1 && *end.signal <= 64));
    }
    FATHOM_ASSERT(slurm_reason(text).size() <= 1000);
    const fathom::Result<std::string> submitted = parse_submitted(text);
    FATHOM_ASSERT(!submitted || !submitted->empty());
    return 0;
}
