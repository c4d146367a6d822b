#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/exchange_operator.hpp"
#include "probes/operators/exchange_place.hpp"
#include "probes/operators/launcher_words.hpp"
#include "probes/operators/process_team.hpp"

namespace fathom::probes {
namespace {

constexpr const char* kProgram = "fathom-tcp-probe";
constexpr const char* kLauncherVariable = "FATHOM_TCP_LAUNCHER";
/// Of a process without its vectors.
constexpr double kProcessBytes = 16.0 * (1 << 20);

Error cannot(const std::string& why)
{
    return Error{Errc::kUnavailable, "no processes that TCP connects on this unit: " + why};
}

/// The program, its processes' number and, where they are those of a Slurm job, what starts them.
Result<std::vector<std::string>> find_command(const ExchangePlace& place)
{
    const std::string program = find_beside(kProgram);
    if (program.empty()) return cannot(std::string(kProgram) + " is not beside this program");
    std::vector<std::string> command{program};
    if (!place.is_slurm_job) return command;
    const std::vector<std::string> launcher =
        launcher_words(kLauncherVariable, {"srun", "--overlap", "--kill-on-bad-exit=1", "--mpi=none", "--input=none"});
    if (launcher.empty())
        return cannot(std::string("srun is not in PATH, nor is what ") + kLauncherVariable + " names");
    command.insert(command.end(), launcher.begin(), launcher.end());
    return command;
}

Result<std::unique_ptr<ExchangeProcess>> start_tcp(const ExchangePlace& place, std::int64_t elements,
                                                   std::uint64_t seed)
{
    Result<std::vector<std::string>> command = find_command(place);
    if (!command) return command.error();
    command->insert(command->begin() + 1,
                    {std::to_string(place.processes), std::to_string(elements), std::to_string(seed)});
    return ExchangeProcess::start(std::move(*command), own_environment(), kProgram);
}

std::unique_ptr<ProbeOperator> make_tcp_allreduce(const Parameters& parameters, int threads)
{
    const ExchangePlace place = exchange_place_here(threads);
    return make_exchange_operator(
        {.means = "TCP", .processes = place.processes, .start = [place, elements = parameters.at("n")](auto seed) {
             return start_tcp(place, elements, seed);
         }});
}

/// The own vector, the sum, and what comes from the process before.
double tcp_allreduce_memory(const Parameters& parameters)
{
    const double processes = exchange_place_here(most_processes()).processes;
    const double vector = sizeof(double) * static_cast<double>(parameters.at("n"));
    return processes * (kProcessBytes + 2 * vector) + vector;
}

Result<void> tcp_available()
{
    const ExchangePlace place = exchange_place_here(most_processes());
    if (const auto command = find_command(place); !command) return command.error();
    if (place.processes < 2)
        return Error{Errc::kUnavailable, "TCP has nothing to do between one process: only one processor may be used"};
    return {};
}

} // namespace

CpuImplementation tcp_allreduce_on_cpu()
{
    return {.make = make_tcp_allreduce, .memory = tcp_allreduce_memory, .available = tcp_available};
}

} // namespace fathom::probes
