#include "cli/profile/speedup_options.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::cli {

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

void add_machine_options(CLI::App& verb, const std::shared_ptr<QuestionOptions>& options)
{
    add_number(verb, options, "machines", "how many machines compute");
    add_number(verb, options, "per_aggregation", "how many results one machine aggregates (default 10)");
    add_number(verb, options, "network_gb_s", "speed between machines, GB/s");
    add_number(verb, options, "bus_gb_s", "speed of the bus to the GPU, GB/s (default 12.8)");
    add_number(verb, options, "gpu_parallelism", "parallelism of the GPU, 64 to 1024");
    add_number(verb, options, "core_ratio", "one core of the GPU against one of the CPU (default 1)");
    add_number(verb, options, "compressed_fraction", "size after compression / before");
    add_number(verb, options, "compression_gb_s", "speed of compression, GB/s");
    add_number(verb, options, "threshold", "the GPU must be this many times faster (default 1)");
    const auto add_text = [&](const char* flag, const char* field, const char* description) {
        verb.add_option_function<std::string>(
            flag, [options, field](const std::string& text) { options->question[field] = text; }, description);
    };
    add_text("--center", "center", "take what is left out from what this center measured and reports");
    verb.add_flag_callback(
        "--compressed", [options] { options->question["compressed"] = true; },
        "with --center: data are compressed on their way, as fast and as far as its probes found");
}

Error with_flags(Error error)
{
    error.detail = "the question cannot be answered";
    for (FieldError& field : error.fields) {
        field.field = "--" + field.field;
        std::replace(field.field.begin(), field.field.end(), '_', '-');
    }
    return error;
}

} // namespace fathom::cli
