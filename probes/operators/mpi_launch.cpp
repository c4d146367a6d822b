#include "probes/operators/mpi_launch.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"
#include "probes/operators/mpi_process.hpp"
#include "probes/operators/mpi_reply.hpp"
#include "probes/operators/process_team.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace fathom::probes {
namespace {

constexpr const char* kProgram = "fathom-mpi-probe";
constexpr const char* kLauncherVariable = "FATHOM_MPI_LAUNCHER";
constexpr std::chrono::seconds kTryLimit{10};
constexpr int kMaxTasks = 1'000'000;

std::string variable(const char* name)
{
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

Error no_mpi(const std::string& why)
{
    return Error{Errc::kUnavailable, "no MPI on this unit: " + why};
}

bool is_program(const std::filesystem::path& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// The path of a program as shells find it; empty when there is none.
std::string found_in_path(const std::string& name)
{
    if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
    const std::string folders = variable("PATH");
    for (const std::string_view folder : split_text(folders, ':')) {
        const std::filesystem::path path = std::filesystem::path(folder) / name;
        if (!folder.empty() && is_program(path)) return path.string();
    }
    return "";
}

/// Asks the program itself, without a launcher: where its libraries are missing it does not start.
Result<std::string> ask_for_library(const std::string& program)
{
    Result<std::unique_ptr<MpiProcess>> process =
        MpiProcess::start({program, "--library"}, mpi_environment(own_environment(), false));
    if (!process) return process.error();
    const Result<std::string> line = (*process)->read_reply(kTryLimit);
    if (!line) return line.error();
    return parse_mpi_library(*line);
}

/// The launcher by its path, with options; empty when there is none.
std::vector<std::string> find_words()
{
    std::vector<std::string> words;
    const std::string wanted = variable(kLauncherVariable);
    for (const std::string_view word : split_text(wanted, ' ')) {
        if (!word.empty()) words.emplace_back(word);
    }
    if (words.empty()) {
        const bool is_in_slurm = !variable("SLURM_JOB_ID").empty();
        const bool has_mpirun = !found_in_path("mpirun").empty();
        // rank 0 alone reads what this side says
        words = has_mpirun || !is_in_slurm
                    ? std::vector<std::string>{"mpirun"}
                    : std::vector<std::string>{"srun", "--overlap", "--kill-on-bad-exit=1", "--input=0"};
    }
    words.front() = found_in_path(words.front());
    return words.front().empty() ? std::vector<std::string>() : words;
}

Result<MpiLauncher> look_for_launcher()
{
    std::error_code ignored;
    MpiLauncher launcher;
    launcher.program = (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / kProgram).string();
    if (!is_program(launcher.program))
        return no_mpi(std::string(kProgram) + " is not beside this program, since MPI's headers were not there when it "
                                              "was built");
    launcher.words = find_words();
    if (launcher.words.empty())
        return no_mpi(std::string("mpirun is not in PATH, nor is what ") + kLauncherVariable + " names");
    Result<std::string> library = ask_for_library(launcher.program);
    if (!library) return no_mpi(library.error().detail);
    launcher.library = std::move(*library);
    launcher.counts_slots = variable(kLauncherVariable).empty() && launcher.library.starts_with("Open MPI") &&
                            launcher.words.front().ends_with("/mpirun");
    return launcher;
}

} // namespace

MpiPlace mpi_place(int threads, std::string_view slurm_tasks)
{
    const std::optional<int> tasks = parse_number<int>(slurm_tasks);
    if (!tasks || *tasks < 2 || *tasks > kMaxTasks) return {threads, false};
    return {*tasks, true};
}

MpiPlace mpi_place_here(int threads)
{
    return mpi_place(threads, variable("SLURM_NTASKS"));
}

const Result<MpiLauncher>& find_mpi_launcher()
{
    static const Result<MpiLauncher> launcher = look_for_launcher();
    return launcher;
}

std::vector<std::string> mpi_command(const MpiLauncher& launcher, const MpiPlace& place, std::string_view kind,
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

Result<void> check_launcher(const MpiLauncher& launcher, const MpiPlace& place)
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
    const MpiPlace place = mpi_place_here(most_processes());
    if (const Result<void> good = check_launcher(*launcher, place); !good) return good;
    if (place.processes < 2)
        return Error{Errc::kUnavailable, "MPI has nothing to do between one process: only one processor may be used"};
    return {};
}

} // namespace fathom::probes
