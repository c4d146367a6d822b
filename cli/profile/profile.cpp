#include "cli/profile/profile.hpp"

#include "core/base/argument_pointers.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace fathom::cli {
namespace {

struct ProfileOptions {
    std::string format;
    std::string output_file;
    std::string library;
    bool no_calibration = false;
};

/// The command line of fathom-profile, which does the work: this program links no probes.
std::vector<std::string> profiler_arguments(const std::string& profiler, const ProfileOptions& options, bool wants_json,
                                            const std::vector<std::string>& program)
{
    std::vector<std::string> arguments{profiler};
    const auto add = [&](const char* option, const std::string& value) {
        if (value.empty()) return;
        arguments.emplace_back(option);
        arguments.push_back(value);
    };
    add("--format", options.format.empty() && wants_json ? "json" : options.format);
    add("--output-file", options.output_file);
    add("--library", options.library);
    if (options.no_calibration) arguments.emplace_back("--no-calibration");
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    return arguments;
}

/// Becomes fathom-profile, so that the program's exit code and signals are the caller's.
Error become_profiler(const ProfileOptions& options, bool wants_json, const std::vector<std::string>& program)
{
    std::error_code failure;
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", failure);
    const std::string profiler = (own.parent_path() / "fathom-profile").string();
    std::vector<std::string> arguments = profiler_arguments(profiler, options, wants_json, program);
    const std::vector<char*> pointers = argument_pointers(arguments);
    ::execv(profiler.c_str(), pointers.data());
    const std::string reason = std::strerror(errno); // NOLINT(concurrency-mt-unsafe): no other thread yet
    return {Errc::kUnavailable, profiler + ": " + reason + "; install it beside fathom"};
}

} // namespace

void add_profile_command(CLI::App& app, Invocation& invocation)
{
    auto options = std::make_shared<ProfileOptions>();
    CLI::App& verb = add_verb(app, "profile", "Runs a program and counts the operators that it executes",
                              "fathom profile --format job --output-file operators.yaml -- ./solver input.txt");
    verb.add_option("--format", options->format, "table (for people), job (the operators: block of a job file) or json")
        ->check(CLI::IsMember({"table", "job", "json"}));
    verb.add_option("--output-file", options->output_file,
                    "Where the profile goes (default: a table to standard error, the others to standard output "
                    "after the program has ended)");
    verb.add_option("--library", options->library, "Match with the manifests in this JSON file instead of our own");
    verb.add_flag("--no-calibration", options->no_calibration,
                  "Do not look for operators that stand for the remainder");
    verb.callback([&invocation, options] {
        invocation.takes_program = true;
        invocation.action = [&invocation, options](Session& session) -> Outcome {
            if (invocation.program.empty())
                return Error{Errc::kInvalid,
                             "fathom profile needs a program after --: fathom profile -- ./solver input"};
            return become_profiler(*options, session.wants_json(), invocation.program);
        };
    });
}

} // namespace fathom::cli
