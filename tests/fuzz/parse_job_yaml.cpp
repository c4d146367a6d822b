#include "core/base/yaml.hpp"
#include "core/model/job.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever stands in a job.yaml, it is read or refused, as `fathom job submit` and the server do one after the other.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_yaml(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::JobSpec> spec = fathom::parse_job_spec(*json);
    if (!spec) return 0;
    // The server reads it as JSON.
    const fathom::Result<fathom::Json> received = fathom::parse_json(json->dump());
    FATHOM_ASSERT(received.has_value());
    FATHOM_ASSERT(fathom::fuzz::check_document(*received, fathom::parse_job_spec).has_value());
    return 0;
}
