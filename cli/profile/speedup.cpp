#include "cli/profile/speedup.hpp"

#include "cli/client/json_view.hpp"
#include "cli/profile/speedup_options.hpp"
#include "cli/profile/speedup_plan.hpp"
#include "cli/text/format_units.hpp"
#include "core/base/parse_number.hpp"
#include "core/decide/prediction/speedup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

namespace fathom::cli {
namespace {

void add_question(CLI::App& verb, const std::shared_ptr<QuestionOptions>& options, bool has_t)
{
    verb.add_option_function<std::string>(
            "--class", [options](const std::string& name) { options->question["class"] = name; },
            "linear (each record once, a filter), quadratic (records against each other, a join) or measured "
            "(--exponent, or of --center)")
        ->type_name("CLASS");
    add_number(verb, options, "exponent", "of the class measured: work grows as t to this power, 0.1 to 10");
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

/// A question for the curve of one network and class.
struct CurveQuestion {
    std::string network; ///< its name; empty: it has none
    Json question;
};

/// The speed-up against t for one network and class.
struct NamedCurve {
    CurveQuestion asked;
    Json answer; ///< as the server gives it
    double threshold = 1;
    std::vector<SpeedupPoint> points;
};

/// "10GbE=1.25": a name, and GB/s between machines.
Result<std::pair<std::string, double>> parse_network(const std::string& text)
{
    const std::size_t sign = text.rfind('=');
    const auto gb_s = sign == std::string::npos ? std::nullopt : parse_number<double>(text.substr(sign + 1));
    if (sign == 0 || !gb_s || !(*gb_s > 0))
        return Error{Errc::kInvalid, "--network: \"" + text + "\" is not NAME=GB/S, as 10GbE=1.25 is"};
    return std::pair(text.substr(0, sign), *gb_s);
}

/// All combinations of the networks and classes that were named, both classes where none was.
Result<std::vector<CurveQuestion>> curve_questions(const QuestionOptions& options)
{
    std::vector<std::string> classes{"linear", "quadratic"};
    if (options.question.contains("class")) classes = {text_of(options.question, "class")};
    std::vector<CurveQuestion> questions;
    const auto add = [&](const std::string& network, const Json& question) {
        for (const std::string& name : classes) {
            questions.push_back({network, question});
            questions.back().question["class"] = name;
        }
    };
    if (options.networks.empty()) add("", options.question);
    for (const std::string& text : options.networks) {
        const Result<std::pair<std::string, double>> network = parse_network(text);
        if (!network) return network.error();
        Json question = options.question;
        question["network_gb_s"] = network->second;
        add(network->first, question);
    }
    return questions;
}

/// The points of one curve, by the server where a center is to say what the question leaves out.
Result<NamedCurve> draw_curve(Session& session, const CurveQuestion& asked, std::int64_t points)
{
    NamedCurve curve{.asked = asked, .answer = {}, .points = {}};
    Json question = asked.question;
    if (question.contains("center")) {
        question["points"] = points;
        Result<Json> answer = session.post("/speedup:curve", question);
        if (!answer) return answer.error();
        for (const Json& item : items_of(*answer))
            curve.points.push_back(
                {number_of(item, "seconds_per_100mb").value_or(0), number_of(item, "speedup").value_or(0)});
        curve.threshold = number_of(*answer, "threshold").value_or(1);
        curve.answer = std::move(*answer);
        return curve;
    }
    question["seconds_per_100mb"] = 1; // the curve goes through all of them
    const Result<SpeedupQuestion> parsed = parse_speedup_question(question);
    if (!parsed) return with_flags(parsed.error());
    curve.points = speedup_curve(*parsed, static_cast<std::size_t>(points));
    curve.threshold = parsed->threshold;
    curve.answer = {{"items", to_json(curve.points)}};
    return curve;
}

/// As one curve has always been shown; several each under its name.
std::string curves_text(const std::vector<NamedCurve>& curves)
{
    std::string text;
    for (const NamedCurve& curve : curves) {
        if (curve.points.empty()) continue;
        if (curves.size() > 1) {
            text += text.empty() ? "" : "\n";
            if (!curve.asked.network.empty()) text += curve.asked.network + ", ";
            if (const std::optional<double> gb_s = number_of(curve.asked.question, "network_gb_s"))
                text += fmt::format("{:g} GB/s, ", *gb_s);
            text += text_of(curve.asked.question, "class") + "\n";
        }
        text += draw(curve.points, curve.threshold);
    }
    return text;
}

Json curves_json(const std::vector<NamedCurve>& curves)
{
    if (curves.size() == 1) return curves.front().answer;
    Json list = Json::array();
    for (const NamedCurve& curve : curves) {
        Json& one = list.emplace_back(curve.answer);
        one["class"] = text_of(curve.asked.question, "class");
        if (!curve.asked.network.empty()) one["network"] = curve.asked.network;
        if (const std::optional<double> gb_s = number_of(curve.asked.question, "network_gb_s"))
            one["network_gb_s"] = *gb_s;
    }
    return {{"curves", std::move(list)}};
}

Outcome curve(Session& session, const QuestionOptions& options)
{
    const Result<std::vector<CurveQuestion>> questions = curve_questions(options);
    if (!questions) return questions.error();
    std::vector<NamedCurve> curves;
    for (const CurveQuestion& question : *questions) {
        Result<NamedCurve> one = draw_curve(session, question, options.points);
        if (!one) return one.error();
        curves.push_back(std::move(*one));
    }
    if (session.wants_json())
        print_json(session, curves_json(curves));
    else
        *session.console().out << curves_text(curves);
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
                 {"RAW PREDICTION", Align::kRight},
                 {"ACTUAL", Align::kRight},
                 {"ACTUAL/RAW", Align::kRight}});
    for (const Json& item : items)
        table.add_row({text_of(item, "center"), text_of(item, "job_type"), text_of(item, "resource_type"),
                       count_of(item, "job_count"), duration_of(item, "raw_prediction_s"),
                       duration_of(item, "actual_s"), format_number(number_of(item, "ratio").value_or(0))});
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
    CLI::App& all = add_verb(
        noun, "curve", "The speed-up against the CPU's time for 100 MB, 0.001 to 10 s, for each network and class",
        "fathom speedup curve --input-gb 1 --machines 1000 --network 10GbE=1.25 "
        "--network 100Gb-IB=10 --gpu-parallelism 64");
    add_question(all, range, /*has_t=*/false);
    all.get_option("--class")->description(
        "linear, quadratic or measured (default: a curve for linear and one for quadratic)");
    all.add_option("--network", range->networks,
                   "a curve for a network of this name and speed between machines; may be repeated")
        ->type_name("NAME=GB/S")
        ->allow_extra_args(false)
        ->excludes("--network-gb-s");
    all.add_option("--points", range->points, "How many points (default 21)")->check(CLI::Range(2, 1000));
    on_chosen(all, invocation, range, curve);

    add_speedup_plan_command(noun, invocation);

    auto accuracy_options = std::make_shared<AccuracyOptions>();
    CLI::App& accuracy = add_verb(noun, "accuracy", "How jobs on CPUs and on GPUs went against their raw predictions",
                                  "fathom speedup accuracy --center alpha");
    accuracy.add_option("--center", accuracy_options->center, "Only of this center (name or id)");
    add_list_options(accuracy, *accuracy_options);
    on_chosen(accuracy, invocation, std::move(accuracy_options), list_accuracy);
}

} // namespace fathom::cli
