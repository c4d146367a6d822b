#pragma once

#include "core/base/result.hpp"
#include "probes/operators/exchange_place.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// How the processes of MPI operators are started.
namespace fathom::probes {

/// What is there to start them with.
struct MpiLauncher {
    std::string program;            ///< the path of fathom-mpi-probe
    std::vector<std::string> words; ///< the launcher, by its path, with options
    bool counts_slots{};            ///< Open MPI's own, which has to be told how many processes a host takes
    std::string library;            ///< the MPI library's name
};

/// Looks for fathom-mpi-probe beside this program, tries whether it finds its libraries, and looks for a launcher: what
/// FATHOM_MPI_LAUNCHER says (words with spaces between them), else mpirun, else, in a job of Slurm, srun. Blocks for
/// tens of milliseconds at the first call, and keeps what it found.
/// @error kUnavailable  "no MPI on this unit: …"
const Result<MpiLauncher>& find_mpi_launcher();

/// The command that starts the processes.
/// @param kind  of the exchange: "latency"
std::vector<std::string> mpi_command(const MpiLauncher& launcher, const ExchangePlace& place, std::string_view kind,
                                     std::int64_t size, std::uint64_t seed);

/// The launcher's environment: `own` (NAME=VALUE), in which a batch system's job is not seen where its tasks are not
/// these processes; root may start them, and nobody binds them, for they do it themselves.
std::vector<std::string> mpi_environment(std::vector<std::string> own, bool is_slurm_job);

/// Whether the launcher starts processes on the unit's own processors there: srun does so only in a job of several
/// tasks.
/// @error kUnavailable  "no MPI on this unit: …"
Result<void> check_launcher(const MpiLauncher& launcher, const ExchangePlace& place);

/// Whether MPI operators can run here at all: there is a launcher, and there are processors for two processes.
/// @error kUnavailable  why not
Result<void> mpi_available();

} // namespace fathom::probes
