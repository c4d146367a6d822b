#include "server/routing/cycles/cycle_api.hpp"

#include "core/base/json_reader.hpp"
#include "server/api/paging.hpp"
#include "server/api/query.hpp"
#include "server/api/render_page.hpp"
#include "server/routing/cycles/cycle_service.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

/// A cycle is a thousand decisions: twenty of them at once, and one in two seconds.
constexpr double kReplaysAtOnce = 20;
constexpr double kReplaysPerSecond = 0.5;

/// The service, and how often each token may ask it.
struct AskedCycle {
    explicit AskedCycle(CycleService& service) : cycles(&service) {}
    CycleService* cycles;
    TokenRate rate{kReplaysAtOnce, kReplaysPerSecond};
};

Answer list_cycles(std::shared_ptr<AskedCycle> asked, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    std::vector<FieldError> errors;
    const TimeRange within = query_time_range(call.request.query, errors);
    if (const Result<void> right = no_errors(std::move(errors), "the query"); !right)
        co_return net::problem(right.error(), call.request.request_id);
    const Result<Page<StoredCycle>> found = co_await asked->cycles->list(within, page->after, page->size);
    if (!found) co_return net::problem(found.error(), call.request.request_id);
    co_return render_page(*found);
}

net::Response no_such_cycle_id(const Call& call)
{
    return net::problem(Error(Errc::kNotFound, "there is no such cycle"), call.request.request_id);
}

Answer get_cycle(std::shared_ptr<AskedCycle> asked, Call call)
{
    const std::optional<CycleId> id = CycleId::parse(call.request.path_params["id"]);
    if (!id) co_return no_such_cycle_id(call);
    const Result<StoredCycle> cycle = co_await asked->cycles->get(*id);
    if (!cycle) co_return net::problem(cycle.error(), call.request.request_id);
    co_return json_response(200, to_json(*cycle));
}

Answer list_cycle_jobs(std::shared_ptr<AskedCycle> asked, Call call)
{
    const std::optional<CycleId> id = CycleId::parse(call.request.path_params["id"]);
    if (!id) co_return no_such_cycle_id(call);
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<Page<CycleJob>> jobs =
        co_await asked->cycles->list_jobs(*id, call.principal.token_id.value, page->after, page->size);
    if (!jobs) co_return net::problem(jobs.error(), call.request.request_id);
    co_return render_page(*jobs);
}

/// The id of the job that is asked for; empty: none. @error kInvalid
Result<std::string> parse_job(const net::Request& request)
{
    std::string job = query_text(request.query, "job");
    if (job.empty() || JobId::parse(job)) return job;
    return Error(Errc::kInvalid, "the query has 1 error", {{"job", "must be the id of a job"}});
}

Answer get_replay(std::shared_ptr<AskedCycle> asked, Call call)
{
    const std::string request_id = call.request.request_id;
    const std::optional<CycleId> id = CycleId::parse(call.request.path_params["id"]);
    if (!id) co_return no_such_cycle_id(call);
    Result<std::string> job = parse_job(call.request);
    if (!job) co_return net::problem(job.error(), request_id);
    const std::string token = call.principal.token_id.value;
    if (const Result<void> may = asked->rate.take(token, std::chrono::steady_clock::now()); !may)
        co_return net::problem(may.error(), request_id);
    CycleService::Question question{*id, std::move(*job), token};
    const Result<Json> answer = co_await asked->cycles->replay(std::move(question));
    if (!answer) co_return net::problem(answer.error(), request_id);
    co_return json_response(200, *answer);
}

} // namespace

void add_cycle_routes(ApiRouter& api, CycleService& cycles)
{
    const auto asked = std::make_shared<AskedCycle>(cycles);
    api.add(net::Method::kGet, "/cycles", Permission::kReadAllJobs,
            [asked](Call call) { return list_cycles(asked, std::move(call)); });
    api.add(net::Method::kGet, "/cycles/{id}", Permission::kReadAllJobs,
            [asked](Call call) { return get_cycle(asked, std::move(call)); });
    api.add(net::Method::kGet, "/cycles/{id}/jobs", Permission::kReadAllJobs,
            [asked](Call call) { return list_cycle_jobs(asked, std::move(call)); });
    api.add_unlined(net::Method::kGet, "/cycles/{id}/replay", Permission::kReadAllJobs,
                    [asked](Call call) { return get_replay(asked, std::move(call)); });
}

} // namespace fathom::server
