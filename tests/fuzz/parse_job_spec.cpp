#include "core/model/job.hpp"

#include <cstddef>
#include <cstdint>

/// Whatever arrives, parse_job_spec() answers; and what it took can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json({reinterpret_cast<const char*>(data), size});
    if (!json) return 0;
    const fathom::Result<fathom::JobSpec> spec = fathom::parse_job_spec(*json);
    if (!spec) return 0;
    FATHOM_ASSERT(fathom::parse_job_spec(to_json(*spec)).has_value());
    return 0;
}
