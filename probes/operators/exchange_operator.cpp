#include "probes/operators/exchange_operator.hpp"

#include "probes/operators/exchange_reply.hpp"

#include <chrono>
#include <limits>
#include <optional>

namespace fathom::probes {
namespace {

/// Batch systems and MPI need seconds on many hosts.
constexpr std::chrono::seconds kStartLimit{60};
/// A task's own limit is shorter, and ends the whole program.
constexpr std::chrono::seconds kAnswerLimit{600};

class ExchangeOperator final : public ProbeOperator {
  public:
    explicit ExchangeOperator(ExchangeTeam team) : team_(std::move(team)) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        if (team_.processes < 2)
            return unavailable(" has nothing to do between one process: this unit has one processor");
        process_.reset();
        checked_.reset();
        Result<std::unique_ptr<ExchangeProcess>> started = team_.start(seed);
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
        const Result<double> seconds = parse_exchange_done(*line);
        if (!seconds) return seconds.error();
        timed_s_ = *seconds;
        return {};
    }

    std::optional<double> timed_s() const override { return timed_s_; }

    Result<void> verify() override
    {
        const Result<std::string> line = process_->ask("check", kAnswerLimit);
        if (!line) return line.error();
        Result<ExchangeChecked> checked = parse_exchange_checked(*line);
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
        Result<ExchangeReady> ready = parse_exchange_ready(*line);
        if (!ready) return ready.error();
        ready_ = std::move(*ready);
        if (ready_.processes != team_.processes)
            return unavailable(" started " + std::to_string(ready_.processes) + " processes, not " +
                               std::to_string(team_.processes));
        // Times would be those of the kernel's scheduler.
        if (ready_.is_crowded)
            return unavailable("'s processes share processors: there are more of them than processors");
        return {};
    }

    Error unavailable(const std::string& what) const
    {
        return Error{Errc::kUnavailable, std::string(team_.means) + what};
    }

    bool is_checked() { return checked_ || verify(); }

    ExchangeTeam team_;
    ExchangeReady ready_;
    bool failed_ = false;
    std::optional<double> timed_s_;
    std::optional<ExchangeChecked> checked_; ///< of the last execution
    std::unique_ptr<ExchangeProcess> process_;
};

} // namespace

std::unique_ptr<ProbeOperator> make_exchange_operator(ExchangeTeam team)
{
    return std::make_unique<ExchangeOperator>(std::move(team));
}

} // namespace fathom::probes
