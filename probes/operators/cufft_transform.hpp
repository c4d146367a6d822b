#pragma once

#include "probes/operators/cuda_operator.hpp"

#include <complex>
#include <vector>

namespace fathom::probes {

/// A forward complex transform by cuFFT over one to three equal edges, out of place: what fft1d, fft2d and fft3d
/// share on CUDA devices.
class CufftTransform final : public CudaOperator {
  public:
    CufftTransform(std::size_t n, int dimensions);
    ~CufftTransform() override;

    void execute() override;
    std::vector<double> values() override;
    Result<void> feed(std::size_t index, std::span<const double> values) override;
    double error() override;
    std::string checksum() override;
    std::string library() const override;
    std::span<std::byte> output() override;

  private:
    void prepare_on_device(std::uint64_t seed) override;
    std::vector<std::complex<double>> input() const;
    std::span<double> spectrum_parts();

    std::size_t n_;
    int dimensions_;
    std::size_t size_; ///< n^dimensions
    bool has_plan_ = false;
    int plan_{};
    std::vector<double> fed_;   ///< an input that came from another operator
    DeviceArray<double> input_; ///< real and imaginary parts
    DeviceResult<std::complex<double>> spectrum_;
};

/// Bytes of a transform of that size.
double cufft_host_memory(double elements);
double cufft_device_memory(double elements);

} // namespace fathom::probes
