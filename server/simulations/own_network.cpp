#include "server/simulations/own_network.hpp"

#include "core/base/id.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <future>
#include <thread>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr const char* kApiPrefix = "/api/v1";
constexpr JsonLimits kOwnAnswerLimits{.max_bytes = 64UL << 20U, .max_depth = 64};
constexpr auto kLookForStop = 50ms;
constexpr auto kPauseWhenTooMany = 250ms;
constexpr std::array kAnsweredCodes{Errc::kInvalid,  Errc::kForbidden,   Errc::kNotFound,
                                    Errc::kConflict, Errc::kInfeasible,  Errc::kTooLarge,
                                    Errc::kTooMany,  Errc::kUnavailable, Errc::kDeadline};

using Answer = std::shared_ptr<std::promise<net::Response>>;

asio::awaitable<void> answer_question(const ApiRouter* api, Call call, Answer answer)
{
    try {
        net::Response response = co_await api->ask(std::move(call));
        answer->set_value(std::move(response));
    } catch (...) { // else who asked would wait for its limit
        answer->set_exception(std::current_exception());
    }
}

Error was_stopped()
{
    return {Errc::kUnavailable, "the simulation was stopped"};
}

/// What a refusal says.
Error error_of(const net::Response& response)
{
    const auto code = std::find_if(kAnsweredCodes.begin(), kAnsweredCodes.end(),
                                   [&](Errc one) { return net::http_status(one) == response.status; });
    const Result<Json> body = parse_json(response.body);
    const std::string detail = body ? json_view::text_of(*body, "detail", "") : "";
    return {code == kAnsweredCodes.end() ? Errc::kInternal : *code,
            detail.empty() ? "a part of the network did not answer" : detail};
}

net::Request request_to(net::Method method, std::string_view path)
{
    net::Request request;
    request.method = method;
    request.path = kApiPrefix + std::string(path);
    request.target = request.path;
    request.request_id = RequestId::make().value;
    return request;
}

} // namespace

Result<Json> OwnNetwork::get(std::string_view path, const Query& query)
{
    net::Request request = request_to(net::Method::kGet, path);
    for (const auto& [name, value] : query) {
        if (!value.empty()) request.query[name] = value;
    }
    return ask(request);
}

Result<Json> OwnNetwork::post(std::string_view path, const Json& body)
{
    net::Request request = request_to(net::Method::kPost, path);
    request.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    return ask(request);
}

Result<Json> OwnNetwork::ask(const net::Request& request)
{
    while (true) {
        const Result<net::Response> response = ask_once(request);
        if (!response) return response.error();
        if (response->status < 400) return parse_json(response->body, kOwnAnswerLimits);
        const Error error = error_of(*response);
        if (error.code != Errc::kTooMany) return error;
        std::this_thread::sleep_for(kPauseWhenTooMany);
    }
}

Result<net::Response> OwnNetwork::ask_once(net::Request request)
{
    const Answer answer = std::make_shared<std::promise<net::Response>>();
    std::future<net::Response> response = answer->get_future();
    Call call{std::move(request), caller_};
    if (stop_->load() || !means_.tasks->spawn(means_.executor, "simulation_question",
                                              answer_question(means_.api, std::move(call), answer)))
        return was_stopped();
    while (response.wait_for(kLookForStop) != std::future_status::ready) {
        if (stop_->load()) return was_stopped();
    }
    return response.get();
}

} // namespace fathom::server
