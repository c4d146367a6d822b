#pragma once

#include "server/api/caller.hpp"
#include "server/api/etag.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"

#include <utility>

namespace fathom::server {

// Handlers that are the same for all records with an id, a version and a to_json(), whatever service keeps them. Each
// answers a failure as the problem that it is.

/// The record with its version as ETag.
template <class Record>
net::Response record_response(int status, const Record& record)
{
    net::Response response = json_response(status, to_json(record));
    response.headers["ETag"] = etag(record.version);
    return response;
}

/// A page of `list(size, after)`.
template <class Service>
asio::awaitable<net::Response> list_records(Service* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const auto records = co_await service->list(page->size, page->after);
    if (!records) co_return net::problem(records.error(), call.request.request_id);
    co_return render_page(*records);
}

/// `get(id)`, by the path's {id}.
template <class Service>
asio::awaitable<net::Response> get_record(Service* service, Call call)
{
    const auto record = co_await service->get(call.request.path_params["id"]);
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    co_return record_response(200, *record);
}

/// `create(caller, settings)`: 201 with the new record below `path`.
template <class Service>
asio::awaitable<net::Response> create_record(Service* service, Call call, Result<typename Service::Settings> settings,
                                             const char* path)
{
    if (!settings) co_return net::problem(settings.error(), call.request.request_id);
    const auto record = co_await service->create(caller_of(call), std::move(*settings));
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    net::Response response = record_response(201, *record);
    response.headers["Location"] = std::string("/api/v1") + path + "/" + record->id.value;
    co_return response;
}

/// `change(caller, id, settings, check)`, where If-Match allows it.
template <class Service>
asio::awaitable<net::Response> change_record(Service* service, Call call, Result<typename Service::Settings> settings)
{
    if (!settings) co_return net::problem(settings.error(), call.request.request_id);
    typename Service::VersionCheck check = [request = &call.request](std::int64_t version) {
        return if_match_allows(*request, version);
    };
    const auto record = co_await service->change(caller_of(call), call.request.path_params["id"], std::move(*settings),
                                                 std::move(check));
    if (!record) co_return net::problem(record.error(), call.request.request_id);
    if (!*record) co_return precondition_failed(call.request);
    co_return record_response(200, **record);
}

/// `remove(caller, id, check)`, where If-Match allows it: 204.
template <class Service>
asio::awaitable<net::Response> remove_record(Service* service, Call call)
{
    typename Service::VersionCheck check = [request = &call.request](std::int64_t version) {
        return if_match_allows(*request, version);
    };
    const Result<bool> removed =
        co_await service->remove(caller_of(call), call.request.path_params["id"], std::move(check));
    if (!removed) co_return net::problem(removed.error(), call.request.request_id);
    if (!*removed) co_return precondition_failed(call.request);
    net::Response response;
    response.status = 204;
    co_return response;
}

} // namespace fathom::server
