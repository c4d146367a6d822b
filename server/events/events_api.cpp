#include "server/events/events_api.hpp"

#include "core/base/parse_number.hpp"
#include "server/api/caller.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"
#include "server/events/events_service.hpp"
#include "server/events/events_store.hpp"

namespace fathom::server {
namespace {

struct EventsQuery {
    EventFilter filter;
    std::optional<std::int64_t> resume_after;
};

std::optional<std::int64_t> parse_event_id(std::string_view text)
{
    const auto id = parse_number<std::int64_t>(text);
    return id && *id >= 0 ? id : std::nullopt;
}

EventFilter scope_filter_of(const Call& call)
{
    EventFilter filter;
    filter.scope = job_scope_of(call.principal);
    return filter;
}

Result<EventsQuery> parse_events_query(const Call& call)
{
    std::vector<FieldError> errors;
    EventsQuery query;
    query.filter = scope_filter_of(call);
    query.filter.job_id = query_text(call.request.query, "job");
    if (!query.filter.job_id.empty() && !JobId::parse(query.filter.job_id))
        errors.push_back({"job", "must be a job id, job_…"});
    if (const std::string_view text = call.request.header("Last-Event-ID"); !text.empty()) {
        query.resume_after = parse_event_id(text);
        if (!query.resume_after) errors.push_back({"Last-Event-ID", "must be the id of an event"});
    }
    return value_or_errors(std::move(query), std::move(errors), "the request");
}

asio::awaitable<net::Response> stream_events(EventsService* events, Call call)
{
    Result<EventsQuery> query = parse_events_query(call);
    if (!query) co_return net::problem(query.error(), call.request.request_id);
    const Result<void> noted = co_await events->note_reader(query->filter, reader_of(call));
    if (!noted) co_return net::problem(noted.error(), call.request.request_id);
    net::Response response;
    response.headers["Content-Type"] = "text/event-stream";
    response.headers["Cache-Control"] = "no-store";
    response.stream = [events, wanted = std::move(*query),
                       turns = call.turns](std::shared_ptr<net::BodyWriter> writer) {
        return events->stream(wanted.filter, wanted.resume_after, std::move(writer), turns);
    };
    co_return response;
}

asio::awaitable<net::Response> list_job_events(EventsService* events, Call call)
{
    const std::string request_id = call.request.request_id;
    const std::optional<JobId> id = JobId::parse(call.request.path_params["id"]);
    if (!id) co_return net::problem(Error(Errc::kNotFound, "there is no such job"), request_id);
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), request_id);
    const std::optional<std::int64_t> after = page->after.empty() ? 0 : parse_event_id(page->after);
    if (!after) co_return net::problem(Error(Errc::kInvalid, "page_token is not one of this list's"), request_id);
    EventFilter filter = scope_filter_of(call);
    filter.job_id = id->value;
    const Result<Page<JobEventRecord>> found =
        co_await events->list(std::move(filter), page->size, *after, reader_of(call));
    if (!found) co_return net::problem(found.error(), request_id);
    co_return render_page(*found);
}

} // namespace

void add_events_routes(ApiRouter& api, EventsService& events)
{
    api.add(net::Method::kGet, "/events", Permission::kReadJobs,
            [&events](Call call) { return stream_events(&events, std::move(call)); });
    api.add(net::Method::kGet, "/jobs/{id}/events", Permission::kReadJobs,
            [&events](Call call) { return list_job_events(&events, std::move(call)); });
}

} // namespace fathom::server
