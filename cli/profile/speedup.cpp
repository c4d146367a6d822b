#include "core/decide/prediction/speedup.hpp"

#include "cli/client/json_view.hpp"
#include "cli/profile/commands.hpp"
#include "cli/profile/speedup_options.hpp"
#include "cli/profile/speedup_plan.hpp"
#include "cli/text/format_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace fathom::cli {
namespace {

void add_question(CLI::App& verb, const std::shared_ptr<QuestionOptions>& options, bool has_t)
{
    verb.add_option_function<std::string>(
            "--class", [options](const std::string& name) { options->question["class"] = name; },
            "linear (each record once, a filter) or quadratic (records against each other, a join)")
        ->type_name("CLASS");
    if (has_t) add_number(verb, options, "seconds_per_100mb", "what one CPU needs for 100 MB, 0.001 to 10 s");
    add_number(verb, options, "input_gb", "input of one machine");
    add_number(verb, options, "output_fraction", "output / input (default 0.1)");
    add_machine_options(verb, options);
    verb.add_option_function<std::string>(
        "--operator", [options](const std::string& text) { options->question["operator"] = text; },
        "with --center: whose measured time is meant (default: stream_triad, sort)");
}

/// The server's answer with the coefficients that it took from a center.
std::string center_answer_text(Session& session, const Json& answer)
{
    const auto seconds = [&](const char* name) { return fmt::format("{:.4f} s", number_of(answer, name).value_or(0)); };
    std::string text =
        fmt::format("CPU       {}\nGPU       {}\nSpeed-up  {:.4f}\nRun on    {}\n", seconds("cpu_s"), seconds("gpu_s"),
                    number_of(answer, "speedup").value_or(0), text_of(answer, "run_on"));
    const Json& runs = member(answer, "runs");
    if (const std::optional<double> corrected = number_of(runs, "corrected_speedup"))
        text += fmt::format("Corrected {:.4f}, run on {}: by {} CPU and {} GPU jobs there\n", *corrected,
                            text_of(runs, "corrected_run_on"), count_of(member(runs, "cpu"), "job_count"),
                            count_of(member(runs, "gpu"), "job_count"));
    Table table({{"COEFFICIENT"}, {"VALUE", Align::kRight}, {"SOURCE"}, {"FROM", Align::kLeft, 1, true}});
    for (const auto& [field, one] : member(answer, "coefficients").items())
        table.add_row(
            {field, format_number(number_of(one, "value").value_or(0)), text_of(one, "source"), text_of(one, "basis")});
    return text + "\n" + table.render(table_style(session));
}

Outcome predict(Session& session, const QuestionOptions& options)
{
    if (options.question.contains("center"))
        return print_answer(session, session.post("/speedup:predict", options.question),
                            [&](const Json& answer) { return center_answer_text(session, answer); });
    const Result<SpeedupQuestion> question = parse_speedup_question(options.question);
    if (!question) return with_flags(question.error());
    const SpeedupAnswer answer = predict_speedup(*question);
    if (session.wants_json()) {
        print_json(session, to_json(answer));
        return ExitCode::kOk;
    }
    *session.console().out << fmt::format("CPU       {:.4f} s\nGPU       {:.4f} s\nSpeed-up  {:.4f}\nRun on    {}\n",
                                          answer.cpu_s, answer.gpu_s, answer.speedup,
                                          answer.runs_on_gpu ? "GPU" : "CPU");
    return ExitCode::kOk;
}

/// A row for each t with a bar as long as the speed-up's logarithm, from the least to the largest.
std::string draw(const std::vector<SpeedupPoint>& points, double threshold)
{
    constexpr double kWidth = 50;
    const auto [least, most] = std::minmax_element(points.begin(), points.end(),
                                                   [](const auto& a, const auto& b) { return a.speedup < b.speedup; });
    const double from = std::log(least->speedup);
    const double range = std::max(std::log(most->speedup) - from, 1e-9);
    std::string text = fmt::format("{:>10}  {:>9}  {}\n", "t [s]", "speed-up", "run on");
    for (const SpeedupPoint& point : points) {
        const auto length = static_cast<std::size_t>(std::lround(kWidth * (std::log(point.speedup) - from) / range));
        text +=
            fmt::format("{:>10.4f}  {:>9.4f}  {}{}{}\n", point.seconds_per_100mb, point.speedup,
                        point.speedup > threshold ? "GPU" : "CPU", length > 0 ? "     " : "", std::string(length, '#'));
    }
    return text;
}

Outcome curve_of_center(Session& session, const QuestionOptions& options)
{
    Json question = options.question;
    question["points"] = options.points;
    return print_answer(session, session.post("/speedup:curve", question), [](const Json& answer) {
        std::vector<SpeedupPoint> points;
        for (const Json& item : items_of(answer))
            points.push_back(
                {number_of(item, "seconds_per_100mb").value_or(0), number_of(item, "speedup").value_or(0)});
        if (points.empty()) return std::string();
        return draw(points, number_of(answer, "threshold").value_or(1));
    });
}

Outcome curve(Session& session, const QuestionOptions& options)
{
    if (options.question.contains("center")) return curve_of_center(session, options);
    Json whole = options.question;
    whole["seconds_per_100mb"] = 1; // the curve goes through all of them
    const Result<SpeedupQuestion> question = parse_speedup_question(whole);
    if (!question) return with_flags(question.error());
    const std::vector<SpeedupPoint> points = speedup_curve(*question, static_cast<std::size_t>(options.points));
    if (!session.wants_json()) {
        *session.console().out << draw(points, question->threshold);
        return ExitCode::kOk;
    }
    print_json(session, {{"items", to_json(points)}});
    return ExitCode::kOk;
}

struct AccuracyOptions : ListOptions {
    std::string center;
};

Table accuracy_table(const Json& items, Timestamp /*now*/)
{
    Table table({{"CENTER"},
                 {"JOB TYPE"},
                 {"DEVICE"},
                 {"JOBS", Align::kRight},
                 {"PROMISED", Align::kRight},
                 {"ACTUAL", Align::kRight},
                 {"ACTUAL/PROMISED", Align::kRight}});
    for (const Json& item : items)
        table.add_row({text_of(item, "center"), text_of(item, "job_type"), text_of(item, "resource_type"),
                       count_of(item, "job_count"), duration_of(item, "promised_s"), duration_of(item, "actual_s"),
                       format_number(number_of(item, "ratio").value_or(0))});
    return table;
}

Outcome list_accuracy(Session& session, const AccuracyOptions& options)
{
    return print_list(session,
                      {.path = "/speedup-accuracy",
                       .query = {{"center", options.center}},
                       .table = accuracy_table,
                       .when_empty = "No job with a prediction has succeeded in the last 90 days."},
                      options);
}

} // namespace

void add_speedup_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "speedup", "CPU or GPU: predicts which is faster for a batch computation");
    auto question = std::make_shared<QuestionOptions>();
    CLI::App& one = add_verb(noun, "predict", "How long on CPUs, how long on GPUs, and which to take",
                             "fathom speedup predict --class quadratic --seconds-per-100mb 0.2 --input-gb 1 "
                             "--machines 1000 --network-gb-s 10 --gpu-parallelism 64");
    add_question(one, question, /*has_t=*/true);
    on_chosen(one, invocation, question, predict);

    auto range = std::make_shared<QuestionOptions>();
    CLI::App& all = add_verb(noun, "curve", "The speed-up against the CPU's time for 100 MB, 0.001 to 10 s",
                             "fathom speedup curve --class linear --input-gb 1 --machines 1000 --network-gb-s 10 "
                             "--gpu-parallelism 64");
    add_question(all, range, /*has_t=*/false);
    all.add_option("--points", range->points, "How many points (default 21)")->check(CLI::Range(2, 1000));
    on_chosen(all, invocation, range, curve);

    add_speedup_plan_command(noun, invocation);

    auto accuracy_options = std::make_shared<AccuracyOptions>();
    CLI::App& accuracy = add_verb(noun, "accuracy", "How jobs on CPUs and on GPUs went against what was promised",
                                  "fathom speedup accuracy --center alpha");
    accuracy.add_option("--center", accuracy_options->center, "Only of this center (name or id)");
    add_list_options(accuracy, *accuracy_options);
    on_chosen(accuracy, invocation, std::move(accuracy_options), list_accuracy);
}

} // namespace fathom::cli
