#include "server/jobs/jobs_api.hpp"

#include "server/api/caller.hpp"
#include "server/api/etag.hpp"
#include "server/api/page_text.hpp"
#include "server/api/paging.hpp"
#include "server/jobs/job_requests.hpp"

namespace fathom::server {
namespace {

const Error kJobNotFound{Errc::kNotFound, "there is no such job"};

StoredAnswer render_one(const std::vector<JobRecord>& jobs)
{
    return {201, job_text(jobs.front()), "/api/v1/jobs/" + jobs.front().id.value, {}};
}

StoredAnswer render_many(const std::vector<JobRecord>& jobs)
{
    std::string text = "{\"items\":[";
    for (const JobRecord& job : jobs) {
        if (&job != &jobs.front()) text += ',';
        text += job_text(job);
    }
    return {201, text + "]}", "", {}};
}

net::Response to_response(StoredAnswer answer)
{
    net::Response response = net::json_response(answer.status, std::move(answer.body));
    if (!answer.location.empty()) response.headers["Location"] = std::move(answer.location);
    return response;
}

net::Response job_response(int status, const JobRecord& job)
{
    net::Response response = net::json_response(status, job_text(job));
    response.headers["ETag"] = etag(job.version);
    return response;
}

Submitter submitter_of(const Call& call)
{
    return Submitter{call.principal.token_id.value, static_cast<std::int64_t>(call.request.body.size()),
                     call.request.request_id};
}

/// The answer of a job's first request.
net::Response created_response(const JobRecord& job)
{
    net::Response response = job_response(201, job);
    response.headers["Location"] = "/api/v1/jobs/" + job.id.value;
    return response;
}

/// A place among those of its token that work with a connection of their own: a request that was let by the line
/// because it is written with others (is_written_alone()) needs one after all.
asio::awaitable<std::shared_ptr<const void>> take_turn(const Call& call, JobsService::Batch batch)
{
    if (batch == JobsService::Batch::kMany) co_return nullptr;
    co_return co_await call.turns.take();
}

asio::awaitable<net::Response> submit_with_key(JobsService* jobs, Call call, IdempotencyKey key, SubmitRequest request)
{
    const std::string request_id = call.request.request_id;
    const std::string owner = call.principal.token_id.value;
    const bool is_one = request.batch == JobsService::Batch::kOne;
    const JobsService::Render render = is_one ? render_one : render_many;
    Result<std::vector<AdmittedJob>> admitted =
        co_await jobs->admit(std::move(request.specs), request.batch, call.principal, submitter_of(call));
    if (!admitted) {
        const std::shared_ptr<const void> turn = co_await take_turn(call, request.batch);
        Result<StoredAnswer> earlier = co_await jobs->find_answer(std::move(key), render);
        if (earlier) co_return replay(*earlier);
        if (earlier.error().code == Errc::kConflict) co_return net::problem(earlier.error(), request_id);
        co_return net::problem(admitted.error(), request_id);
    }
    if (is_one) {
        const Result<std::optional<JobRecord>> first = co_await jobs->submit_first(key, admitted->front(), owner);
        if (!first) co_return net::problem(first.error(), request_id);
        if (*first) co_return created_response(**first);
    }
    const std::shared_ptr<const void> turn = co_await take_turn(call, request.batch);
    Result<JobsService::OnceAnswer> once =
        co_await jobs->submit_once(std::move(key), std::move(*admitted), owner, render);
    if (!once) co_return net::problem(once.error(), request_id);
    if (once->is_replay) co_return replay(once->answer);
    co_return to_response(std::move(once->answer));
}

asio::awaitable<net::Response> submit(JobsService* jobs, Call call)
{
    const std::string request_id = call.request.request_id;
    const Result<Json> body = call.json();
    if (!body) co_return net::problem(body.error(), request_id);
    Result<SubmitRequest> request = parse_submit_request(*body);
    if (!request) co_return net::problem(request.error(), request_id);
    Result<std::optional<IdempotencyKey>> key = read_idempotency_key(call);
    if (!key) co_return net::problem(key.error(), request_id);
    std::optional<IdempotencyKey>& given = *key;
    if (given) co_return co_await submit_with_key(jobs, std::move(call), std::move(*given), std::move(*request));

    const JobsService::Batch batch = request->batch;
    Result<std::vector<AdmittedJob>> admitted =
        co_await jobs->admit(std::move(request->specs), batch, call.principal, submitter_of(call));
    if (!admitted) co_return net::problem(admitted.error(), request_id);
    const std::string& owner = call.principal.token_id.value;
    if (batch == JobsService::Batch::kMany) {
        const Result<std::vector<JobRecord>> records = co_await jobs->submit_all(std::move(*admitted), owner);
        if (!records) co_return net::problem(records.error(), request_id);
        co_return to_response(render_many(*records));
    }
    const Result<JobRecord> record = co_await jobs->submit(std::move(admitted->front()), owner);
    if (!record) co_return net::problem(record.error(), request_id);
    co_return created_response(*record);
}

/// A single job is written with those of others (JobsService::submit, submit_first).
bool is_written_alone(const net::Request& request)
{
    const std::size_t begin = request.body.find_first_not_of(" \t\r\n");
    return begin != std::string::npos && request.body[begin] == '[';
}

/// Lists of jobs. Counted in groups, or sorted otherwise than by their submission, tens of thousands of jobs are gone
/// through: of that one token must not have enough at once to take all threads of the database.
class JobLists {
  public:
    explicit JobLists(JobsService& service) : jobs(&service) {}

    /// nullptr: the token has as many at once as it may.
    std::shared_ptr<const void> begin(const Call& call) { return long_.take(call.principal.token_id.value); }

    JobsService* const jobs;

  private:
    static constexpr std::size_t kMaxLong = 3;
    TokenPlaces long_{kMaxLong};
};

net::Response too_many_lists(const std::string& request_id)
{
    const Error error{Errc::kTooMany, "this token has several lists of jobs sorted or counted already: ask again when "
                                      "one of them has been answered"};
    net::Response response = net::problem(error, request_id);
    response.headers["Retry-After"] = "1";
    return response;
}

asio::awaitable<net::Response> list_jobs(std::shared_ptr<JobLists> lists, Call call)
{
    const std::string request_id = call.request.request_id;
    Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), request_id);
    JobFilter filter = job_filter_of(call.request.query);
    filter.scope = job_scope_of(call.principal);
    const bool is_long = filter.order.by != JobSort::kSubmitted;
    const std::shared_ptr<const void> place = is_long ? lists->begin(call) : nullptr;
    if (is_long && !place) co_return too_many_lists(request_id);
    const Result<Page<JobRecord>> found =
        co_await lists->jobs->list(std::move(filter), page->size, std::move(page->after), reader_of(call));
    if (!found) co_return net::problem(found.error(), request_id);
    std::vector<std::string> items;
    for (const JobRecord& job : found->items)
        items.push_back(job_text(job));
    co_return page_of_texts(items, found->next_after);
}

asio::awaitable<net::Response> list_job_groups(std::shared_ptr<JobLists> lists, Call call)
{
    const std::shared_ptr<const void> place = lists->begin(call);
    if (!place) co_return too_many_lists(call.request.request_id);
    JobFilter filter = job_filter_of(call.request.query);
    filter.scope = job_scope_of(call.principal);
    // What else it may be, the contract has refused.
    const std::string by = query_text(call.request.query, "by");
    const JobGrouping grouping = parse_job_grouping(by).value_or(JobGrouping::kState);
    const Result<JobGroups> found = co_await lists->jobs->count_groups(std::move(filter), grouping);
    if (!found) co_return net::problem(found.error(), call.request.request_id);
    Json groups = Json::array();
    for (const JobGroup& group : found->groups)
        groups.push_back(Json{{"key", group.key}, {"count", group.count}, {"states", group.states}});
    const Json body = {{"by", by},
                       {"groups", std::move(groups)},
                       {"group_count", found->group_count},
                       {"counted", found->counted},
                       {"is_cut", found->counted >= kMaxSortedJobs}};
    co_return json_response(200, body);
}

asio::awaitable<net::Response> get_job(JobsService* jobs, Call call)
{
    const std::optional<JobId> id = JobId::parse(call.request.path_params["id"]);
    if (!id) co_return net::problem(kJobNotFound, call.request.request_id);
    const Result<JobRecord> job = co_await jobs->get(*id, reader_of(call));
    if (!job) co_return net::problem(job.error(), call.request.request_id);
    co_return job_response(200, *job);
}

asio::awaitable<net::Response> cancel_job(JobsService* jobs, Call call)
{
    const std::optional<JobId> id = JobId::parse(call.request.path_params["id"]);
    if (!id) co_return net::problem(kJobNotFound, call.request.request_id);
    const net::Request& request = call.request;
    const JobsService::VersionCheck check = [&request](std::int64_t version) {
        return if_match_allows(request, version);
    };
    const Result<JobsService::CancelAnswer> answer = co_await jobs->cancel(*id, reader_of(call), check);
    if (!answer) co_return net::problem(answer.error(), call.request.request_id);
    if (answer->is_stale) co_return precondition_failed(call.request);
    co_return job_response(202, answer->job);
}

net::Response output_removed(Timestamp at, const std::string& request_id)
{
    const Error removed(Errc::kNotFound, "the job's output is no longer kept: it was removed at " + format_rfc3339(at));
    return net::problem(removed, request_id);
}

asio::awaitable<net::Response> get_log(JobsService* jobs, Database* database, Call call)
{
    Result<LogRequest> request = parse_log_request(call.request);
    if (!request) co_return net::problem(request.error(), call.request.request_id);
    // The rights are checked before the first byte: after it there is no status to say no with.
    const Result<JobRecord> job = co_await jobs->get(request->job, reader_of(call), JobContent::kOutput);
    if (!job) co_return net::problem(job.error(), call.request.request_id);
    std::optional<Timestamp> removed_at;
    if (job->attempt) removed_at = job->attempt->output_removed_at;
    if (const std::string name = query_text(call.request.query, "attempt"); !name.empty()) {
        const Result<NamedAttempt> attempt = co_await jobs->find_attempt(request->job, name);
        if (!attempt) co_return net::problem(attempt.error(), call.request.request_id);
        request->attempt = attempt->id;
        removed_at = attempt->output_removed_at;
    }
    if (removed_at) co_return output_removed(*removed_at, call.request.request_id);
    request->turns = call.turns;
    net::Response response;
    response.headers["Content-Type"] = "text/plain; charset=utf-8";
    response.headers["Cache-Control"] = "no-store";
    response.stream = [database, wanted = std::move(*request)](std::shared_ptr<net::BodyWriter> writer) {
        return stream_log(*database, wanted, std::move(writer));
    };
    co_return response;
}

} // namespace

void add_jobs_routes(ApiRouter& api, JobsService& jobs, Database& database)
{
    api.add_unlined(
        net::Method::kPost, "/jobs", Permission::kSubmitJobs,
        [&jobs](Call call) { return submit(&jobs, std::move(call)); }, kLargeBodyBytes, is_written_alone);
    const auto lists = std::make_shared<JobLists>(jobs);
    api.add(net::Method::kGet, "/jobs", Permission::kReadJobs,
            [lists](Call call) { return list_jobs(lists, std::move(call)); });
    api.add(net::Method::kGet, "/job-groups", Permission::kReadJobs,
            [lists](Call call) { return list_job_groups(lists, std::move(call)); });
    api.add(net::Method::kGet, "/jobs/{id}", Permission::kReadJobs,
            [&jobs](Call call) { return get_job(&jobs, std::move(call)); });
    api.add(net::Method::kPost, "/jobs/{id}:cancel", Permission::kSubmitJobs,
            [&jobs](Call call) { return cancel_job(&jobs, std::move(call)); });
    api.add(net::Method::kGet, "/jobs/{id}/logs/{stream}", Permission::kReadJobs,
            [&jobs, &database](Call call) { return get_log(&jobs, &database, std::move(call)); });
}

} // namespace fathom::server
