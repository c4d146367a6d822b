#include "agent/app/gpu_memory_command.hpp"

#include "agent/app/gpu_memory_start.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/process_limits.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <iostream>

namespace fathom::agent {
namespace {

struct ServeOptions {
    std::string socket = "/run/fathom-gpu.sock";
    std::string state_file = "/run/fathom-gpu.json";
    GpuMemoryConfig memory;
};

struct ShowOptions {
    std::string state_file = "/run/fathom-gpu.json";
    bool is_json{};
};

Result<void> serve(const ServeOptions& options)
{
    // Before there are threads, so that all of them leave these signals to sigwait().
    sigset_t ends{};
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    start_log("fathom-agent", LogLevel::kInfo);
    (void)raise_descriptor_limit();

    std::vector<std::string> missing;
    Result<gpu::MemoryServiceSettings> settings = memory_service_settings(options.memory, missing);
    for (const std::string& sentence : missing)
        std::cerr << "fathom-agent gpu-memory: " << sentence << "\n";
    if (!settings) return settings.error();
    settings->socket = options.socket;
    settings->state_file = options.state_file;
    const std::size_t gpus = settings->coordinator.gpus.size();
    const Result<std::unique_ptr<gpu::MemoryService>> service = gpu::MemoryService::start(std::move(*settings));
    if (!service) return service.error();
    log_info("gpu_memory_ready", {{"socket", options.socket}, {"gpus", gpus}});
    int signal = 0;
    ::sigwait(&ends, &signal);
    log_info("gpu_memory_stopped", {{"signal", signal}});
    return {};
}

std::string mebibytes(const Json& bytes)
{
    return fmt::format("{:.0f}", bytes.get<double>() / (1LL << 20U));
}

Result<void> show(const ShowOptions& options)
{
    const Result<std::string> text = read_file(options.state_file);
    if (!text) return text.error();
    if (options.is_json) {
        std::cout << *text;
        return {};
    }
    const Json state = Json::parse(*text, nullptr, false);
    if (state.is_discarded()) return Error{Errc::kInvalid, options.state_file + " is not what serve has written"};
    for (const Json& gpu : state.at("gpus")) {
        std::cout << fmt::format("{}  {} MiB: {} persistent, {} temporary at most, {} free{}\n",
                                 gpu.at("gpu").get<std::string>(), mebibytes(gpu.at("capacity_bytes")),
                                 mebibytes(gpu.at("persistent_bytes")), mebibytes(gpu.at("temporary_bytes")),
                                 mebibytes(gpu.at("free_bytes")), gpu.at("is_shared") ? "; shared" : "");
        for (const Json& job : gpu.at("jobs")) {
            std::cout << fmt::format(
                "  {} {:<32} persistent {:>6} of {:>6} MiB, temporary {:>6} of {:>6} MiB at most; {} turns of {:.1f} s "
                "in all, {:.3f} s to switch, {} MiB moved, {} MiB stayed, {} refused\n",
                job.at("has_turn").get<bool>() ? "*" : " ", job.at("job").get<std::string>(),
                mebibytes(job.at("persistent").at("used_bytes")), mebibytes(job.at("persistent").at("room_bytes")),
                mebibytes(job.at("temporary").at("peak_bytes")), mebibytes(job.at("temporary").at("room_bytes")),
                job.at("switches").get<std::int64_t>(), job.at("turn_s").get<double>(),
                job.at("switch_s").get<double>(), mebibytes(job.at("moved_bytes")), mebibytes(job.at("kept_bytes")),
                job.at("refusals").get<std::int64_t>());
        }
    }
    return {};
}

void add_options(CLI::App& serving, ServeOptions& options)
{
    serving.add_option("--socket", options.socket, "where jobs find it (FATHOM_GPU_SOCKET)")->capture_default_str();
    serving.add_option("--state-file", options.state_file, "what `show` reads")->capture_default_str();
    serving
        .add_option("--gap-bytes", options.memory.gap_bytes,
                    "kept free behind each job's persistent memory, for growth")
        ->capture_default_str();
    serving
        .add_option("--reserved-bytes", options.memory.reserved_bytes,
                    "of each GPU, for what the driver takes for itself")
        ->capture_default_str();
    serving
        .add_option("--slice-s", options.memory.turns.slice_s,
                    "a turn ends with the first iteration that ends after it")
        ->check(CLI::Range(0.001, 3600.0))
        ->capture_default_str();
    serving
        .add_option("--most-slice-s", options.memory.turns.most_slice_s,
                    "a turn whose iteration does not end is ended between two kernels")
        ->check(CLI::Range(0.001, 3600.0))
        ->capture_default_str();
    serving
        .add_option("--most-wait-s", options.memory.turns.most_wait_s,
                    "who waits longer comes before higher priorities")
        ->check(CLI::Range(0.001, 86400.0))
        ->capture_default_str();
    serving
        .add_option("--most-overrun-s", options.memory.turns.most_overrun_s,
                    "who has not given the turn back so long after it had to is ended (0: never)")
        ->check(CLI::Range(0.0, 86400.0))
        ->capture_default_str();
    serving
        .add_option("--at-once", options.memory.turns.at_once,
                    "so many may have the turn at once, where their memory fits and more is done so")
        ->check(CLI::Range(std::size_t{1}, gpu::kMaxAtOnce))
        ->capture_default_str();
}

} // namespace

int gpu_memory_command(int argc, const char* const* argv)
{
    ServeOptions serving;
    ShowOptions showing;
    CLI::App app("The memory manager of a node whose GPUs are shared by several jobs, and what it knows.",
                 "fathom-agent gpu-memory");
    app.require_subcommand(1);
    CLI::App* const serve_app = app.add_subcommand(
        "serve", "Runs until Ctrl-C or SIGTERM. Jobs take part by LD_PRELOAD=libfathom-gpu.so and FATHOM_GPU_SOCKET.");
    add_options(*serve_app, serving);
    CLI::App* const show_app = app.add_subcommand("show", "Each GPU's memory, by job.");
    show_app->add_option("--state-file", showing.state_file, "of `serve`")->capture_default_str();
    show_app->add_flag("--json", showing.is_json, "as serve has written it");
    app.footer("How jobs share a GPU and what a program may tell: docs/gpu-memory.md.\n"
               "Exit codes: 0 done, 1 failed, 2 wrong use.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    const Result<void> done = serve_app->parsed() ? serve(serving) : show(showing);
    if (done) return 0;
    std::cerr << "fathom-agent gpu-memory: " << describe(done.error()) << "\n";
    return 1;
}

} // namespace fathom::agent
