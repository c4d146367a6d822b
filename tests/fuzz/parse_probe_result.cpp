#include "core/model/probe_result.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever a probe prints, parse_probe_result() answers; what it took is written and read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::ProbeResult> result = fathom::fuzz::check_document(*json, fathom::parse_probe_result);
    if (!result) return 0;
    for (const fathom::OperatorResult& one : result->operators)
        FATHOM_ASSERT(one.rate_flops() >= 0 && one.rate_bytes() >= 0);
    return 0;
}
