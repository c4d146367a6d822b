#include "core/net/url.hpp"
#include "server/api/api_router.hpp"
#include "server/api/query_parameter.hpp"
#include "server/jobs/job_requests.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever a list is asked for, its parameters are read within their bounds, or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto query = fathom::net::parse_query(fathom::fuzz::text_of(data, size));
    if (!query) return 0;
    fathom::net::Request request;
    request.query = *query;
    if (const auto page = fathom::server::parse_page_request(request, {"label", "state"})) {
        FATHOM_ASSERT(page->size >= 1 && page->size <= 1000);
        FATHOM_ASSERT(page->after.find('\0') == std::string::npos && !fathom::Json(page->after).dump().empty());
    } else {
        FATHOM_ASSERT(page.error().code == fathom::Errc::kInvalid);
    }
    if (const auto version = fathom::server::parse_version_parameter(request, "version"))
        FATHOM_ASSERT(*version >= 1 || !request.query.contains("version"));
    if (const auto filter = fathom::server::parse_job_filter(request))
        FATHOM_ASSERT(filter->state.empty() || fathom::parse_job_state(filter->state));
    request.path_params = {{"id", "job_01M7ZP0B8VDV1TJC4FRZCBKCVA"}, {"stream", "stdout"}};
    if (const auto log = fathom::server::parse_log_request(request)) FATHOM_ASSERT(log->offset_bytes >= 0);
    if (const auto tag = query->find("if_match"); tag != query->end()) {
        request.headers["If-Match"] = tag->second;
        const bool is_any = tag->second.empty() || tag->second.find_first_of("*7") != std::string::npos;
        FATHOM_ASSERT(is_any || !fathom::server::if_match_allows(request, 7));
    }
    return 0;
}
