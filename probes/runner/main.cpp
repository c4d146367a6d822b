#include "core/base/file.hpp"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/registry.hpp"
#include "probes/runner/host_facts.hpp"
#include "probes/runner/list_operators.hpp"
#include "probes/runner/resources.hpp"
#include "probes/runner/result_table.hpp"
#include "probes/runner/run_copies.hpp"
#include "probes/runner/run_task.hpp"
#include "probes/runner/watchdog.hpp"
#include "probes/upload/uploaded_operators.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>

namespace fathom::probes {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

/// The program's exit codes; part of its contract with the agent.
enum ExitCode { kDone = 0, kFailed = 1, kWrongInput = 2, kTooSlow = 3, kOutOfMemory = 4, kMisbehaved = 5 };

constexpr const char* kFooter = R"(Exit codes:
  0      done; the result is one line of JSON on standard output, or a table for people (--output table)
  1      a library or the system failed
  2      the command line, the task or the environment is wrong; every error is listed
  3      the task took longer than its limit
  4      the operators need more memory than is usable here
  5      an uploaded operator misbehaved: it crashed, hung, lied, ran out of the memory that its manifest allows, or
         made a forbidden system call; the last line on standard error says which and how
  128+n  ended by signal n (SIGTERM, SIGINT)
Environment:
  FATHOM_CORES   threads to use (default: the affinity mask; never more than that)
  FATHOM_FETCH_URL   the data site that network_fetch fetches from; FATHOM_FETCH_CA_FILE: who signed its certificate
  FATHOM_FILE_FOLDER   where file_read and file_write make their files (default: the working folder)
  FATHOM_MPI_LAUNCHER   what starts the processes of the mpi_ operators (default: mpirun; in a job of Slurm else srun)
  FATHOM_TCP_LAUNCHER   what starts those of tcp_allreduce on several hosts (default: srun)
  FATHOM_TCP_INTERFACE  the network interface that those meet at, such as ib0 (default: any)
  FATHOM_UNITS   compute units that this run stands for (default 1)
  FATHOM_RESOURCE_TYPE   what to measure, when --resource-type is not given
  FATHOM_OPERATOR_KEYS   file of trusted public keys, when --operator-keys is not given
  OPENBLAS_NUM_THREADS, OMP_NUM_THREADS, OPENBLAS_CORETYPE   as the libraries define them
A task: {"name": "t", "operators": [{"id": "dgemm", "parameters": {"m": 512}}], "repeats": 7})";

struct Arguments {
    std::string task;
    std::string output; ///< empty: a table of --list, JSON of a result
    std::string resource_type;
    bool list = false;
    bool check_sandbox = false;
    bool is_unsigned = false;
    int copies = 1;
    UploadSources uploads;
};

int fail(const Error& error)
{
    fmt::print(stderr, "fathom-probe: {}\n", error.detail);
    for (const FieldError& field : error.fields)
        fmt::print(stderr, "  {}: {}\n", field.field, field.detail);
    switch (error.code) {
    case Errc::kInvalid:
    case Errc::kNotFound:
        return kWrongInput;
    case Errc::kDeadline:
        return kTooSlow;
    case Errc::kTooLarge:
        return kOutOfMemory;
    case Errc::kForbidden:
        return kMisbehaved;
    case Errc::kUnauthenticated:
    case Errc::kConflict:
    case Errc::kInfeasible:
    case Errc::kTooMany:
    case Errc::kUnavailable:
    case Errc::kInternal:
        return kFailed;
    }
    return kFailed;
}

/// Standard output is the result and nothing else: a full disk or a closed pipe is a failure.
int print_line(const std::string& line)
{
    if (std::fputs((line + "\n").c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return kDone;
    std::perror("fathom-probe: cannot write the result");
    return kFailed;
}

/// By the option, else by the environment, else the processors.
Result<void> choose_resource_type(const Arguments& arguments)
{
    std::string text = arguments.resource_type;
    const char* const set = std::getenv("FATHOM_RESOURCE_TYPE");
    if (text.empty() && set != nullptr) text = set;
    if (text.empty()) return {};
    const Result<ResourceType> type = parse_resource_type(text);
    if (!type) return type.error();
    return use_resource_type(*type);
}

int list(const Arguments& arguments)
{
    if (arguments.output == "json") return print_line(operators_json().dump());
    std::string table = operators_table();
    table.pop_back();
    return print_line(table);
}

Result<ProbeTask> read_task(const std::string& path)
{
    constexpr std::size_t kMaxBytes = 1UL << 20U;
    std::string text;
    if (path == "-") {
        text.resize(kMaxBytes + 1);
        text.resize(std::fread(text.data(), 1, text.size(), stdin));
    } else {
        Result<std::string> content = read_file(path, kMaxBytes);
        if (!content) return Error{Errc::kInvalid, path + ": " + content.error().detail};
        text = std::move(*content);
    }
    const Result<Json> json = parse_json(text, {.max_bytes = kMaxBytes});
    if (!json) return Error{Errc::kInvalid, path + ": " + json.error().detail};
    return parse_probe_task(*json);
}

/// The operators that come with the task.
Result<Uploads> load_uploads(const Arguments& arguments, const ProbeTask& task, SteadyTime start)
{
    UploadSources sources = arguments.uploads;
    const char* const keys = std::getenv("FATHOM_OPERATOR_KEYS");
    if (sources.keys.empty() && keys != nullptr) sources.keys = keys;
    return load_uploaded_operators(
        sources, {.task_start = start, .task_limit_s = task.limit_s, .usable_memory_bytes = usable_memory_bytes});
}

int check_sandbox()
{
    if (const Result<void> made = try_sandbox(); !made) return fail(made.error());
    return print_line("a sandbox for uploaded operators can be made here");
}

/// @param copies  that share the memory; nullptr: none do.
Result<RunConditions> conditions(SteadyTime start, CopiesInStep* copies)
{
    const Result<int> cores = usable_cores();
    if (!cores) return cores.error();
    const Result<std::int64_t> units = unit_count();
    if (!units) return units.error();
    const CudaDevice* const device = used_cuda_device();
    return RunConditions{.process_start = start,
                         .cores = *cores,
                         .unit_count = *units,
                         .usable_memory_bytes = usable_memory_bytes() / (copies != nullptr ? copies->count() : 1),
                         .usable_device_memory_bytes = device != nullptr ? device->free_memory_bytes : 0,
                         .progress = nullptr,
                         .uploads = {},
                         .copies = copies};
}

/// Where this process is one of several copies; empty: it is none.
Result<std::optional<CopiesInStep>> join_copies()
{
    const char* const place = std::getenv("FATHOM_COPY");
    if (place == nullptr) return std::optional<CopiesInStep>();
    Result<CopiesInStep> joined = CopiesInStep::join(place);
    if (!joined) return joined.error();
    end_with_starter();
    return std::optional(std::move(*joined));
}

void warn(const ProbeResult& result)
{
    for (const OperatorResult& item : result.operators) {
        if (item.error > item.tolerance)
            fmt::print(stderr, "fathom-probe: the result of {} is wrong: relative error {:.3g}, tolerance {:.3g}\n",
                       operator_key(item.id, item.parameters), item.error, item.tolerance);
    }
    const BlasCore core = blas_core();
    if (used_resource_type() == ResourceType::kCpu && !core.better.empty())
        fmt::print(stderr, "fathom-probe: OpenBLAS took this processor for {}; OPENBLAS_CORETYPE={} fits it better\n",
                   core.used, core.better);
}

int print_result(const ProbeResult& result)
{
    return print_line(to_json(result).dump(-1, ' ', false, Json::error_handler_t::replace));
}

int run(const Arguments& arguments, SteadyTime start)
{
    Result<std::optional<CopiesInStep>> copies = join_copies();
    if (!copies) return fail(copies.error());
    Result<ProbeTask> task = read_task(arguments.task);
    if (!task) return fail(task.error());
    Result<RunConditions> here = conditions(start, *copies ? &**copies : nullptr);
    if (!here) return fail(here.error());
    Result<Uploads> uploads = load_uploads(arguments, *task, start);
    if (!uploads) return fail(uploads.error());
    task = validate_task(std::move(*task), *uploads);
    if (!task) return fail(task.error());
    here->uploads = std::move(*uploads);

    const HostFacts facts;
    Watchdog watchdog(start, task->limit_s, kTooSlow);
    here->progress = [&](const std::string& what) { watchdog.set_progress(what); };
    Result<ProbeResult> result = run_task(*task, *here);
    if (!result) return fail(result.error());
    result->host.update(facts.finish());
    result->wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    warn(*result);
    if (arguments.output == "table") {
        std::string table = result_table(*result);
        table.pop_back();
        return print_line(table);
    }
    return print_result(*result);
}

/// The program's own, without the one that made it several.
std::vector<std::string> arguments_of_copy(int argc, const char* const* argv)
{
    std::vector<std::string> arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--copies")
            ++i; // and its number
        else if (!argument.starts_with("--copies="))
            arguments.emplace_back(argument);
    }
    return arguments;
}

int run_several(const Arguments& arguments, const std::vector<std::string>& of_copy, SteadyTime start)
{
    std::string obstacle;
    if (used_resource_type() != ResourceType::kCpu) obstacle = "measures processors only";
    if (arguments.task == "-") obstacle = "needs a task in a file, which all copies read";
    if (arguments.output == "table") obstacle = "prints JSON only";
    if (!obstacle.empty()) return fail({Errc::kInvalid, "--copies " + obstacle});
    Result<EndedCopies> ended = run_copies(arguments.copies, of_copy);
    if (!ended) return fail(ended.error());
    if (ended->exit_code != 0) return ended->exit_code; // it has said why
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return print_result(join_results(std::move(ended->results), wall_s));
}

void add_upload_options(CLI::App& app, Arguments& arguments, CLI::Option* task)
{
    app.add_option("--operator", arguments.uploads.packages, "Use the uploaded operator in PACKAGE; repeatable")
        ->type_name("PACKAGE")
        ->needs(task);
    app.add_option("--operator-keys", arguments.uploads.keys,
                   "Trust the signatures of the public keys in FILE (PEM); default: FATHOM_OPERATOR_KEYS")
        ->type_name("FILE");
    CLI::Option* const is_unsigned =
        app.add_flag("--unsigned", arguments.is_unsigned, "Try an operator of your own that is not signed yet")
            ->needs(task);
    CLI::Option* const manifest =
        app.add_option("--operator-manifest", arguments.uploads.unsigned_manifest, "Its manifest, with --unsigned")
            ->type_name("FILE")
            ->needs(is_unsigned);
    CLI::Option* const object =
        app.add_option("--operator-object", arguments.uploads.unsigned_object, "Its shared object, with --unsigned")
            ->type_name("FILE")
            ->needs(is_unsigned);
    is_unsigned->needs(manifest)->needs(object);
    app.add_flag("--check-sandbox", arguments.check_sandbox, "Say whether uploaded operators can run here")
        ->excludes(task);
}

int run_program(int argc, const char* const* argv, SteadyTime start)
{
    Arguments arguments;
    CLI::App app{"Measures the compute unit that it runs on with small probe operators.", "fathom-probe"};
    app.footer(kFooter);
    app.set_version_flag("--version", std::string("fathom-probe ") + FATHOM_VERSION);
    CLI::Option* const task =
        app.add_option("--task", arguments.task, "Run the task in FILE, or - for standard input")->type_name("FILE");
    CLI::Option* const list_flag = app.add_flag("--list", arguments.list, "List the operators and their parameters");
    app.add_option("--output", arguments.output, "table (default of --list) or json (default of --task)")
        ->check(CLI::IsMember({"table", "json"}));
    task->excludes(list_flag);
    app.add_option("--resource-type", arguments.resource_type,
                   "Measure the processors (cpu) or the first CUDA device (cuda); default: FATHOM_RESOURCE_TYPE or cpu")
        ->type_name("TYPE");
    app.add_option("--copies", arguments.copies,
                   "Run N copies side by side, each on an equal part of the processors: what they cost each other")
        ->type_name("N")
        ->check(CLI::Range(1, static_cast<int>(kMaxProbeCopies)))
        ->needs(task);
    add_upload_options(app, arguments, task);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e, std::cout, std::cerr) == 0 ? kDone : kWrongInput;
    }
    const Result<void> chosen = choose_resource_type(arguments);
    if (!chosen) {
        const int exit_code = fail(chosen.error());
        // What cannot be measured here is a fact about this place, too: none.
        return arguments.list && chosen.error().code == Errc::kUnavailable ? list(arguments) : exit_code;
    }
    if (arguments.list) return list(arguments);
    if (arguments.check_sandbox) return check_sandbox();
    if (task->count() == 0) {
        fmt::print(stderr, "fathom-probe: give --task FILE or --list; --help explains\n");
        return kWrongInput;
    }
    if (arguments.copies > 1) return run_several(arguments, arguments_of_copy(argc, argv), start);
    return run(arguments, start);
}

} // namespace
} // namespace fathom::probes

int main(int argc, char** argv)
{
    using namespace fathom::probes;
    const SteadyTime start = process_start(std::chrono::steady_clock::now());
    end_on_signals();
    try {
        return run_program(argc, argv, start);
    } catch (const std::bad_alloc&) {
        std::fputs("fathom-probe: out of memory\n", stderr);
        return kOutOfMemory;
    } catch (const std::exception& e) {
        fmt::print(stderr, "fathom-probe: {}\n", e.what());
        return kFailed;
    }
}
