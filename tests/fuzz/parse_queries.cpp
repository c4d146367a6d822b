#include "core/base/parse_number.hpp"
#include "core/net/url.hpp"
#include "server/api/api_router.hpp"
#include "server/api/etag.hpp"
#include "server/api/paging.hpp"
#include "server/api/query_contract.hpp"
#include "server/jobs/job_requests.hpp"
#include "tests/fuzz/fuzz_input.hpp"

namespace {

using fathom::server::Query;

bool is_allowed(const char* path, const Query& query)
{
    const auto* const rules = fathom::server::query_contract()->find(fathom::net::Method::kGet, path);
    FATHOM_ASSERT(rules != nullptr);
    const auto checked = rules->check(query);
    FATHOM_ASSERT(checked || checked.error().code == fathom::Errc::kInvalid);
    return checked.has_value();
}

void list_jobs(const fathom::net::Request& request)
{
    if (!is_allowed("/api/v1/jobs", request.query)) return;
    if (const auto page = fathom::server::parse_page_request(request)) {
        FATHOM_ASSERT(page->size >= 1 && page->size <= 1000);
        FATHOM_ASSERT(page->after.find('\0') == std::string::npos && !fathom::Json(page->after).dump().empty());
    }
    const auto filter = fathom::server::job_filter_of(request.query);
    FATHOM_ASSERT(filter.state.empty() || fathom::parse_job_state(filter.state));
}

void read_log(fathom::net::Request& request)
{
    if (!is_allowed("/api/v1/jobs/{id}/logs/{stream}", request.query)) return;
    request.path_params = {{"id", "job_01M7ZP0B8VDV1TJC4FRZCBKCVA"}, {"stream", "stdout"}};
    const auto log = fathom::server::parse_log_request(request);
    FATHOM_ASSERT(log && log->offset_bytes >= 0);
}

void compare_tag(fathom::net::Request& request, const std::string& tag)
{
    request.headers["If-Match"] = tag;
    const bool is_any = tag.empty() || tag.find_first_of("*7") != std::string::npos;
    FATHOM_ASSERT(is_any || !fathom::server::if_match_allows(request, 7));
}

} // namespace

/// Whatever is asked for, a query that the contract allows is read within its bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto query = fathom::net::parse_query(fathom::fuzz::text_of(data, size));
    if (!query) return 0;
    fathom::net::Request request;
    request.query = *query;
    list_jobs(request);
    if (is_allowed("/api/v1/operators/{id}", *query))
        FATHOM_ASSERT(fathom::server::query_integer(*query, "version").value_or(1) >= 1);
    if (is_allowed("/api/v1/network-windows", *query) && query->contains("size_bytes"))
        FATHOM_ASSERT(fathom::parse_number<double>(query->at("size_bytes")).value_or(-1) > 0);
    read_log(request);
    if (const auto tag = query->find("if_match"); tag != query->end()) compare_tag(request, tag->second);
    return 0;
}
