#include "probes/operators/mpi_launch.hpp"

#include "probes/operators/exchange_process.hpp"
#include "probes/operators/exchange_reply.hpp"
#include "probes/operators/launcher_words.hpp"
#include "probes/operators/process_team.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

namespace fathom::probes {
namespace {

constexpr const char* kProgram = "fathom-mpi-probe";
constexpr const char* kLauncherVariable = "FATHOM_MPI_LAUNCHER";
constexpr std::chrono::seconds kTryLimit{10};

Error no_mpi(const std::string& why)
{
    return Error{Errc::kUnavailable, "no MPI on this unit: " + why};
}

/// Asks the program itself, without a launcher: where its libraries are missing it does not start.
Result<std::string> ask_for_library(const std::string& program)
{
    Result<std::unique_ptr<ExchangeProcess>> process =
        ExchangeProcess::start({program, "--library"}, mpi_environment(own_environment(), false), kProgram);
    if (!process) return process.error();
    const Result<std::string> line = (*process)->read_reply(kTryLimit);
    if (!line) return line.error();
    return parse_exchange_library(*line);
}

/// The launcher by its path, with options; empty when there is none.
std::vector<std::string> find_words()
{
    const bool is_in_slurm = !environment_text("SLURM_JOB_ID").empty();
    const bool has_mpirun = !find_in_path("mpirun").empty();
    if (has_mpirun || !is_in_slurm) return launcher_words(kLauncherVariable, {"mpirun"});
    // rank 0 alone reads what this side says
    return launcher_words(kLauncherVariable, {"srun", "--overlap", "--kill-on-bad-exit=1", "--input=0"});
}

Result<MpiLauncher> look_for_launcher()
{
    MpiLauncher launcher;
    launcher.program = find_beside(kProgram);
    if (launcher.program.empty())
        return no_mpi(std::string(kProgram) + " is not beside this program, since MPI's headers were not there when it "
                                              "was built");
    launcher.words = find_words();
    if (launcher.words.empty())
        return no_mpi(std::string("mpirun is not in PATH, nor is what ") + kLauncherVariable + " names");
    Result<std::string> library = ask_for_library(launcher.program);
    if (!library) return no_mpi(library.error().detail);
    launcher.library = std::move(*library);
    launcher.counts_slots = environment_text(kLauncherVariable).empty() && launcher.library.starts_with("Open MPI") &&
                            launcher.words.front().ends_with("/mpirun");
    return launcher;
}

} // namespace

const Result<MpiLauncher>& find_mpi_launcher()
{
    static const Result<MpiLauncher> launcher = look_for_launcher();
    return launcher;
}

std::vector<std::string> mpi_command(const MpiLauncher& launcher, const ExchangePlace& place, std::string_view kind,
                                     std::int64_t size, std::uint64_t seed)
{
    const std::string processes = std::to_string(place.processes);
    std::vector<std::string> command = launcher.words;
    if (launcher.counts_slots && !place.is_slurm_job)
        command.insert(command.end(), {"--host", "localhost:" + processes});
    command.insert(command.end(),
                   {"-n", processes, launcher.program, std::string(kind), std::to_string(size), std::to_string(seed)});
    return command;
}

std::vector<std::string> mpi_environment(std::vector<std::string> own, bool is_slurm_job)
{
    if (!is_slurm_job) {
        constexpr std::array<std::string_view, 4> kBatchSystems{"SLURM_", "SLURMD_", "PMI_", "PMIX_"};
        std::erase_if(own, [&](const std::string& setting) {
            return std::any_of(kBatchSystems.begin(), kBatchSystems.end(),
                               [&](std::string_view prefix) { return setting.starts_with(prefix); });
        });
    }
    // The next world starts before the last one has ended.
    if (is_slurm_job) own.emplace_back("SLURM_OVERLAP=1");
    for (const char* const setting :
         {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_ALLOW_RUN_AS_ROOT=1",
          "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_hwloc_base_binding_policy=none",
          "PRTE_MCA_hwloc_default_binding_policy=none"})
        own.emplace_back(setting);
    return own;
}

Result<void> check_launcher(const MpiLauncher& launcher, const ExchangePlace& place)
{
    // It would ask Slurm for other processors than the unit's.
    const bool is_srun = std::filesystem::path(launcher.words.front()).filename() == "srun";
    if (is_srun && !place.is_slurm_job) return no_mpi("srun starts processes in a job of several tasks only");
    return {};
}

Result<void> mpi_available()
{
    const Result<MpiLauncher>& launcher = find_mpi_launcher();
    if (!launcher) return launcher.error();
    const ExchangePlace place = exchange_place_here(most_processes());
    if (const Result<void> good = check_launcher(*launcher, place); !good) return good;
    if (place.processes < 2)
        return Error{Errc::kUnavailable, "MPI has nothing to do between one process: only one processor may be used"};
    return {};
}

} // namespace fathom::probes
