#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/thread_team.hpp"
#include "probes/operators/trigonometric/truth.hpp"
#include "probes/operators/vector_math.hpp"

#include <algorithm>

namespace fathom::probes {
namespace {

class Trigonometric final : public ProbeOperator {
  public:
    Trigonometric(std::size_t n, int threads) : n_(n), team_(threads) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        angles_ = Buffer<double>(padded_size());
        results_ = Buffer<double>(2 * padded_size());
        team_.for_parts(padded_size(), [this](Part part) { // who computes a part touches it first
            for (std::size_t i = part.begin; i < part.end; ++i)
                angles_[i] = trigonometric_angle(seed_, n_, i);
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

    double error() override
    {
        return trigonometric_error({sines(), padded_size()}, {cosines(), padded_size()}, seed_, n_);
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
    std::uint64_t seed_{};
    Buffer<double> angles_;
    Buffer<double> results_; ///< sines, then cosines
};

std::unique_ptr<ProbeOperator> make_trigonometric(const Parameters& parameters, int threads)
{
    return std::make_unique<Trigonometric>(static_cast<std::size_t>(parameters.at("n")), threads);
}

double trigonometric_memory(const Parameters& parameters)
{
    return 24 * (static_cast<double>(parameters.at("n")) + kVectorMathMultiple);
}

} // namespace

CpuImplementation trigonometric_on_cpu()
{
    return {.make = make_trigonometric, .memory = trigonometric_memory, .has_program_threads = true};
}

} // namespace fathom::probes
