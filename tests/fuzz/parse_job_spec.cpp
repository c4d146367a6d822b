#include "core/model/job.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever arrives, parse_job_spec() answers; what it took is written and read again as the same, and keeps to its
/// bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::JobSpec> spec = fathom::fuzz::check_document(*json, fathom::parse_job_spec);
    if (!spec) return 0;
    FATHOM_ASSERT(spec->command.empty() != spec->script.empty());
    FATHOM_ASSERT(spec->priority >= -100 && spec->priority <= 100 && spec->wall_limit_s > 0);
    FATHOM_ASSERT(spec->units.min >= 1 && spec->units.min <= spec->units.max);
    FATHOM_ASSERT(!spec->budget || spec->budget->micros >= 0);
    for (const fathom::OperatorUse& use : spec->operators)
        FATHOM_ASSERT(use.count >= 1 && use.version >= 0);
    FATHOM_ASSERT(!fathom::contains_nul(to_json(*spec)));
    return 0;
}
