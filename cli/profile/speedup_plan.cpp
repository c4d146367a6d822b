#include "cli/profile/speedup_plan.hpp"

#include "cli/client/input_file.hpp"
#include "cli/client/json_view.hpp"
#include "cli/profile/speedup_options.hpp"
#include "cli/text/format_units.hpp"
#include "core/decide/prediction/query_plan.hpp"
#include "core/decide/prediction/spark_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <ostream>

namespace fathom::cli {
namespace {

constexpr std::size_t kMaxPlanBytes = 64UL << 20U;
constexpr std::size_t kMaxPlanDepth = 1000;

struct PlanOptions {
    std::string path;
    std::string format = "postgres";
    std::optional<std::int64_t> execution;
    std::optional<double> linear_t;
    std::optional<double> quadratic_t;
    std::shared_ptr<QuestionOptions> machine = std::make_shared<QuestionOptions>();
};

Result<std::vector<PlanOperator>> read_spark_log(const PlanOptions& options)
{
    std::ifstream file(options.path);
    if (!file) return Error{Errc::kInvalid, options.path + ": cannot be read"};
    SparkLog log;
    std::int64_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (const Result<void> added = log.add_line(line); !added)
            return Error{Errc::kInvalid,
                         options.path + ", line " + std::to_string(number) + ": " + added.error().detail};
    }
    Result<std::vector<PlanOperator>> plan = log.plan(options.execution);
    if (!plan) return in_file(options.path, plan.error());
    return plan;
}

Result<std::vector<PlanOperator>> read_plan(Session& session, const PlanOptions& options)
{
    if (options.format == "spark") return read_spark_log(options);
    const Result<Json> explain =
        read_input_file(options.path, session.console(), {.max_bytes = kMaxPlanBytes, .max_depth = kMaxPlanDepth});
    if (!explain) return explain.error();
    Result<std::vector<PlanOperator>> plan = read_postgres_plan(*explain);
    if (!plan) return in_file(options.path, plan.error());
    return plan;
}

/// The machines' part of the model for a class, and its t where a center has measured it.
struct ClassConditions {
    SpeedupQuestion question;
    std::optional<double> t;
};

Result<ClassConditions> conditions_of(Session& session, const PlanOptions& options, OperatorClass operator_class,
                                      std::optional<double> given_t)
{
    Json question = options.machine->question;
    question["class"] = to_string(operator_class);
    question["input_gb"] = 1; // each operator has its own
    if (given_t) question["seconds_per_100mb"] = *given_t;
    ClassConditions conditions{.question = {}, .t = given_t};
    if (question.contains("center")) {
        const Result<Json> answer = session.post("/speedup:predict", question);
        if (!answer) return with_flags(answer.error());
        for (const char* field : {"center", "compressed"})
            question.erase(field);
        for (const auto& [field, one] : member(*answer, "coefficients").items())
            question[field] = number_of(one, "value").value_or(0);
        conditions.t = number_of(question, "seconds_per_100mb");
    } else if (!given_t) {
        question["seconds_per_100mb"] = 1; // the plan's own times tell
    }
    const Result<SpeedupQuestion> parsed = parse_speedup_question(question);
    if (!parsed) return with_flags(parsed.error());
    conditions.question = *parsed;
    return conditions;
}

/// What machines make of it that have CPUs or GPUs, but not both.
std::string split_line(const SplitAnswer& split)
{
    if (!split.runs_as_steps)
        return fmt::format("On machines of one kind each: whole on {}s, {}; no division into steps is better\n",
                           split.whole_runs_on_gpu ? "GPU" : "CPU", format_duration(split.total_s));
    return fmt::format("On machines of one kind each: in steps as under STEP ON, {}, of which {} pass results "
                       "between them; whole on {}s {}\n",
                       format_duration(split.total_s), format_duration(split.passing_s),
                       split.whole_runs_on_gpu ? "GPU" : "CPU",
                       format_duration(split.whole_runs_on_gpu ? split.gpu_s : split.cpu_s));
}

std::string answer_text(const PlanAnswer& answer, TableStyle style)
{
    Table table({{"OPERATOR", Align::kLeft, 1, true},
                 {"CLASS"},
                 {"INPUT", Align::kRight},
                 {"OUTPUT", Align::kRight},
                 {"S/100MB", Align::kRight},
                 {"CPU", Align::kRight},
                 {"GPU", Align::kRight},
                 {"SPEED-UP", Align::kRight},
                 {"RUN ON"},
                 {"STEP ON"}});
    for (std::size_t i = 0; i < answer.operators.size(); ++i) {
        const PlannedOperator& one = answer.operators[i];
        table.add_row({std::string(2 * std::min<std::size_t>(one.step.depth, 20), ' ') + one.step.name,
                       std::string(to_string(one.step.operator_class)), format_bytes(one.step.input_bytes),
                       format_bytes(one.step.output_bytes), format_number(one.seconds_per_100mb),
                       format_duration(one.answer.cpu_s), format_duration(one.answer.gpu_s),
                       fmt::format("{:.3f}", one.answer.speedup), one.answer.runs_on_gpu ? "GPU" : "CPU",
                       answer.split.steps[i].runs_on_gpu ? "GPU" : "CPU"});
    }
    return table.render(style) +
           fmt::format("\nAll on CPUs {}, all on GPUs {}, each where it is faster {}: "
                       "{:.3f} times as fast as on CPUs\n",
                       format_duration(answer.cpu_s), format_duration(answer.gpu_s), format_duration(answer.best_s),
                       answer.gain) +
           split_line(answer.split);
}

Outcome plan(Session& session, const PlanOptions& options)
{
    const Result<std::vector<PlanOperator>> operators = read_plan(session, options);
    if (!operators) return operators.error();
    PlanConditions conditions;
    const auto has = [&](OperatorClass operator_class) {
        return std::any_of(operators->begin(), operators->end(), [&](const PlanOperator& one) {
            return one.operator_class == operator_class && one.input_bytes > 0;
        });
    };
    if (has(OperatorClass::kLinear)) {
        const Result<ClassConditions> linear =
            conditions_of(session, options, OperatorClass::kLinear, options.linear_t);
        if (!linear) return linear.error();
        conditions.linear = linear->question;
        conditions.linear_t = linear->t;
    }
    if (has(OperatorClass::kQuadratic)) {
        const Result<ClassConditions> quadratic =
            conditions_of(session, options, OperatorClass::kQuadratic, options.quadratic_t);
        if (!quadratic) return quadratic.error();
        conditions.quadratic = quadratic->question;
        conditions.quadratic_t = quadratic->t;
    }
    const Result<PlanAnswer> answer = plan_devices(*operators, conditions);
    if (!answer) return answer.error();
    if (session.wants_json())
        print_json(session, to_json(*answer));
    else
        *session.console().out << answer_text(*answer, table_style(session));
    return ExitCode::kOk;
}

} // namespace

void add_speedup_plan_command(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<PlanOptions>();
    CLI::App& verb = add_verb(noun, "plan", "Where each operator of a query should run, by its physical plan",
                              "fathom speedup plan explain.json --machines 8 --network-gb-s 1.2 --gpu-parallelism 132");
    verb.add_option("plan", options->path,
                    "EXPLAIN (FORMAT JSON) of PostgreSQL, with ANALYZE or without, or an event log of Spark")
        ->required()
        ->type_name("FILE");
    verb.add_option("--format", options->format, "postgres (default) or spark")
        ->check(CLI::IsMember({"postgres", "spark"}));
    verb.add_option("--execution", options->execution, "Spark: the number of the query (default: the last)");
    verb.add_option(
            "--linear-seconds-per-100mb", options->linear_t,
            "what one CPU needs for 100 MB in operators that take each record once (default: by the plan's times)")
        ->check(CLI::Range(0.001, 10.0));
    verb.add_option("--quadratic-seconds-per-100mb", options->quadratic_t, "the same in joins")
        ->check(CLI::Range(0.001, 10.0));
    add_machine_options(verb, options->machine);
    on_chosen(verb, invocation, options, plan);
}

} // namespace fathom::cli
