#include "cli/probes/probe_task_compose.hpp"

#include "cli/client/json_view.hpp"
#include "cli/operators/operator_argument.hpp"
#include "cli/probes/probe_task_steps.hpp"
#include "core/base/parse_number.hpp"
#include "core/decide/probing/generate_task.hpp"

#include <map>
#include <ostream>

namespace fathom::cli {
namespace {

struct ComposeOptions {
    std::string from_job;
    std::vector<std::string> picks;
    std::vector<std::string> operators;
    std::vector<std::string> connections;
    std::string name;
    std::string job_type;
    std::int64_t ratio{1000};
    std::optional<std::int64_t> repeats;
    std::optional<double> limit_s;
    bool test{false};
    bool release{false};
};

Error bad_pick(const std::string& pick, const std::string& why)
{
    return Error{Errc::kInvalid, "--pick " + pick + ": " + why};
}

OperatorUse use_of(const Json& item, std::vector<FieldError>& errors)
{
    Json plain = Json::object();
    for (const char* name : {"id", "version", "parameters", "count", "share", "remainder"}) {
        if (const Json& value = member(item, name); !value.is_null()) plain[name] = value;
    }
    return parse_operator_use(plain, "operators", errors);
}

/// `fft3d:2` is the second fft3d in the order of `fathom job operators`.
Result<OperatorUse> find_pick(const std::string& pick, const Json& work)
{
    const std::size_t colon = pick.find(':');
    const std::string id = pick.substr(0, colon);
    std::size_t wanted = 1;
    if (colon != std::string::npos) {
        wanted = parse_number<std::size_t>(std::string_view(pick).substr(colon + 1)).value_or(0);
        if (wanted == 0) return bad_pick(pick, "after the colon stands which one: 1 for the first");
    }
    std::size_t seen = 0;
    for (const Json& item : items_of(work, "operators")) {
        if (text_of(item, "id") != id || ++seen != wanted) continue;
        std::vector<FieldError> errors;
        OperatorUse use = use_of(item, errors);
        if (!errors.empty()) return bad_pick(pick, errors[0].field + " " + errors[0].detail);
        return use;
    }
    return bad_pick(pick, "the job has " + std::to_string(seen) + " operators " + id +
                              "; `fathom job operators` lists what can be picked");
}

/// `dgemm:m=512,n=512,count=3` as parse_operator_arguments() wants it: `dgemm:m=512;n=512=3`.
Result<OperatorUse> parse_operator(const std::string& text)
{
    const std::size_t colon = text.find(':');
    std::string rewritten = text.substr(0, colon);
    std::string count;
    char separator = ':';
    for (std::size_t begin = colon; begin != std::string::npos;) {
        const std::size_t end = text.find_first_of(",;", begin + 1);
        const std::string part = text.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
        begin = end;
        if (part.starts_with("count=")) {
            count = part.substr(5);
            continue;
        }
        rewritten += separator + part;
        separator = ';';
    }
    Result<std::vector<OperatorUse>> uses = parse_operator_arguments(rewritten + count, OperatorCount::kOptional);
    if (!uses) return uses.error();
    return std::move(uses->front());
}

Result<std::vector<OperatorUse>> collect(Session& session, const ComposeOptions& options)
{
    std::vector<OperatorUse> uses;
    if (!options.picks.empty()) {
        const Result<Json> work = session.get("/jobs/" + path_segment(options.from_job) + "/operators");
        if (!work) return work.error();
        for (const std::string& pick : options.picks) {
            Result<OperatorUse> use = find_pick(pick, *work);
            if (!use) return use.error();
            use->count = scale_count(use->count, options.ratio);
            uses.push_back(std::move(*use));
        }
    }
    for (const std::string& text : options.operators) {
        Result<OperatorUse> use = parse_operator(text);
        if (!use) return use.error();
        uses.push_back(std::move(*use));
    }
    return uses;
}

/// `P1->P3`: the third operator computes on the averaged outputs of the first (M5).
Result<void> connect(std::vector<OperatorUse>& uses, const std::vector<std::string>& connections)
{
    if (connections.empty()) return {};
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        uses[i].label = "P" + std::to_string(i + 1);
        places[uses[i].label] = i;
    }
    for (const std::string& connection : connections) {
        const std::size_t arrow = connection.find_first_of("-:");
        const bool is_arrow = arrow != std::string::npos && connection.compare(arrow, 2, "->") == 0;
        const std::string from = connection.substr(0, arrow);
        const std::string to = arrow == std::string::npos ? "" : connection.substr(arrow + (is_arrow ? 2 : 1));
        if (!places.contains(from) || !places.contains(to))
            return Error{Errc::kInvalid, "--connect " + connection + ": write 'P1->P3'; there are P1 to P" +
                                             std::to_string(uses.size()) + ", picks first, then operators"};
        uses[places[to]].inputs.push_back(from);
    }
    std::vector<FieldError> errors;
    check_data_flow(uses, "operators", errors);
    if (!errors.empty()) return Error{Errc::kInvalid, "the operators cannot be connected so", std::move(errors)};
    return {};
}

Result<Json> request_of(Session& session, const ComposeOptions& options)
{
    Result<std::vector<OperatorUse>> uses = collect(session, options);
    if (!uses) return uses.error();
    if (const Result<void> connected = connect(*uses, options.connections); !connected) return connected.error();
    Json body = Json::object();
    if (!options.from_job.empty()) body["from_job"] = options.from_job;
    if (!options.job_type.empty()) body["job_type"] = options.job_type;
    if (uses->empty()) {
        body["name"] = options.name;
        return body;
    }
    Json document{{"name", options.name}, {"operators", Json::array()}};
    for (const OperatorUse& use : *uses)
        document["operators"].push_back(to_json(use));
    if (options.repeats) document["repeats"] = *options.repeats;
    if (options.limit_s) document["limit_s"] = *options.limit_s;
    body["document"] = std::move(document);
    return body;
}

/// @error kInvalid  options that do not go together.
Result<void> check_options(const ComposeOptions& options)
{
    if (options.from_job.empty() && (options.operators.empty() || !options.picks.empty()))
        return Error{Errc::kInvalid, "give --from-job, with --pick for some of its operators, or --operator"};
    if (options.picks.empty() && options.operators.empty() && (options.repeats || options.limit_s))
        return Error{Errc::kInvalid, "--repeats and --limit-s are for picked operators"};
    return {};
}

Outcome compose(Session& session, const ComposeOptions& options)
{
    if (const Result<void> checked = check_options(options); !checked) return checked.error();
    const Result<Json> body = request_of(session, options);
    if (!body) return body.error();
    Result<Json> task = session.post("/probe-tasks", *body);
    if (!task) return task.error();
    const std::string id = text_of(*task, "id");
    if (options.test || options.release) {
        if (!session.wants_json()) say(session, "Created " + id + "; its test runs.");
        task = test_probe_task(session, id, TestWaiting::kUntilEnd);
        if (!task) return task.error();
    }
    const bool has_passed = text_of(*task, "state") == "tested";
    if (options.release && has_passed) {
        task = session.post("/probe-tasks/" + path_segment(id) + ":release", Json());
        if (!task) return task.error();
    }
    const Outcome printed = print_answer(session, task, describe_probe_task);
    if (!printed) return printed;
    return (options.test || options.release) && !has_passed ? ExitCode::kFailed : ExitCode::kOk;
}

} // namespace

void add_probe_task_compose(CLI::App& task, Invocation& invocation)
{
    auto options = std::make_shared<ComposeOptions>();
    CLI::App& command =
        add_verb(task, "compose", "A probe task from a job's operators, or from any (exit 1 when its test fails)",
                 "fathom probe task compose --from-job job_01JD0000000000000000000000 --pick dgemm --pick fft3d:2 "
                 "--operator dgemm:m=512,n=512,k=512,count=3 --connect 'P1->P3' --name solver --test --release");
    command.add_option("--from-job", options->from_job, "The job that it stands for; alone: all its operators");
    command
        .add_option("--pick", options->picks,
                    "One of the job's operators, as `fathom job operators` lists them: ID or ID:N; counts are divided "
                    "by --ratio")
        ->allow_extra_args(false);
    command.add_option("--operator", options->operators, "Any operator: ID[:PARAM=VALUE,…][,count=N]")
        ->allow_extra_args(false);
    command
        .add_option("--connect", options->connections,
                    "'P1->P3' (or P1:P3): the third computes on the averaged outputs of the first; picks come first, "
                    "then operators")
        ->allow_extra_args(false);
    command.add_option("--name", options->name, "The task's name")->required();
    command.add_option("--job-type", options->job_type, "The type of jobs that it stands for (default: the job's)");
    command.add_option("--ratio", options->ratio, "What counts of picks are divided by (default 1000)")
        ->check(CLI::Range(1, 1'000'000'000));
    command.add_option("--repeats", options->repeats, "Samples of each operator");
    command.add_option("--limit-s", options->limit_s, "The test refuses it when it takes longer (default 10)");
    command.add_flag("--test", options->test, "Try it on one small unit, and wait for that");
    command.add_flag("--release", options->release, "Try it, and put it into use when it passes");
    on_chosen(command, invocation, std::move(options), compose);
}

} // namespace fathom::cli
