#include "server/metering/speedup_api.hpp"

#include "core/model/name_limits.hpp"
#include "server/api/paging.hpp"
#include "server/api/render_page.hpp"
#include "server/metering/speedup_store.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

/// A question with what it leaves to a center.
struct CenterQuestion {
    Json question;           ///< as parse_speedup_question() reads it, perhaps with `compressed`, perhaps incomplete
    std::string center;      ///< id or name; empty: the question is complete
    std::string operator_id; ///< empty: the usual one of its class
    std::int64_t points{21}; ///< of a curve
};

enum class Kind { kPredict, kCurve };

/// Takes what only this API knows out of the body; the model's own fields stay.
Result<CenterQuestion> parse_question(const Call& call, Kind kind)
{
    Result<Json> body = call.json();
    if (!body) return body.error();
    CenterQuestion parsed;
    parsed.question = std::move(*body);
    if (!parsed.question.is_object()) return parsed; // the model's reader says what is wrong
    std::vector<FieldError> errors;
    Json own = Json::object();
    for (const char* name : {"center", "operator", "compressed", "points"}) {
        if (!parsed.question.contains(name) || (name == std::string_view("points") && kind == Kind::kPredict)) continue;
        own[name] = parsed.question[name];
        if (name != std::string_view("compressed")) parsed.question.erase(name);
    }
    ObjectReader reader(own, "", errors);
    parsed.center = reader.optional_string("center", {.min_length = 1, .max_length = kMaxCenterNameBytes}).value_or("");
    parsed.operator_id = reader.optional_string("operator", {.min_length = 1, .max_length = 64}).value_or("");
    parsed.points = reader.optional_integer("points", 2, 1000).value_or(parsed.points);
    static_cast<void>(reader.optional_boolean("compressed"));
    if (parsed.center.empty()) {
        for (const char* name : {"operator", "compressed"})
            if (reader.has(name)) reader.fail(name, "says what to take from a center: name the center too");
    }
    if (const auto nul = find_nul(own)) errors.push_back({*nul, "must not contain a NUL character"});
    // On a curve t takes every value; any of them makes the question complete.
    if (kind == Kind::kCurve) {
        if (parsed.question.contains("seconds_per_100mb"))
            errors.push_back({"seconds_per_100mb", "is what the curve goes through"});
        parsed.question["seconds_per_100mb"] = 1;
    }
    return value_or_errors(std::move(parsed), std::move(errors), "the question");
}

OperatorClass class_of(const Json& question)
{
    const auto found = question.find("class");
    if (found == question.end() || !found->is_string()) return OperatorClass::kLinear;
    return parse_operator_class(found->get<std::string>()).value_or(OperatorClass::kLinear);
}

/// A question that is ready for the model.
struct Completed {
    SpeedupQuestion question;
    Json known = Json::object(); ///< of the center, for the answer; empty without one
    std::vector<DeviceRuns> runs;
};

Result<Completed> complete(pqxx::work& transaction, const CenterQuestion& asked)
{
    const OperatorClass operator_class = class_of(asked.question);
    const std::string operator_id =
        asked.operator_id.empty() ? std::string(usual_operator(operator_class)) : asked.operator_id;
    const std::optional<MeasuredCenter> center = select_measured_center(transaction, asked.center, operator_id);
    if (!center)
        return Error(Errc::kInvalid, "the question has 1 error", {{"center", "there is no center " + asked.center}});
    const std::vector<Coefficient> coefficients =
        find_coefficients(asked.question, operator_class, operator_id, *center);
    const Result<SpeedupQuestion> question = complete_question(asked.question, coefficients);
    if (!question) return question.error();
    return Completed{*question,
                     {{"center", center->name}, {"operator", operator_id}, {"coefficients", to_json(coefficients)}},
                     select_device_runs(transaction, asked.center)};
}

asio::awaitable<Result<Completed>> complete_question_of(Database* database, CenterQuestion asked)
{
    if (asked.center.empty()) {
        const Result<SpeedupQuestion> question = parse_speedup_question(asked.question);
        if (!question) co_return question.error();
        Completed completed;
        completed.question = *question;
        co_return completed;
    }
    if (!asked.question.is_object()) co_return parse_speedup_question(asked.question).error();
    auto work = [&](pqxx::work& transaction) { return complete(transaction, asked); };
    co_return co_await database->run(std::move(work));
}

/// How the center's jobs went against their raw predictions, and the speed-up corrected by that where both kinds have
/// run.
Json runs_json(const std::vector<DeviceRuns>& runs, const SpeedupAnswer& answer, double threshold)
{
    Json json = {{"cpu", nullptr}, {"gpu", nullptr}, {"corrected_speedup", nullptr}, {"corrected_run_on", nullptr}};
    double correction = 1;
    for (const DeviceRuns& one : runs) {
        json[one.is_device ? "gpu" : "cpu"] = {{"job_count", one.job_count}, {"ratio", one.ratio}};
        correction *= one.is_device ? 1 / one.ratio : one.ratio;
    }
    if (json["cpu"].is_null() || json["gpu"].is_null()) return json;
    json["corrected_speedup"] = answer.speedup * correction;
    json["corrected_run_on"] = answer.speedup * correction > threshold ? "GPU" : "CPU";
    return json;
}

Answer predict(Database* database, Call call)
{
    const std::string request_id = call.request.request_id;
    Result<CenterQuestion> asked = parse_question(call, Kind::kPredict);
    if (!asked) co_return net::problem(asked.error(), request_id);
    const Result<Completed> completed = co_await complete_question_of(database, std::move(*asked));
    if (!completed) co_return net::problem(completed.error(), request_id);
    const SpeedupAnswer answer = predict_speedup(completed->question);
    Json json = to_json(answer);
    json.update(completed->known);
    if (!completed->known.empty()) json["runs"] = runs_json(completed->runs, answer, completed->question.threshold);
    co_return json_response(200, json);
}

Answer draw(Database* database, Call call)
{
    const std::string request_id = call.request.request_id;
    Result<CenterQuestion> asked = parse_question(call, Kind::kCurve);
    if (!asked) co_return net::problem(asked.error(), request_id);
    const auto points = static_cast<std::size_t>(asked->points);
    const Result<Completed> completed = co_await complete_question_of(database, std::move(*asked));
    if (!completed) co_return net::problem(completed.error(), request_id);
    Json json = completed->known;
    json["threshold"] = completed->question.threshold;
    json["items"] = to_json(speedup_curve(completed->question, points));
    co_return json_response(200, json);
}

Answer list_accuracy(Database* database, Call call)
{
    const std::string request_id = call.request.request_id;
    const Result<PageRequest> page = parse_page_request(call.request);
    if (!page) co_return net::problem(page.error(), request_id);
    const std::string center = query_text(call.request.query, "center");
    auto work = [&](pqxx::work& transaction) {
        return select_device_accuracy(transaction, center, page->size, page->after);
    };
    const Result<Page<DeviceAccuracy>> accuracy = co_await database->run(std::move(work));
    if (!accuracy) co_return net::problem(accuracy.error(), request_id);
    co_return render_page(*accuracy);
}

} // namespace

void add_speedup_routes(ApiRouter& router, Database& database)
{
    using net::Method;
    const auto bind = [&database](auto handler) -> ApiHandler {
        return [handler, target = &database](Call call) { return handler(target, std::move(call)); };
    };
    router.add(Method::kPost, "/speedup:predict", Permission::kReadNetwork, bind(predict));
    router.add(Method::kPost, "/speedup:curve", Permission::kReadNetwork, bind(draw));
    router.add(Method::kGet, "/speedup-accuracy", Permission::kReadNetwork, bind(list_accuracy));
}

} // namespace fathom::server
