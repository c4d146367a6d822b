#pragma once

#include "probes/operators/buffer.hpp"
#include "probes/operators/operator.hpp"

#include <complex>
#include <vector>

struct fftw_plan_s;

namespace fathom::probes {

/// A forward complex transform by FFTW over one to three equal edges: what fft1d, fft2d and fft3d share.
class FftwTransform final : public ProbeOperator {
  public:
    FftwTransform(std::size_t n, int dimensions, int threads);
    ~FftwTransform() override;

    Result<void> prepare(std::uint64_t seed) override;
    void execute() override;
    std::vector<double> values() override;
    Result<void> feed(std::size_t index, std::span<const double> values) override;
    double error() override;
    std::string checksum() override;
    std::string library() const override;
    std::span<std::byte> output() override { return spectrum_.bytes(); }

  private:
    std::size_t n_;
    int dimensions_;
    int threads_;
    std::uint64_t seed_{};
    double planning_s_{};
    Buffer<std::complex<double>> input_;
    Buffer<std::complex<double>> spectrum_;
    fftw_plan_s* plan_ = nullptr;
};

/// Bytes of a transform of that size.
double fftw_memory(double elements);

} // namespace fathom::probes
