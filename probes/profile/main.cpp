#include "core/base/file.hpp"
#include "probes/operators/manifests.hpp"
#include "probes/profile/build_profile.hpp"
#include "probes/profile/counts_folder.hpp"
#include "probes/profile/known_machine.hpp"
#include "probes/profile/limit_operators.hpp"
#include "probes/profile/program_check.hpp"
#include "probes/profile/remainder_operators.hpp"
#include "probes/profile/render_profile.hpp"
#include "probes/profile/seen_symbols.hpp"
#include "probes/profile/stand_ins.hpp"
#include "probes/runner/resources.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace fathom::profile {
namespace {

/// Exit codes of our own; otherwise the exit code is the program's. As env(1) and nohup(1) have them.
enum ExitCode { kFailed = 125, kNotExecutable = 126, kNotFound = 127 };

constexpr std::size_t kMaxOperators = 64; // of a job

/// What the server tells of a version besides its manifest.
constexpr const char* kServerFields[] = {"origin",       "created_at", "created_by",    "withdrawn_at",
                                         "withdrawn_by", "key_id",     "object_sha256", "object_bytes"};

constexpr const char* kFooter = R"(
Examples:
  fathom-profile -- python3 train.py --epochs 3       a table on standard error, after the program's own output
  fathom-profile --format job --output-file operators.yaml -- mpirun -np 4 pw.x -in si.in
  fathom-profile --output json --output-file profile.json -- ./solver
  fathom-profile --symbols                            which library calls are counted as which operator
  fathom-profile --machine                            what profiles need to know of this machine, once for all

The program's standard streams, signals and exit code are its own. The table goes to standard error; JSON and job
blocks go to standard output after the program has ended, or to --output-file.

Exit codes:
  the program's; 128+n when signal n ended it
  125  the profile could not be made or written; the program may have run
  126  the program cannot be executed       127  it was not found)";

struct Arguments {
    std::string format = "table";
    std::string output;
    std::string output_file;
    std::string library;
    bool has_calibration = true;
    bool wants_symbols = false;
    bool wants_machine = false;
    std::vector<std::string> program;
};

int fail(const Error& error, int code)
{
    fmt::print(stderr, "fathom-profile: {}\n", error.detail);
    for (const FieldError& field : error.fields)
        fmt::print(stderr, "  {}: {}\n", field.field, field.detail);
    return code;
}

/// What calls are matched with, and what else agents tell.
struct Library {
    std::vector<OperatorManifest> manifests;
    std::vector<std::string> type_categories{}; ///< MatchRule::type_categories
    KnownMachine machine{};
};

/// The categories of the operators with the ids in a list, each once; other texts and values name none.
std::vector<std::string> categories_of(const Json& ids, const std::vector<OperatorManifest>& manifests)
{
    std::set<std::string> categories;
    for (const OperatorManifest& manifest : manifests) {
        if (std::find(ids.begin(), ids.end(), Json(manifest.id)) != ids.end()) categories.insert(manifest.category);
    }
    return {categories.begin(), categories.end()};
}

/// From a list as `fathom operator list --output json` prints its items.
Result<std::vector<OperatorManifest>> read_manifests(const Json& list, const std::string& path)
{
    if (!list.is_array()) return Error{Errc::kInvalid, path + ": a JSON list of manifests is needed"};
    std::vector<OperatorManifest> manifests;
    for (Json one : list) {
        for (const char* field : kServerFields) {
            if (one.is_object()) one.erase(field);
        }
        const Result<OperatorManifest> manifest = parse_operator_manifest(one);
        if (!manifest) return manifest.error();
        manifests.push_back(*manifest);
    }
    return manifests;
}

Result<Library> read_library(const std::string& path)
{
    if (path.empty()) return Library{probes::operator_manifests()};
    const Result<std::string> text = read_file(path);
    if (!text) return text.error();
    const Result<Json> json = parse_json(*text, {.max_bytes = 16UL << 20U});
    if (!json) return json.error();
    // As `fathom operator list --output json` prints it, with what agents know of the job, or the bare list.
    const bool is_object = json->is_object();
    const bool is_of_machine_only = is_object && json->contains("machine") && !json->contains("items");
    Result<std::vector<OperatorManifest>> manifests =
        is_of_machine_only ? Result<std::vector<OperatorManifest>>(probes::operator_manifests())
                           : read_manifests(is_object && json->contains("items") ? (*json)["items"] : *json, path);
    if (!manifests) return manifests.error();
    const Json known = is_object ? json->value("known_operators", Json::array()) : Json::array();
    std::vector<std::string> categories = categories_of(known, *manifests);
    Library library{std::move(*manifests), std::move(categories)};
    // What cannot be read of it is measured: no reason not to run the program.
    if (is_object && json->contains("machine")) {
        if (Result<KnownMachine> machine = parse_known_machine((*json)["machine"]))
            library.machine = std::move(*machine);
    }
    return library;
}

int print(const std::string& text)
{
    const bool is_written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    return is_written ? 0 : fail({Errc::kUnavailable, "cannot write to standard output"}, kFailed);
}

int show_symbols(const std::string& library)
{
    const Result<Library> read = read_library(library);
    return read ? print(symbols_table(read->manifests)) : fail(read.error(), kFailed);
}

int show_machine()
{
    const Result<KnownMachine> machine = measure_machine(probes::operator_manifests());
    return machine ? print(machine_json(*machine).dump() + "\n") : fail(machine.error(), kFailed);
}

/// A run of the program with all that is known of it.
class Run {
  public:
    Run(const Arguments& arguments, Library library, CountsFolder folder)
        : arguments_(arguments), library_(std::move(library.manifests)), machine_(std::move(library.machine)),
          folder_(std::move(folder))
    {
        input_.type_categories = std::move(library.type_categories);
        // The file may be named relative to a folder that the program leaves; we stay where we are.
        std::error_code ignored;
        if (!arguments.output_file.empty())
            output_file_ = std::filesystem::absolute(arguments.output_file, ignored).string();
    }

    int perform(const ProgramFacts& facts)
    {
        std::vector<std::string> environment;
        if (const Result<void> prepared = prepare(facts, environment); !prepared)
            return fail(prepared.error(), kFailed);
        const WhileRunning meanwhile{.started = [this](pid_t child) { start(child); },
                                     .tick = [this] { return tick(); },
                                     .asked_to_end = [this] { write_so_far(); }};
        const Result<ProgramEnd> end = run_program(facts.path, arguments_.program, environment, meanwhile);
        if (!end) return fail(end.error(), end.error().code == Errc::kNotFound ? kNotFound : kNotExecutable);
        input_.cpu_s = end->cpu_s;
        take_time();
        sampler_->look_back();
        // A FATHOM_CORES that is no number is fathom-probe's to refuse.
        if (const Result<int> cores = probes::usable_cores()) input_.cores = *cores;
        const int code = end->signal != 0 ? 128 + end->signal : end->exit_code;
        if (sampler_->outside().running_s > 0.05) {
            const double known = machine_.bandwidth_bytes_per_s;
            input_.bandwidth_bytes_per_s = known > 0 ? known : measure_bandwidth();
            sampler_->check_machine();
        }
        const Result<void> reported = report();
        return reported ? code : fail(reported.error(), kFailed);
    }

  private:
    Result<void> prepare(const ProgramFacts& facts, std::vector<std::string>& environment)
    {
        if (!facts.not_counted.empty()) note_not_counted(facts.path, facts.not_counted);
        if (!folder_.not_counted().empty()) note_not_counted(facts.path, folder_.not_counted());
        if (facts.must_not_be_loaded || !folder_.not_counted().empty()) {
            environment = own_environment();
            return {};
        }
        const Result<std::string> interposer = find_interposer();
        if (!interposer) return interposer.error();
        environment = folder_.environment(*interposer);
        return {};
    }

    void note_not_counted(const std::string& program, const std::string& why)
    {
        const std::string note = program + ": operators cannot be counted: " + why;
        fmt::print(stderr,
                   "fathom-profile: {}\n  what is still measured: wall and processor time, computing, "
                   "I/O and waiting\n",
                   note);
        input_.notes.push_back(note);
    }

    void start(pid_t child)
    {
        sampler_ = std::make_unique<Sampler>(folder_.counts(), child, machine_.shows_pages);
        begin_ = std::chrono::steady_clock::now();
        input_.begin_ticks = now_ticks();
    }

    std::chrono::milliseconds tick()
    {
        sampler_->look();
        return sampler_->interval();
    }

    void take_time()
    {
        input_.counts = &folder_.counts();
        input_.sampler = sampler_.get();
        input_.end_ticks = now_ticks();
        input_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

    /// Asked to end: whoever asks may not wait for the rest. It is written again when the program has ended.
    void write_so_far()
    {
        if (output_file_.empty()) return;
        ProfileInput kept = input_;
        take_time();
        input_.cpu_s = sampler_->tree().cpu_s();
        input_.notes.push_back("the program was asked to end: this is what was known then");
        Profile profile = build_profile(input_, library_);
        limit_operators(profile.operators, library_, kMaxOperators, profile.notes);
        if (const Result<void> written = write_file(output_file_, text_of(profile)); !written)
            fail(written.error(), kFailed);
        input_ = std::move(kept);
    }

    Result<void> report()
    {
        Profile profile = build_profile(input_, library_);
        limit_operators(profile.operators, library_, kMaxOperators - kMaxStandIns, profile.notes);
        if (!arguments_.has_calibration) {
            profile.notes.emplace_back("the remainder has no operators that stand for it (--no-calibration)");
        } else if (arguments_.format != "table") {
            if (const Result<void> added = add_remainder_operators(profile, library_, machine_); !added)
                profile.notes.push_back("the remainder has no operators that stand for it: " + added.error().detail);
        }
        if (std::string note = left_out_note(profile, library_); !note.empty())
            profile.notes.push_back(std::move(note));
        const std::string text = text_of(profile);
        if (!output_file_.empty()) return write_file(output_file_, text);
        std::FILE* stream = arguments_.format == "table" ? stderr : stdout;
        if (std::fputs(text.c_str(), stream) < 0 || std::fflush(stream) != 0)
            return Error{Errc::kUnavailable, "cannot write the profile to standard output"};
        return {};
    }

    std::string text_of(const Profile& profile) const
    {
        if (arguments_.format == "json") return profile_json(profile, library_).dump() + "\n";
        return arguments_.format == "job" ? profile_job(profile) : profile_table(profile);
    }

    const Arguments& arguments_;
    std::vector<OperatorManifest> library_;
    KnownMachine machine_;
    CountsFolder folder_;
    std::string output_file_;
    ProfileInput input_;
    std::unique_ptr<Sampler> sampler_;
    std::chrono::steady_clock::time_point begin_;
};

int run(Arguments arguments)
{
    if (arguments.wants_symbols) return show_symbols(arguments.library);
    if (arguments.wants_machine) return show_machine();
    if (arguments.program.empty()) return fail({Errc::kInvalid, "a program is needed, after --"}, kFailed);
    if (!arguments.output.empty()) arguments.format = arguments.output;
    const Result<ProgramFacts> facts = check_program(arguments.program.front());
    if (!facts) return fail(facts.error(), facts.error().code == Errc::kNotFound ? kNotFound : kNotExecutable);
    Result<Library> library = read_library(arguments.library);
    if (!library) return fail(library.error(), kFailed);
    Result<CountsFolder> folder = CountsFolder::make();
    if (!folder) return fail(folder.error(), kFailed);
    return Run(arguments, std::move(*library), std::move(*folder)).perform(*facts);
}

} // namespace
} // namespace fathom::profile

int main(int argc, char** argv)
{
    using namespace fathom; // NOLINT(google-build-using-namespace): main() stands outside
    profile::Arguments arguments;
    CLI::App app("Runs a program and counts the operators that it executes: library calls with their sizes and times.",
                 "fathom-profile");
    app.footer(profile::kFooter);
    app.set_version_flag("--version", "fathom-profile " FATHOM_VERSION);
    app.add_option("--format", arguments.format, "table (for people), job (the operators: block of a job file) or json")
        ->check(CLI::IsMember({"table", "job", "json"}));
    app.add_option("--output", arguments.output, "The same as --format")
        ->check(CLI::IsMember({"table", "job", "json"}));
    app.add_option("--output-file", arguments.output_file, "Where the profile goes");
    app.add_option("--library", arguments.library, "Match with the manifests in this JSON file instead of our own");
    app.add_flag("!--no-calibration", arguments.has_calibration,
                 "Do not run fathom-probe afterwards to find operators that stand for the remainder");
    app.add_flag("--symbols", arguments.wants_symbols,
                 "Show the entry points that operators are recognised by, and which of them are counted");
    app.add_flag("--machine", arguments.wants_machine,
                 "Measure what profiles need to know of this machine, and print it for \"machine\" of a --library");
    app.add_option("program", arguments.program, "The program and its arguments, after --");
    app.positionals_at_end();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : profile::kFailed;
    }
    return profile::run(std::move(arguments));
}
