#include "probes/operators/mpi_operator.hpp"

#include "probes/operators/mpi_launch.hpp"
#include "probes/operators/mpi_process.hpp"
#include "probes/operators/mpi_reply.hpp"
#include "probes/operators/process_team.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

namespace fathom::probes {
namespace {

/// MPI needs seconds on many hosts.
constexpr std::chrono::seconds kStartLimit{60};
/// A task's own limit is shorter, and ends the whole program.
constexpr std::chrono::seconds kAnswerLimit{600};
/// Of an MPI process without what it exchanges.
constexpr double kProcessBytes = 32.0 * (1 << 20);

class MpiOperator final : public ProbeOperator {
  public:
    MpiOperator(std::string_view kind, std::int64_t size, MpiPlace place) : kind_(kind), size_(size), place_(place) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        if (place_.processes < 2)
            return Error{Errc::kUnavailable, "MPI has nothing to do between one process: this unit has one processor"};
        const Result<MpiLauncher>& launcher = find_mpi_launcher();
        if (!launcher) return launcher.error();
        if (const Result<void> good = check_launcher(*launcher, place_); !good) return good;
        process_.reset();
        checked_.reset();
        Result<std::unique_ptr<MpiProcess>> started =
            MpiProcess::start(mpi_command(*launcher, place_, kind_, size_, seed),
                              mpi_environment(own_environment(), place_.is_slurm_job));
        if (!started) return started.error();
        process_ = std::move(*started);
        return take_ready();
    }

    void execute() override { failed_ = !execute_times(1) || failed_; }

    Result<void> execute_times(std::int64_t executions) override
    {
        checked_.reset();
        const Result<std::string> line = process_->ask("run " + std::to_string(executions), kAnswerLimit);
        if (!line) return line.error();
        const Result<double> seconds = parse_mpi_done(*line);
        if (!seconds) return seconds.error();
        timed_s_ = *seconds;
        return {};
    }

    std::optional<double> timed_s() const override { return timed_s_; }

    Result<void> verify() override
    {
        const Result<std::string> line = process_->ask("check", kAnswerLimit);
        if (!line) return line.error();
        Result<MpiChecked> checked = parse_mpi_checked(*line);
        if (!checked) return checked.error();
        checked_ = std::move(*checked);
        return {};
    }

    double error() override
    {
        return !failed_ && is_checked() ? checked_->error : std::numeric_limits<double>::infinity();
    }

    std::string checksum() override { return is_checked() ? checked_->checksum : ""; }

    std::string library() const override
    {
        return ready_.library + ", " + std::to_string(ready_.processes) + " processes on " +
               std::to_string(ready_.hosts) + (ready_.hosts == 1 ? " host" : " hosts");
    }

    std::map<std::string, double> figures() override
    {
        return {{"hosts", static_cast<double>(ready_.hosts)}, {"processes", static_cast<double>(ready_.processes)}};
    }

    /// What was received lies in other processes.
    std::span<std::byte> output() override { return {}; }

  private:
    Result<void> take_ready()
    {
        const Result<std::string> line = process_->read_reply(kStartLimit);
        if (!line) return line.error();
        Result<MpiReady> ready = parse_mpi_ready(*line);
        if (!ready) return ready.error();
        ready_ = std::move(*ready);
        if (ready_.processes != place_.processes)
            return Error{Errc::kUnavailable, "MPI started " + std::to_string(ready_.processes) + " processes, not " +
                                                 std::to_string(place_.processes)};
        // Times would be those of the kernel's scheduler.
        if (ready_.is_crowded)
            return Error{Errc::kUnavailable,
                         "MPI's processes share processors: there are more of them than processors"};
        return {};
    }

    bool is_checked() { return checked_ || verify(); }

    std::string kind_;
    std::int64_t size_;
    MpiPlace place_;
    MpiReady ready_;
    bool failed_ = false;
    std::optional<double> timed_s_;
    std::optional<MpiChecked> checked_; ///< of the last execution
    std::unique_ptr<MpiProcess> process_;
};

} // namespace

std::unique_ptr<ProbeOperator> make_mpi_operator(std::string_view kind, MpiRanks ranks, std::int64_t size, int threads)
{
    MpiPlace place = mpi_place_here(threads);
    if (ranks == MpiRanks::kTwo && !place.is_slurm_job) place.processes = std::min(place.processes, 2);
    return std::make_unique<MpiOperator>(kind, size, place);
}

double mpi_memory(MpiRanks ranks, double (*bytes_each)(double size, double processes), std::int64_t size)
{
    const double processes = ranks == MpiRanks::kTwo ? 2 : mpi_place_here(most_processes()).processes;
    return processes * (kProcessBytes + bytes_each(static_cast<double>(size), processes));
}

} // namespace fathom::probes
