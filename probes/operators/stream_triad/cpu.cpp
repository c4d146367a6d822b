#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/implementations.hpp"
#include "probes/operators/random.hpp"
#include "probes/operators/thread_team.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom::probes {
namespace {

constexpr double kScalar = 3;

/// The loop of the benchmark. __restrict spares the compiler a test for overlap.
void triad(double* __restrict a, const double* __restrict b, const double* __restrict c, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i)
        a[i] = b[i] + kScalar * c[i];
}

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
                b_[i] = random_unit(seed_, i);
            for (std::size_t i = part.begin; i < part.end; ++i)
                c_[i] = random_unit(seed_ + 1, i);
        });
        return {};
    }

    void execute() override
    {
        team_.for_parts(n_, [this](Part part) {
            triad(a_.data() + part.begin, b_.data() + part.begin, c_.data() + part.begin, part.end - part.begin);
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

    double error() override
    {
        double largest = 0;
        for (std::size_t i = 0; i < n_; ++i) { // from the index again, not from b and c: they may be wrong too
            const double truth = input(0, i) + kScalar * input(1, i);
            const double difference = std::abs(a_[i] - truth);
            if (!(difference <= largest)) largest = difference; // keeps a NaN
        }
        return largest / (1 + kScalar);
    }

    std::string checksum() override { return rounded_checksum(a_.span(), 1); }
    std::string library() const override { return "own triad, compiled loop"; }
    std::span<std::byte> output() override { return a_.bytes(); }

  private:
    double input(std::size_t index, std::size_t i) const
    {
        return fed_[index].empty() ? random_unit(seed_ + index, i) : fed_[index][i];
    }

    std::size_t n_;
    ThreadTeam team_;
    std::uint64_t seed_{};
    std::array<std::vector<double>, 2> fed_; ///< inputs that came from other operators
    Buffer<double> a_;
    Buffer<double> b_;
    Buffer<double> c_;
};

} // namespace

std::unique_ptr<ProbeOperator> make_stream_triad(const Parameters& parameters, int threads)
{
    return std::make_unique<StreamTriad>(static_cast<std::size_t>(parameters.at("n")), threads);
}

double stream_triad_memory(const Parameters& parameters)
{
    return 24 * static_cast<double>(parameters.at("n"));
}

} // namespace fathom::probes
