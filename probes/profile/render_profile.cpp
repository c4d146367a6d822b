#include "probes/profile/render_profile.hpp"

#include "core/decide/probing/generate_task.hpp"
#include "probes/profile/render_own_code.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::profile {
namespace {

constexpr std::size_t kMaxLines = 300;       // of calls in JSON
constexpr std::size_t kMaxTableLines = 30;   // for people
constexpr double kSmallestTableShare = 5e-4; // lines below are summed up

std::string size_text(const ObservedCalls& calls)
{
    std::string text;
    for (const auto& [name, value] : calls.operation.parameters)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    if (calls.batch > 1) text += fmt::format(" × {}", calls.batch);
    return text.empty() ? "unknown" : text;
}

std::string seconds_text(double seconds)
{
    if (seconds >= 100) return fmt::format("{:.0f} s", seconds);
    if (seconds >= 0.1) return fmt::format("{:.2f} s", seconds);
    if (seconds >= 1e-4) return fmt::format("{:.2f} ms", seconds * 1e3);
    return fmt::format("{:.2f} µs", seconds * 1e6);
}

std::string percent(double share)
{
    return fmt::format("{:.1f} %", 100 * share);
}

std::string call_rows(const Profile& profile)
{
    std::string text;
    std::size_t rows = 0;
    double rest = 0;
    std::int64_t rest_calls = 0;
    for (const ProfileLine& line : profile.lines) {
        const ObservedOperation& operation = line.observed.operation;
        if (rows >= kMaxTableLines || (rows > 0 && operation.share < kSmallestTableShare)) {
            rest += operation.share;
            rest_calls += line.observed.calls;
            continue;
        }
        ++rows;
        text +=
            fmt::format("{:<24} {:<34} {:>10} {:>11}{} {:>8}  {}\n", operation.symbol, size_text(line.observed),
                        line.observed.calls, seconds_text(line.observed.seconds), line.observed.is_timed ? " " : "~",
                        percent(operation.share), line.operator_id.empty() ? "none" : line.operator_id);
    }
    if (rest_calls > 0)
        text += fmt::format("{:<24} {:<34} {:>10} {:>11}  {:>8}\n", "others", "", rest_calls,
                            seconds_text(rest * profile.thread_s), percent(rest));
    return text;
}

Json parameters_json(const Parameters& parameters)
{
    Json json = Json::object();
    for (const auto& [name, value] : parameters)
        json[name] = value;
    return json;
}

double rounded(double value)
{
    return std::round(value * 1e6) / 1e6;
}

Json call_json(const ProfileLine& line)
{
    const ObservedOperation& operation = line.observed.operation;
    Json json{{"symbol", operation.symbol},
              {"parameters", parameters_json(operation.parameters)},
              {"calls", line.observed.calls},
              {"seconds", line.observed.seconds},
              {"share", rounded(operation.share)}};
    if (line.observed.batch > 1) json["batch"] = line.observed.batch;
    if (!line.observed.is_timed) json["seconds_are_estimated"] = true;
    if (!line.operator_id.empty()) json["operator"] = line.operator_id;
    return json;
}

/// YAML in the flow style of a job file: names and numbers only, so nothing needs quotes.
std::string use_text(const OperatorUse& use)
{
    std::string parameters;
    for (const auto& [name, value] : use.parameters)
        parameters += fmt::format("{}{}: {}", parameters.empty() ? "" : ", ", name, value);
    std::string text = fmt::format("{{id: {}, parameters: {{{}}}, count: {}", use.id, parameters, use.count);
    if (use.share) text += fmt::format(", share: {:.6f}", *use.share);
    if (!use.label.empty()) text += ", label: " + use.label;
    if (!use.inputs.empty()) text += fmt::format(", inputs: [{}]", fmt::join(use.inputs, ", "));
    if (!use.remainder.empty()) text += ", remainder: " + use.remainder;
    return text + "}";
}

const OperatorManifest* find_manifest(const std::vector<OperatorManifest>& library, std::string_view id)
{
    const auto found =
        std::find_if(library.begin(), library.end(), [&](const OperatorManifest& one) { return one.id == id; });
    return found == library.end() ? nullptr : &*found;
}

/// How much of the time of what a use stands for goes as the operator's: the mean of its calls, or of all calls of the
/// operator where sizes were joined.
double similarity_of(const OperatorUse& use, const Profile& profile)
{
    const std::string key = operator_key(use.id, use.parameters);
    double time[2] = {};
    double alike[2] = {};
    for (const ProfileLine& line : profile.lines) {
        if (line.operator_id != use.id) continue;
        for (const int which : {0, 1}) {
            if (which == 0 && line.use != key) continue;
            time[which] += line.observed.seconds;
            alike[which] += line.observed.seconds * line.observed.similarity;
        }
    }
    return time[0] > 0 ? alike[0] / time[0] : time[1] > 0 ? alike[1] / time[1] : 1;
}

double similarity_of_stand_in(const OperatorUse& use, const Profile& profile)
{
    const auto found = profile.stand_in_similarity.find(operator_key(use.id, use.parameters) + use.remainder);
    return found == profile.stand_in_similarity.end() ? 1 : found->second;
}

bool is_serial(const OperatorUse& use, const Profile& profile)
{
    const auto is_other = [&](const ProfileLine& line) {
        return line.operator_id == use.id && !line.observed.is_serial;
    };
    return use.remainder.empty() && std::none_of(profile.lines.begin(), profile.lines.end(), is_other);
}

Json use_json(const OperatorUse& use, const Profile& profile, const std::vector<OperatorManifest>& library)
{
    Json json{{"id", use.id}, {"parameters", parameters_json(use.parameters)}, {"count", use.count}};
    if (const OperatorManifest* manifest = find_manifest(library, use.id)) {
        // Only what the manifest's formulas can be evaluated at was matched.
        json["operations"] = evaluate_formula(manifest->operation_count, use.parameters).value();
        json["bytes"] = evaluate_formula(manifest->byte_count, use.parameters).value();
    }
    if (use.share) json["share"] = rounded(*use.share);
    if (!use.label.empty()) json["label"] = use.label;
    if (!use.inputs.empty()) json["inputs"] = use.inputs;
    if (is_serial(use, profile)) json["serial"] = true;
    if (!use.remainder.empty()) json["remainder"] = use.remainder;
    const double similarity =
        use.remainder.empty() ? similarity_of(use, profile) : similarity_of_stand_in(use, profile);
    if (similarity < 1) json["similarity"] = rounded(similarity);
    return json;
}

/// What the probe task of a program is made from.
struct ProbedUses {
    std::vector<OperatorUse> uses;
    LeftOutOperators small; ///< what takes too little time
};

/// The sizes that take most of the time, as they are; data flow apart, since times are all that is asked.
ProbedUses probed_uses(const Profile& profile)
{
    ProbedUses probed;
    // What takes less is not worth a probe's time: its neighbours tell.
    constexpr double kMinShareOfTask = 0.005;
    const auto is_large = [](const OperatorUse& use) { return use.share.value_or(0) >= kMinShareOfTask; };
    const bool keeps_all = std::none_of(profile.operators.begin(), profile.operators.end(), is_large);
    for (const OperatorUse& use : profile.operators) {
        if (!keeps_all && !is_large(use)) {
            ++probed.small.count;
            *probed.small.share += use.share.value_or(0);
            continue;
        }
        OperatorUse& kept = probed.uses.emplace_back(use);
        kept.label.clear();
        kept.inputs.clear();
    }
    return probed;
}

constexpr GenerationRule kTaskRule{.keeps_sizes = true, .limits_kept_sizes = true};

ManifestLookup manifests_of(const std::vector<OperatorManifest>& library)
{
    return [&library](std::string_view id, std::int64_t /*version*/) { return find_manifest(library, id); };
}

Json probe_task_json(const Profile& profile, const std::vector<OperatorManifest>& library)
{
    return to_json(
        generate_probe_tasks("profile", probed_uses(profile).uses, manifests_of(library), kTaskRule).front());
}

} // namespace

std::string profile_table(const Profile& profile)
{
    std::string text =
        fmt::format("\nfathom profile: {} wall, {} processor time, {} of threads (shares are of these)\n",
                    seconds_text(profile.wall_s), seconds_text(profile.cpu_s), seconds_text(profile.thread_s));
    if (profile.lines.empty()) {
        text += "No calls of operators were seen.\n";
    } else {
        text += fmt::format("\n{:<24} {:<34} {:>10} {:>11}  {:>8}  {}\n", "CALL", "SIZE", "COUNT", "TIME", "SHARE",
                            "OPERATOR");
        text += call_rows(profile);
    }
    text += fmt::format("\noperators {}   calls without an operator {}   remainder {}\n", percent(profile.coverage),
                        percent(profile.missed), percent(std::max(0.0, 1 - profile.coverage - profile.missed)));
    const Remainder& rest = profile.remainder;
    text += fmt::format("  of the remainder: memory-bound {}, compute-bound {}, I/O {}, waiting {}\n",
                        percent(rest.memory), percent(rest.compute), percent(rest.io), percent(rest.waiting));
    if (!rest.method.empty()) text += "  told apart by: " + rest.method + "\n";
    text += own_code_table(profile.own_code);
    for (const std::string& note : profile.notes)
        text += "note: " + note + "\n";
    return text;
}

std::string profile_job(const Profile& profile)
{
    std::string text =
        fmt::format("# Measured by fathom profile: {:.3f} s, of which {} in these operators, {} in calls "
                    "without an operator.\n",
                    profile.wall_s, percent(profile.coverage), percent(profile.missed));
    for (const std::string& note : profile.notes)
        text += "# " + note + "\n";
    if (profile.operators.empty()) return text + "operators: []\n";
    text += "operators:\n";
    for (const OperatorUse& use : profile.operators)
        text += "  - " + use_text(use) + "\n";
    return text;
}

std::string left_out_note(const Profile& profile, const std::vector<OperatorManifest>& library)
{
    const ProbedUses probed = probed_uses(profile);
    const LeftOutOperators beyond = left_out_operators(probed.uses, manifests_of(library), kTaskRule);
    const std::int64_t count = probed.small.count + beyond.count;
    if (count == 0) return {};
    return fmt::format("a probe task leaves out the {} operators that take least time, {} together", count,
                       percent(probed.small.share.value_or(0) + beyond.share.value_or(0)));
}

Json profile_json(const Profile& profile, const std::vector<OperatorManifest>& library)
{
    Json operators = Json::array();
    for (const OperatorUse& use : profile.operators)
        operators.push_back(use_json(use, profile, library));
    Json observed = Json::array();
    Json unmatched = Json::array();
    for (const ProfileLine& line : profile.lines) {
        if (observed.size() < kMaxLines) observed.push_back(call_json(line));
        if (line.operator_id.empty() && unmatched.size() < kMaxLines) unmatched.push_back(call_json(line));
    }
    Json flows = Json::array();
    for (const Profile::Flow& flow : profile.flows) {
        if (flow.from >= kMaxLines || flow.to >= kMaxLines || flows.size() >= kMaxLines) continue;
        flows.push_back({{"from", flow.from}, {"to", flow.to}, {"count", flow.count}});
    }
    const Remainder& rest = profile.remainder;
    Json json{{"operators", std::move(operators)},
              {"remainder",
               {{"memory", rounded(rest.memory)},
                {"compute", rounded(rest.compute)},
                {"io", rounded(rest.io)},
                {"waiting", rounded(rest.waiting)},
                {"method", rest.method},
                {"code", own_code_json(profile.own_code)}}},
              {"coverage", rounded(profile.coverage)},
              {"missed", rounded(profile.missed)},
              {"wall_s", profile.wall_s},
              {"cpu_s", profile.cpu_s},
              {"thread_s", profile.thread_s},
              {"cores", profile.cores},
              {"parallelism", rounded(profile.parallelism)},
              {"observed", std::move(observed)},
              {"observed_kinds", profile.lines.size()},
              {"unmatched", std::move(unmatched)},
              {"flows", std::move(flows)},
              {"notes", profile.notes}};
    if (!profile.operators.empty()) json["probe_task"] = probe_task_json(profile, library);
    return json;
}

} // namespace fathom::profile
