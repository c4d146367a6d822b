#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/implementations.hpp"
#include "probes/operators/random.hpp"
#include "probes/operators/thread_team.hpp"
#include "probes/operators/vector_math.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::probes {
namespace {

/// Phases as programs have them: some turns, so that the reduction to one turn has work to do.
constexpr double kLargestAngle = 100;

class Trigonometric final : public ProbeOperator {
  public:
    Trigonometric(std::size_t n, int threads) : n_(n), team_(threads) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        angles_ = Buffer<double>(padded_size());
        results_ = Buffer<double>(2 * padded_size());
        team_.for_parts(padded_size(), [this, seed](Part part) { // who computes a part touches it first
            for (std::size_t i = part.begin; i < part.end; ++i)
                angles_[i] = i < n_ ? kLargestAngle * random_signed(seed, i) : 0;
            std::fill(sines() + part.begin, sines() + part.end, 0.0);
            std::fill(cosines() + part.begin, cosines() + part.end, 0.0);
        });
        return {};
    }

    void execute() override
    {
        team_.for_parts(padded_size(), [this](Part part) {
            const std::size_t size = part.end - part.begin;
            vector_sin(angles_.data() + part.begin, sines() + part.begin, size);
            vector_cos(angles_.data() + part.begin, cosines() + part.begin, size);
        });
    }

    /// The C library's functions in extended precision share no code with its vector functions.
    double error() override
    {
        double largest = 0;
        const auto compare = [&largest](double found, long double truth) {
            const double difference = std::abs(static_cast<double>(static_cast<long double>(found) - truth));
            if (!(difference <= largest)) largest = difference; // keeps a NaN
        };
        for (std::size_t i = 0; i < padded_size(); ++i) {
            compare(sines()[i], std::sin(static_cast<long double>(angles_[i])));
            compare(cosines()[i], std::cos(static_cast<long double>(angles_[i])));
        }
        return largest;
    }

    std::string checksum() override { return rounded_checksum(results_.span(), 1); }
    std::string library() const override { return vector_math_name(); }
    std::span<std::byte> output() override { return results_.bytes(); }

  private:
    /// Whole vectors of any width.
    std::size_t padded_size() const
    {
        return (n_ + kVectorMathMultiple - 1) / kVectorMathMultiple * kVectorMathMultiple;
    }
    double* sines() { return results_.data(); }
    double* cosines() { return results_.data() + padded_size(); }

    std::size_t n_;
    ThreadTeam team_;
    Buffer<double> angles_;
    Buffer<double> results_; ///< sines, then cosines
};

} // namespace

std::unique_ptr<ProbeOperator> make_trigonometric(const Parameters& parameters, int threads)
{
    return std::make_unique<Trigonometric>(static_cast<std::size_t>(parameters.at("n")), threads);
}

double trigonometric_memory(const Parameters& parameters)
{
    return 24 * (static_cast<double>(parameters.at("n")) + kVectorMathMultiple);
}

} // namespace fathom::probes
