#include "core/decide/speedup.hpp"

#include "cli/command_line.hpp"
#include "cli/format_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace fathom::cli {
namespace {

/// Every field of the question by its name in REST; the flag is the name with dashes.
struct QuestionOptions {
    Json question = Json::object();
    std::int64_t points = 21;
};

void add_number(CLI::App& verb, const std::shared_ptr<QuestionOptions>& options, const std::string& field,
                const std::string& description)
{
    std::string flag = "--" + field;
    std::replace(flag.begin(), flag.end(), '_', '-');
    verb.add_option_function<double>(
            flag,
            [options, field](const double& value) {
                const bool is_whole = std::nearbyint(value) == value && std::abs(value) < 1e15;
                options->question[field] = is_whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
            },
            description)
        ->type_name("NUMBER");
}

void add_question(CLI::App& verb, const std::shared_ptr<QuestionOptions>& options, bool has_t)
{
    verb.add_option_function<std::string>(
            "--class", [options](const std::string& name) { options->question["class"] = name; },
            "linear (each record once, a filter) or quadratic (records against each other, a join)")
        ->type_name("CLASS");
    if (has_t) add_number(verb, options, "seconds_per_100mb", "what one CPU needs for 100 MB, 0.001 to 10 s");
    add_number(verb, options, "input_gb", "input of one machine");
    add_number(verb, options, "output_fraction", "output / input (default 0.1)");
    add_number(verb, options, "machines", "how many machines compute");
    add_number(verb, options, "per_aggregation", "how many results one machine aggregates (default 10)");
    add_number(verb, options, "network_gb_s", "speed between machines, GB/s");
    add_number(verb, options, "bus_gb_s", "speed of the bus to the GPU, GB/s (default 12.8)");
    add_number(verb, options, "gpu_parallelism", "parallelism of the GPU, 64 to 1024");
    add_number(verb, options, "core_ratio", "one core of the GPU against one of the CPU (default 1)");
    add_number(verb, options, "compressed_fraction", "size after compression / before");
    add_number(verb, options, "compression_gb_s", "speed of compression, GB/s");
    add_number(verb, options, "threshold", "the GPU must be this many times faster (default 1)");
}

/// The errors name fields; people typed flags.
Error with_flags(Error error)
{
    error.detail = "the question cannot be answered";
    for (FieldError& field : error.fields) {
        field.field = "--" + field.field;
        std::replace(field.field.begin(), field.field.end(), '_', '-');
    }
    return error;
}

Outcome predict(Session& session, const QuestionOptions& options)
{
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

Outcome curve(Session& session, const QuestionOptions& options)
{
    Json whole = options.question;
    whole["seconds_per_100mb"] = 1; // the curve goes through all of them
    const Result<SpeedupQuestion> question = parse_speedup_question(whole);
    if (!question) return with_flags(question.error());
    const std::vector<SpeedupPoint> points = speedup_curve(*question, static_cast<std::size_t>(options.points));
    if (!session.wants_json()) {
        *session.console().out << draw(points, question->threshold);
        return ExitCode::kOk;
    }
    Json items = Json::array();
    for (const SpeedupPoint& point : points)
        items.push_back({{"seconds_per_100mb", point.seconds_per_100mb}, {"speedup", point.speedup}});
    print_json(session, {{"items", std::move(items)}});
    return ExitCode::kOk;
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
}

} // namespace fathom::cli
