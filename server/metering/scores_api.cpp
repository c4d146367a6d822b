#include "server/metering/scores_api.hpp"

#include "core/decide/prediction/combine_results.hpp"
#include "core/decide/scoring/find_measured.hpp"
#include "server/api/paging.hpp"
#include "server/store/column.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

/// Score and interval, or null and why.
void put_score(Json& json, const std::optional<ScoreValue>& score, const std::string& missing)
{
    json["score"] = score ? Json(score->value) : Json();
    json["score_low"] = score ? Json(score->low) : Json();
    json["score_high"] = score ? Json(score->high) : Json();
    json["missing_reason"] = text_or_null(missing);
}

Json to_json(const MeasurementRecord& record)
{
    const MeasuredOperator& measured = record.measured;
    return {{"center_id", record.center_id},
            {"center", record.center},
            {"unit_type_id", record.unit_type_id},
            {"unit_type", record.unit_type},
            {"operator", measured.operator_id},
            {"operator_version", record.operator_version},
            {"parameters", record.parameters},
            {"unit_count", record.unit_count},
            {"median_s", measured.median_s},
            {"ci_low_s", measured.ci_low_s},
            {"ci_high_s", measured.ci_high_s},
            {"spread", record.spread},
            {"sample_count", record.sample_count},
            {"outlier_count", record.outlier_count},
            {"operations", measured.operations},
            {"bytes", measured.bytes},
            {"rate_flops", measured.operations / measured.median_s},
            {"rate_bytes", measured.bytes / measured.median_s},
            {"error", measured.error},
            {"tolerance", measured.tolerance},
            {"precision", record.precision},
            {"library", record.library},
            {"probe_run_id", measured.probe_run_id},
            {"measured_at", format_rfc3339(measured.measured_at)}};
}

Json to_json(const OperatorScore& scored, const MetricPolicy& policy)
{
    Json json = to_json(scored.record);
    json["probe_run_ids"] = run_ids_of(scored.record.measured);
    json["trust_factor"] = scored.trust_factor;
    json["diversity"] = scored.diversity;
    json["policy"] = policy_name(policy);
    put_score(json, scored.score, scored.missing);
    return json;
}

Json to_json(const ScorePoint& point, const MetricPolicy& policy)
{
    Json json = to_json(point.record);
    json["policy"] = policy_name(policy);
    json["void_reason"] = text_or_null(point.record.void_reason);
    put_score(json, point.score, point.missing);
    return json;
}

Json to_json(const ScoredPart& scored)
{
    Json json{{"operator", scored.part.operator_id},
              {"size_class", text_or_null(scored.part.size_class)},
              {"parameters", fathom::to_json(parameters_of_key(scored.parameters_key))},
              {"weight", scored.part.weight},
              {"probe_run_id", text_or_null(scored.probe_run_id)},
              {"probe_run_ids", scored.probe_run_ids},
              {"measured_at", time_json(scored.measured_at)}};
    put_score(json, scored.score, scored.missing);
    return json;
}

Json to_json(const GroupedScore& scored, const MetricPolicy& policy)
{
    Json json = to_json(scored.place);
    json["by"] = to_string(scored.group);
    json["name"] = text_or_null(scored.name);
    json["trust_factor"] = scored.trust_factor;
    json["missing_parts"] = scored.aggregate.missing_parts();
    json["policy"] = policy_name(policy);
    std::optional<Timestamp> oldest;
    json["parts"] = Json::array();
    for (const ScoredPart& part : scored.aggregate.parts) {
        if (part.measured_at && (!oldest || *part.measured_at < *oldest)) oldest = part.measured_at;
        json["parts"].push_back(to_json(part));
    }
    json["oldest_measured_at"] = time_json(oldest);
    put_score(json, scored.aggregate.score, scored.aggregate.missing);
    return json;
}

/// What GET /scores asks for.
struct ScoreQuestion {
    std::optional<ScoreGroup> group; ///< empty: by operator
    std::string name;                ///< of a job type or category
    std::string policy;
    MeasurementFilter filter;
};

Result<ScoreQuestion> parse_question(const Query& query)
{
    std::vector<FieldError> errors;
    ScoreQuestion question;
    const std::string asked = query_text(query, "by");
    const std::string by = asked.empty() ? "operator" : asked;
    if (by == "job_type")
        question.group = ScoreGroup::kJobType;
    else if (by == "category")
        question.group = ScoreGroup::kCategory;
    else if (by == "unit_type")
        question.group = ScoreGroup::kUnitType;
    for (const std::string name : {"operator", "job_type", "category"}) {
        const std::string wanted = query_text(query, name);
        if (wanted.empty()) continue;
        if (name != by) errors.push_back({name, "needs by=" + name});
        if (name != "operator") question.name = wanted;
    }
    question.policy = query_text(query, "policy");
    question.filter = {query_text(query, "center"), query_text(query, "unit_type"), query_text(query, "operator")};
    return value_or_errors(std::move(question), std::move(errors), "the query");
}

/// `n=512,m=512` as the key of a size. Empty: it is no such text.
std::string read_size(const std::string& text)
{
    const Parameters parameters = parameters_of_key(text);
    const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
    return parameters.size() == count ? parameters_key(parameters) : std::string();
}

Result<HistoryFilter> parse_history(const Query& query)
{
    std::vector<FieldError> errors;
    HistoryFilter filter;
    filter.unit_type = query_text(query, "unit_type");
    filter.operator_id = query_text(query, "operator");
    filter.version = query_integer(query, "version");
    filter.unit_count = query_integer(query, "unit_count");
    if (const std::string size = query_text(query, "parameters"); !size.empty()) {
        filter.parameters_key = read_size(size);
        if (filter.parameters_key.empty()) errors.push_back({"parameters", "must be like n=512, or k=8,m=8,n=8"});
    }
    const TimeRange times = query_time_range(query, errors);
    filter.since = times.since;
    filter.until = times.until;
    return value_or_errors(std::move(filter), std::move(errors), "the query");
}

template <class Scores>
net::Response render(const Scores& scores)
{
    Json items = Json::array();
    for (const auto& one : scores.page.items)
        items.push_back(to_json(one, scores.policy));
    return page_response(std::move(items), scores.page.next_after);
}

Answer list_scores(ScoresService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<ScoreQuestion> question = parse_question(call.request.query);
    if (!question) co_return net::problem(question.error(), call.request.request_id);
    if (!question->group) {
        const Result<ScoresService::OperatorScores> scores =
            co_await service->by_operator(question->policy, question->filter, page->size, page->after);
        co_return scores ? render(*scores) : net::problem(scores.error(), call.request.request_id);
    }
    const Result<ScoresService::GroupedScores> scores = co_await service->grouped(
        *question->group, question->name, question->policy, question->filter, page->size, page->after);
    co_return scores ? render(*scores) : net::problem(scores.error(), call.request.request_id);
}

Answer list_history(ScoresService* service, Call call)
{
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), call.request.request_id);
    const Result<HistoryFilter> filter = parse_history(call.request.query);
    if (!filter) co_return net::problem(filter.error(), call.request.request_id);
    const Result<ScoresService::ScoreHistory> history =
        co_await service->history(query_text(call.request.query, "policy"), *filter, page->size, page->after);
    co_return history ? render(*history) : net::problem(history.error(), call.request.request_id);
}

} // namespace

void add_scores_routes(ApiRouter& router, ScoresService& scores)
{
    router.add(net::Method::kGet, "/scores", Permission::kReadNetwork,
               [target = &scores](Call call) { return list_scores(target, std::move(call)); });
    router.add(net::Method::kGet, "/scores/history", Permission::kReadNetwork,
               [target = &scores](Call call) { return list_history(target, std::move(call)); });
}

} // namespace fathom::server
