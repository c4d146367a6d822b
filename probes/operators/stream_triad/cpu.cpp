#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/own_loops.hpp"
#include "probes/operators/stream_triad/truth.hpp"
#include "probes/operators/thread_team.hpp"

#include <algorithm>
#include <array>

namespace fathom::probes {
namespace {

class StreamTriad final : public ProbeOperator {
  public:
    StreamTriad(std::size_t n, int threads) : n_(n), team_(threads) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        a_ = Buffer<double>(n_);
        b_ = Buffer<double>(n_);
        c_ = Buffer<double>(n_);
        team_.for_parts(n_, [this](Part part) { // each thread touches first what it will read and write
            // One array after the other: pages touched in turn would lie interleaved in memory, as no
            // program's arrays do.
            for (std::size_t i = part.begin; i < part.end; ++i)
                a_[i] = 0;
            for (std::size_t i = part.begin; i < part.end; ++i)
                b_[i] = triad_input(seed_, 0, i);
            for (std::size_t i = part.begin; i < part.end; ++i)
                c_[i] = triad_input(seed_, 1, i);
        });
        return {};
    }

    void execute() override
    {
        team_.for_parts(n_, [this](Part part) {
            own_loops().triad(a_.data() + part.begin, b_.data() + part.begin, c_.data() + part.begin, kTriadScalar,
                              part.end - part.begin);
        });
    }

    std::vector<double> values() override { return {a_.span().begin(), a_.span().end()}; }

    Result<void> feed(std::size_t index, std::span<const double> values) override
    {
        if (index > 1) return Error{Errc::kUnavailable, "has two inputs"};
        fed_[index] = fit_values(values, n_);
        std::copy(fed_[index].begin(), fed_[index].end(), (index == 0 ? b_ : c_).data());
        return {};
    }

    double error() override { return triad_error(a_.span(), seed_, fed_); }

    std::string checksum() override { return rounded_checksum(a_.span(), 1); }
    std::string library() const override { return "own triad, " + own_loops_name(); }
    std::span<std::byte> output() override { return a_.bytes(); }

  private:
    std::size_t n_;
    ThreadTeam team_;
    std::uint64_t seed_{};
    std::array<std::vector<double>, 2> fed_; ///< inputs that came from other operators
    Buffer<double> a_;
    Buffer<double> b_;
    Buffer<double> c_;
};

std::unique_ptr<ProbeOperator> make_stream_triad(const Parameters& parameters, int threads)
{
    return std::make_unique<StreamTriad>(static_cast<std::size_t>(parameters.at("n")), threads);
}

double stream_triad_memory(const Parameters& parameters)
{
    return 24 * static_cast<double>(parameters.at("n"));
}

} // namespace

CpuImplementation stream_triad_on_cpu()
{
    return {.make = make_stream_triad, .memory = stream_triad_memory, .has_program_threads = true};
}

} // namespace fathom::probes
