#include "agent/executor/batch/script_parts.hpp"

#include "agent/executor/local/environment.hpp"
#include "agent/executor/local/job_child.hpp"
#include "agent/executor/local/profile_report.hpp"

#include <algorithm>
#include <cctype>

namespace fathom::agent {
namespace {

bool is_variable_name(std::string_view name)
{
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && has_only(name, "_");
}

} // namespace

std::string shell_quoted(std::string_view text)
{
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    }
    return quoted + "'";
}

bool has_only(std::string_view text, std::string_view signs)
{
    return std::all_of(text.begin(), text.end(), [&](unsigned char c) {
        return std::isalnum(c) != 0 || signs.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

std::string environment_lines(const RunOrder& run, const std::filesystem::path& work,
                              const std::filesystem::path& programs, const std::string& user)
{
    std::string lines;
    for (const auto& [name, value] : job_environment(run, {work.string(), programs.string(), user})) {
        if (is_variable_name(name) && !name.starts_with("fathom_"))
            lines += "export " + name + "=" + shell_quoted(value) + "\n";
    }
    return lines;
}

std::string program_line(const RunOrder& run, const std::string& launcher)
{
    std::string line;
    if (run.order.profile) {
        line = "fathom-profile ";
        for (const std::string& option : profiler_options(run))
            line += option + " ";
        line += "-- ";
    }
    if (run.order.script.empty()) line += launcher;
    for (const std::string& word : run.before)
        line += shell_quoted(word) + " ";
    if (run.order.script.starts_with("#!")) return line + "./" + kJobScriptName;
    if (!run.order.script.empty()) return line + "/bin/sh ./" + kJobScriptName;
    for (const std::string& word : run.order.command)
        line += shell_quoted(word) + " ";
    return line;
}

std::string staging_line(const RunOrder& run, const std::filesystem::path& programs)
{
    if (run.order.inputs.empty()) return "";
    const std::string failure = std::string("./") + kStagingFailureName;
    const std::string note = "echo \"fathom-stage ended with exit code $fathom_staging on $HOSTNAME\" >" + failure;
    return "{ " + shell_quoted((programs / kStagingProgram).string()) + " || { fathom_staging=$?; [ -e " + failure +
           " ] || " + note + "; false; }; } &&\n";
}

std::string storing_lines(const RunOrder& run, const std::filesystem::path& programs)
{
    if (run.order.outputs.empty()) return "";
    const std::string failure = std::string("./") + kOutputFailureName;
    return "if [ \"$fathom_exit_code\" -eq 0 ]; then\n    " + shell_quoted((programs / kStagingProgram).string()) +
           " --outputs || {\n        fathom_storing=$?\n        fathom_exit_code=1\n        [ -e " + failure +
           " ] || echo \"fathom-stage ended with exit code $fathom_storing on $HOSTNAME\" >" + failure +
           "\n    }\nfi\n";
}

} // namespace fathom::agent
