#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/own_loops.hpp"
#include "probes/operators/process_team.hpp"
#include "probes/operators/reduction/truth.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace fathom::probes {
namespace {

/// Elements of a cache line: parts end on one, so that no two processes write the same.
constexpr std::size_t kLine = 8;
/// Elements that are added up in one go: they stay in a core's first cache.
constexpr std::size_t kChunk = 1024;

/// An all-reduce as message passing libraries do it on one node: every process has a vector of its own and
/// gets the sum of all into a vector of its own. Each adds up one part of all vectors, then all collect.
class Reduction final : public ProbeOperator {
  public:
    Reduction(std::size_t n, int processes) : n_(n), processes_(static_cast<std::size_t>(processes)) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        memory_ = Mapping::shared((1 + 2 * processes_) * n_ * sizeof(double) + sizeof(Phase));
        phase_ = reinterpret_cast<Phase*>(memory_.data() + (1 + 2 * processes_) * n_ * sizeof(double));
        Result<std::unique_ptr<ProcessTeam>> started =
            ProcessTeam::start(processes_, [this](ProcessTeam& team, std::size_t rank) { work(team, rank); });
        if (!started) return started.error();
        team_ = std::move(*started);
        *phase_ = Phase::kFill;
        if (!team_->run()) return Error{Errc::kUnavailable, "a worker process has died"};
        *phase_ = Phase::kReduce;
        return {};
    }

    void execute() override { failed_ = !team_->run() || failed_; }

    double error() override
    {
        if (failed_) return std::numeric_limits<double>::infinity();
        return reduction_error(results(), n_, seed_);
    }

    std::string checksum() override { return reduction_checksum(results(), n_); }

    std::string library() const override
    {
        return "own all-reduce of " + std::to_string(processes_) + " processes in shared memory, " + own_loops_name();
    }

    std::span<std::byte> output() override { return std::as_writable_bytes(results()); }

  private:
    enum class Phase : std::uint32_t { kFill, kReduce };

    double* sum() const { return reinterpret_cast<double*>(memory_.data()); }
    double* result(std::size_t rank) const { return sum() + (1 + rank) * n_; }
    std::span<double> results() const { return {result(0), n_ * processes_}; }
    double* vector(std::size_t rank) const { return sum() + (1 + processes_ + rank) * n_; }

    void work(ProcessTeam& team, std::size_t rank) const
    {
        if (*phase_ == Phase::kFill)
            fill(rank);
        else
            reduce(team, rank);
    }

    /// Random numbers in all vectors but the last, which holds what is missing to the known sum.
    void fill(std::size_t rank) const
    {
        std::fill_n(result(rank), n_, 0.0);
        double* const mine = vector(rank);
        for (std::size_t i = 0; i < n_; ++i)
            mine[i] = reduction_input(seed_, rank, processes_, i);
    }

    void reduce(ProcessTeam& team, std::size_t rank) const
    {
        const std::size_t lines = (n_ + kLine - 1) / kLine;
        add(std::min(lines * rank / processes_ * kLine, n_), std::min(lines * (rank + 1) / processes_ * kLine, n_));
        team.meet();
        std::memcpy(result(rank), sum(), n_ * sizeof(double));
    }

    /// Adds up begin..end−1 of all vectors.
    void add(std::size_t begin, std::size_t end) const
    {
        for (; begin < end; begin += kChunk) {
            const std::size_t size = std::min(kChunk, end - begin);
            double* const to = sum() + begin;
            std::memcpy(to, vector(0) + begin, size * sizeof(double));
            for (std::size_t rank = 1; rank < processes_; ++rank)
                own_loops().add(to, vector(rank) + begin, size);
        }
    }

    std::size_t n_;
    std::size_t processes_;
    std::uint64_t seed_{};
    bool failed_ = false;
    Mapping memory_; ///< the sum, every process's result, every process's vector; then the phase
    Phase* phase_ = nullptr;
    std::unique_ptr<ProcessTeam> team_; ///< ends before the memory that it works on
};

std::unique_ptr<ProbeOperator> make_reduction(const Parameters& parameters, int threads)
{
    return std::make_unique<Reduction>(static_cast<std::size_t>(parameters.at("n")), threads);
}

double reduction_memory(const Parameters& parameters)
{
    return 8 * static_cast<double>(parameters.at("n")) * (2.0 * most_processes() + 1);
}

} // namespace

CpuImplementation reduction_on_cpu()
{
    return {.make = make_reduction, .memory = reduction_memory};
}

} // namespace fathom::probes
