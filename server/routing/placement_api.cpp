#include "server/routing/placement_api.hpp"

#include "server/api/api_router.hpp"
#include "server/api/caller.hpp"
#include "server/routing/placement_service.hpp"

namespace fathom::server {
namespace {

/// What decisions cost in computing: hundreds of them at once, and ten a second.
constexpr double kQuestionsAtOnce = 200;
constexpr double kQuestionsPerSecond = 10;

/// The service, and how often each token may ask it.
struct Asked {
    explicit Asked(PlacementService& service) : placements(&service) {}
    PlacementService* placements;
    TokenRate rate{kQuestionsAtOnce, kQuestionsPerSecond};

    Result<void> take(const Call& call)
    {
        return rate.take(call.principal.token_id.value, std::chrono::steady_clock::now());
    }
};

asio::awaitable<net::Response> get_placement(std::shared_ptr<Asked> asked, Call call)
{
    const std::string request_id = call.request.request_id;
    if (const Result<void> may = asked->take(call); !may) co_return net::problem(may.error(), request_id);
    const std::optional<JobId> id = JobId::parse(call.request.path_params["id"]);
    if (!id) co_return net::problem(Error(Errc::kNotFound, "there is no such job"), request_id);
    PlacementService::Question question;
    question.job = *id;
    question.with_inputs = query_flag(call.request.query, "inputs").value_or(false);
    question.asker = reader_of(call);
    const Result<Json> explanation = co_await asked->placements->explain(std::move(question));
    if (!explanation) co_return net::problem(explanation.error(), request_id);
    co_return json_response(200, *explanation);
}

/// The question: a job, and what else would be otherwise.
struct PreviewRequest {
    JobSpec spec;
    std::optional<WhatIf> what_if;
    std::vector<JobStep> steps; ///< empty: the job is not to be divided
};

/// Whether they are those of a job that is submitted with steps, which have commands.
bool are_of_job(const Json& steps)
{
    return steps.is_array() && !steps.empty() && steps[0].is_object() && steps[0].contains("command");
}

/// Takes steps that are only asked about out of the body; their operators become the job's.
std::vector<JobStep> take_steps(Json& body, std::vector<FieldError>& errors)
{
    if (!body.is_object() || !body.contains("steps") || are_of_job(body["steps"])) return {};
    const Json given = body["steps"];
    body.erase("steps");
    if (given.is_null()) return {};
    if (body.contains("operators") && !body["operators"].is_null())
        errors.push_back({"operators", "stand in the steps: leave this out"});
    Json operators;
    std::vector<JobStep> steps = parse_job_steps(given, "steps", operators, errors);
    body["operators"] = std::move(operators);
    return steps;
}

Result<PreviewRequest> parse_preview(Json body)
{
    std::vector<FieldError> errors;
    PreviewRequest request;
    if (body.is_object() && body.contains("what_if")) {
        if (!body["what_if"].is_null()) request.what_if = parse_what_if(body["what_if"], "what_if", errors);
        body.erase("what_if");
    }
    request.steps = take_steps(body, errors);
    Result<JobSpec> spec = parse_job_spec(body);
    if (spec) {
        request.spec = std::move(*spec);
        if (request.steps.empty()) request.steps = steps_of(request.spec);
    } else if (const Error error = spec.error(); error.fields.empty())
        return error;
    else
        errors.insert(errors.begin(), error.fields.begin(), error.fields.end());
    return value_or_errors(std::move(request), std::move(errors), "the question");
}

asio::awaitable<net::Response> preview_placement(std::shared_ptr<Asked> asked, Call call)
{
    const std::string request_id = call.request.request_id;
    if (const Result<void> may = asked->take(call); !may) co_return net::problem(may.error(), request_id);
    Result<Json> body = call.json();
    if (!body) co_return net::problem(body.error(), request_id);
    Result<PreviewRequest> request = parse_preview(std::move(*body));
    if (!request) co_return net::problem(request.error(), request_id);
    const Result<Json> answer = co_await asked->placements->preview(
        std::move(request->spec), reader_of(call), std::move(request->what_if), std::move(request->steps));
    if (!answer) co_return net::problem(answer.error(), request_id);
    co_return json_response(200, *answer);
}

} // namespace

void add_placement_routes(ApiRouter& api, PlacementService& placements)
{
    const auto asked = std::make_shared<Asked>(placements);
    api.add_unlined(net::Method::kGet, "/jobs/{id}/placement", Permission::kReadJobs,
                    [asked](Call call) { return get_placement(asked, std::move(call)); });
    api.add_unlined(
        net::Method::kPost, "/placements:preview", Permission::kReadJobs,
        [asked](Call call) { return preview_placement(asked, std::move(call)); }, kLargeBodyBytes);
}

} // namespace fathom::server
