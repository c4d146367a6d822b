#include "core/decide/probing/job_type.hpp"

#include "core/base/hex.hpp"
#include "core/base/result.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/decide/probing/generate_task.hpp"
#include "core/model/job.hpp"
#include "core/model/operator_manifest.hpp"
#include "core/model/probe_task.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kNamedParts = 4;

/// FNV-1a: the same on every machine and in every release, which names that are stored must be.
std::string fingerprint(std::string_view text)
{
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    std::string hex;
    for (unsigned shift = 64; shift > 0; shift -= 8)
        append_hex(hex, static_cast<unsigned char>(hash >> (shift - 8)));
    return hex;
}

std::string part_of(const OperatorUse& use, const OperatorManifest* manifest)
{
    if (manifest == nullptr) return operator_key(use.id, use.parameters);
    const SizeClass* size = size_class_of(*manifest, use.parameters);
    return size == nullptr ? operator_key(use.id, use.parameters) : use.id + "/" + size->name;
}

std::string_view base_name(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

/// `python3.11` is `python`, `bash5` is `bash`.
std::string_view without_version(std::string_view program)
{
    const std::size_t end = program.find_last_not_of("0123456789.-");
    return end == std::string_view::npos ? program : program.substr(0, end + 1);
}

/// Programs that run another, with their options that take a value in the next word.
struct Launcher {
    enum class Kind { kInterpreter, kStarter } kind;
    std::set<std::string_view> valued_options;
    std::string_view code_option; ///< the next word is the program's text
};

const Launcher* find_launcher(std::string_view program)
{
    using Kind = Launcher::Kind;
    static const Launcher shell{Kind::kInterpreter, {"-o", "-O", "--rcfile", "--init-file"}, "-c"};
    static const Launcher python{Kind::kInterpreter, {"-W", "-X"}, "-c"};
    static const Launcher expression{Kind::kInterpreter, {"-I"}, "-e"};
    static const Launcher octave{Kind::kInterpreter, {"-p", "--path"}, "--eval"};
    static const Launcher mpi{Kind::kStarter,
                              {"-n",           "-np",           "-c",        "--np",      "-N",
                               "-npernode",    "--map-by",      "--bind-to", "-hostfile", "--hostfile",
                               "-machinefile", "--machinefile", "-H",        "-host",     "--host",
                               "-x",           "-ppn",          "-f",        "-wdir",     "--wdir"},
                              {}};
    static const Launcher mpi_variables{Kind::kStarter, {}, {}};
    static const Launcher srun{
        Kind::kStarter, {"-n", "-N", "-c", "-p", "-t", "-J", "-A", "-w", "-x", "-G", "-D", "--chdir"}, {}};
    static const Launcher env{Kind::kStarter, {"-u", "--unset", "-C", "--chdir"}, {}};
    static const Launcher timed{Kind::kStarter, {"-n", "-s", "-k", "-o", "-f"}, {}};
    static const std::map<std::string_view, const Launcher*> launchers{
        {"sh", &shell},        {"bash", &shell},        {"dash", &shell},       {"zsh", &shell},
        {"ksh", &shell},       {"python", &python},     {"pypy", &python},      {"perl", &expression},
        {"ruby", &expression}, {"node", &expression},   {"julia", &expression}, {"Rscript", &expression},
        {"octave", &octave},   {"octave-cli", &octave}, {"mpirun", &mpi},       {"mpiexec", &mpi},
        {"orterun", &mpi},     {"srun", &srun},         {"env", &env},          {"nice", &timed},
        {"time", &timed}};
    const auto found = launchers.find(program);
    return found == launchers.end() ? nullptr : found->second;
}

bool is_assignment(std::string_view word)
{
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// The words of a shell command that does nothing but start one program; none for anything more.
std::vector<std::string> simple_command(std::string_view text)
{
    if (text.find_first_of(";|&<>()$`\\\"'{}*?[]#!~\n") != std::string_view::npos) return {};
    std::vector<std::string> words;
    for (std::size_t begin = text.find_first_not_of(" \t"); begin != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
        words.emplace_back(text.substr(begin, end - begin));
        begin = text.find_first_not_of(" \t", end);
    }
    return words;
}

std::string program_of(std::vector<std::string> words, int depth);

/// What a shell does itself.
bool is_of_shell(std::string_view word)
{
    static const std::set<std::string_view> words{
        "cd", "echo", "export", "set",  "unset", "if",   "then", "else", "elif", "fi",     "for",   "while",  "until",
        "do", "done", "case",   "esac", "in",    "{",    "}",    "!",    "test", "[",      "[[",    "true",   "false",
        ":",  "exit", "return", "trap", "umask", "wait", "read", "eval", ".",    "source", "shift", "printf", "exec"};
    return words.contains(word);
}

/// What the shell only goes on behind: a command follows.
bool is_before_command(std::string_view word)
{
    return word == "do" || word == "then" || word == "else" || word == "exec" || word == "{";
}

/// The program that one simple command of a shell starts: its first word that is neither an assignment nor the shell's
/// own. Words that the shell would change are no names.
std::optional<std::string> command_name(std::string_view command)
{
    while (!command.empty()) {
        command.remove_prefix(std::min(command.find_first_not_of(" \t"), command.size()));
        const std::size_t word_end = std::min(command.find_first_of(" \t"), command.size());
        const std::string word(command.substr(0, word_end));
        command.remove_prefix(word_end);
        if (word.empty() || is_assignment(word) || is_before_command(word)) continue;
        if (is_of_shell(word) || word.find_first_of("$\\\"'{}*?[]#!~<>=") != std::string::npos) return std::nullopt;
        return std::string(base_name(word));
    }
    return std::nullopt;
}

/// The programs that a shell's text starts, as far as its words tell, for people to know it by: `gcc`, `cc1`.
std::vector<std::string> programs_in(std::string_view code)
{
    constexpr std::size_t kMaxNamed = 3;
    constexpr std::string_view ends = ";|&()\n`";
    std::vector<std::string> programs;
    while (!code.empty() && programs.size() < kMaxNamed) {
        const std::size_t end = std::min(code.find_first_of(ends), code.size());
        const std::string_view part = code.substr(0, end);
        code.remove_prefix(std::min(end + 1, code.size()));
        const std::optional<std::string> name = command_name(part);
        if (name && std::find(programs.begin(), programs.end(), *name) == programs.end()) programs.push_back(*name);
    }
    return programs;
}

std::string inline_code(std::string_view program, const std::string& code, bool is_shell, int depth)
{
    const std::vector<std::string> words = is_shell ? simple_command(code) : std::vector<std::string>();
    if (!words.empty()) return program_of(words, depth + 1);
    // Enough of it to tell the few texts apart that one submitter runs.
    constexpr std::size_t kShort = 8;
    std::string name(program);
    if (is_shell) {
        for (const std::string& started : programs_in(code))
            name += (name.size() == program.size() ? ":" : "+") + started;
    }
    return name + "-" + fingerprint(code).substr(0, kShort);
}

/// What a launcher starts, from its own words; empty when it starts nothing.
std::string started_by(const Launcher& launcher, std::string_view program, const std::vector<std::string>& words,
                       int depth)
{
    const bool is_starter = launcher.kind == Launcher::Kind::kStarter;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!launcher.code_option.empty() && word == launcher.code_option) {
            if (i + 1 == words.size()) return {};
            const bool is_shell = find_launcher("sh") == &launcher;
            return inline_code(program, words[i + 1], is_shell, depth);
        }
        if (program == "python" && word == "-m" && i + 1 < words.size()) return words[i + 1];
        if (launcher.valued_options.contains(word)) {
            ++i;
            continue;
        }
        if (word.starts_with("-") || (is_starter && is_assignment(word))) continue;
        if (!is_starter) return std::string(base_name(word));
        return program_of({words.begin() + static_cast<std::ptrdiff_t>(i), words.end()}, depth + 1);
    }
    return {};
}

std::string program_of(std::vector<std::string> words, int depth)
{
    constexpr int deepest = 8;
    while (!words.empty() && is_assignment(words[0])) // X=1 program, in a shell's command
        words.erase(words.begin());
    if (words.empty()) return {};
    const std::string program(base_name(words[0]));
    const std::string plain(without_version(program));
    const Launcher* launcher = find_launcher(plain);
    if (launcher == nullptr) launcher = find_launcher(program);
    if (launcher == nullptr || depth > deepest) return program;
    const std::string started = started_by(*launcher, plain, words, depth);
    return started.empty() ? program : started;
}

/// `@4` for a job that asks for several units: more units are another program to measure. One unit is what a job gets
/// that asks for none.
std::string units_suffix(const UnitRequest& units)
{
    return units.count && *units.count > 1 ? "@" + std::to_string(*units.count) : std::string();
}

} // namespace

OperatorMix operator_mix(const std::vector<OperatorUse>& operators, const ManifestLookup& manifests)
{
    const bool by_time = !operators.empty() && std::all_of(operators.begin(), operators.end(), [](const auto& use) {
        return use.share.has_value() && *use.share > 0;
    });
    OperatorMix mix;
    double sum = 0;
    for (const OperatorUse& use : operators) {
        const OperatorManifest* manifest = manifests(use.id, use.version);
        OperatorUse complete = use;
        if (manifest != nullptr) {
            std::vector<FieldError> errors;
            complete.parameters = complete_parameters(*manifest, use.parameters, "", errors);
            if (!errors.empty()) manifest = nullptr;
        }
        if (manifest == nullptr) complete.parameters = use.parameters;
        // Formulas may give anything finite; the sum of all must be finite, too, and not nothing.
        constexpr double kMinWork = 1e-200;
        constexpr double kMaxWork = 1e200;
        const double work = manifest == nullptr ? 1 : work_of(*manifest, complete.parameters);
        const double weight =
            by_time ? *use.share : std::clamp(work * static_cast<double>(use.count), kMinWork, kMaxWork);
        mix[part_of(complete, manifest)] += weight;
        sum += weight;
    }
    for (auto& [part, share] : mix)
        share /= sum;
    return mix;
}

double mix_distance(const OperatorMix& a, const OperatorMix& b)
{
    if (a.empty() && b.empty()) return 0;
    double common = 0;
    for (const auto& [part, share] : a) {
        const auto other = b.find(part);
        if (other != b.end()) common += std::min(share, other->second);
    }
    return std::clamp(1 - common, 0.0, 1.0);
}

std::string name_of_mix(const OperatorMix& mix)
{
    std::vector<std::pair<std::string, double>> parts(mix.begin(), mix.end());
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::string whole;
    std::string name;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string text =
            parts[i].first + ":" + std::to_string(static_cast<std::int64_t>(std::round(parts[i].second * 100)));
        whole += (i == 0 ? "" : "+") + text;
        if (i < kNamedParts) name += (i == 0 ? "mix/" : "+") + text;
    }
    const std::string tail = "#" + fingerprint(whole);
    const bool is_short = name.size() + tail.size() > kMaxJobTypeBytes;
    if (is_short) name.resize(utf8_prefix(name, kMaxJobTypeBytes - tail.size()).size());
    return is_short || parts.size() > kNamedParts ? name + tail : name;
}

std::string application_of(const JobSpec& spec)
{
    if (spec.command.empty()) return "script-" + fingerprint(spec.script);
    const std::string name = program_of(spec.command, 0);
    return name.empty() ? std::string(base_name(spec.command[0])) : name;
}

std::string_view to_string(JobTypeOrigin origin)
{
    switch (origin) {
    case JobTypeOrigin::kUser:
        return "user";
    case JobTypeOrigin::kMix:
        return "mix";
    case JobTypeOrigin::kApplication:
        return "application";
    }
    return "application";
}

JobType job_type_for(const JobSpec& spec, std::span<const KnownMix> known, const ManifestLookup& manifests,
                     double threshold)
{
    if (!spec.type.empty()) return {spec.type, JobTypeOrigin::kUser};
    if (spec.operators.empty()) {
        const std::string name = "app/" + application_of(spec) + units_suffix(spec.units);
        if (name.size() <= kMaxJobTypeBytes) return {name, JobTypeOrigin::kApplication};
        const std::string tail = "#" + fingerprint(name);
        return {std::string(utf8_prefix(name, kMaxJobTypeBytes - tail.size())) + tail, JobTypeOrigin::kApplication};
    }
    const OperatorMix mix = operator_mix(spec.operators, manifests);
    const KnownMix* nearest = nullptr;
    double least = threshold;
    for (const KnownMix& type : known) {
        const double distance = mix_distance(mix, type.mix);
        const bool is_nearer = nearest == nullptr
                                   ? distance <= threshold
                                   : distance < least || (distance == least && type.name < nearest->name);
        if (!is_nearer) continue;
        nearest = &type;
        least = distance;
    }
    return {nearest == nullptr ? name_of_mix(mix) : nearest->name, JobTypeOrigin::kMix};
}

} // namespace fathom
