#include "server/jobs/job_requests.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever is the body of POST /jobs, parse_submit_request() reads 1 to 1000 jobs, or refuses them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fathom::Result<fathom::Json> json = fathom::parse_json(fathom::fuzz::text_of(data, size));
    if (!json) return 0;
    const fathom::Result<fathom::server::SubmitRequest> request = fathom::server::parse_submit_request(*json);
    if (!request) {
        fathom::fuzz::check_refusal(request.error());
        return 0;
    }
    FATHOM_ASSERT(!request->specs.empty() && request->specs.size() <= 1000);
    FATHOM_ASSERT(json->is_array() || request->specs.size() == 1);
    return 0;
}
