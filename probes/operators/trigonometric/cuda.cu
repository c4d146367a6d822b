#include "probes/operators/checksum.hpp"
#include "probes/operators/cuda_fill.cuh"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cuda_operator.hpp"
#include "probes/operators/trigonometric/truth.hpp"
#include "probes/operators/vector_math.hpp"

namespace fathom::probes {
namespace {

struct Angle {
    std::uint64_t seed;
    std::size_t n;
    constexpr double operator()(std::size_t i) const { return trigonometric_angle(seed, n, i); }
};

__global__ void sines_and_cosines(std::size_t size, const double* angles, double* sines, double* cosines)
{
    const std::size_t i = cuda_thread_position();
    if (i < size) sincos(angles[i], sines + i, cosines + i);
}

class CudaTrigonometric final : public CudaOperator {
  public:
    // Padded as on CPUs: the digest covers the padding.
    explicit CudaTrigonometric(std::size_t n)
        : n_(n), padded_((n + kVectorMathMultiple - 1) / kVectorMathMultiple * kVectorMathMultiple)
    {
    }

    void execute() override
    {
        double* const results = results_.written_by_device();
        sines_and_cosines<<<cuda_blocks(padded_), kCudaBlock, 0, stream().get()>>>(padded_, angles_.data(), results,
                                                                                   results + padded_);
        check_launch();
        stream().wait();
    }

    double error() override
    {
        const std::span<const double> results = results_.on_host(stream());
        return trigonometric_error(results.first(padded_), results.subspan(padded_), seed(), n_);
    }

    std::string checksum() override { return rounded_checksum(results_.on_host(stream()), 1); }
    std::string library() const override { return "math functions of " + cuda_runtime_name(); }
    std::span<std::byte> output() override { return std::as_writable_bytes(results_.on_host(stream())); }

  private:
    void prepare_on_device(std::uint64_t seed) override
    {
        angles_ = DeviceArray<double>(padded_);
        results_ = DeviceResult<double>(2 * padded_, stream());
        fill_on_device(angles_.data(), padded_, stream(), Angle{seed, n_});
    }

    std::size_t n_;
    std::size_t padded_;
    DeviceArray<double> angles_;
    DeviceResult<double> results_; ///< sines, then cosines
};

std::unique_ptr<ProbeOperator> make_cuda_trigonometric(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CudaTrigonometric>(static_cast<std::size_t>(parameters.at("n")));
}

double cuda_trigonometric_host_memory(const Parameters& parameters)
{
    return 16 * (static_cast<double>(parameters.at("n")) + kVectorMathMultiple);
}

double cuda_trigonometric_device_memory(const Parameters& parameters)
{
    return 24 * (static_cast<double>(parameters.at("n")) + kVectorMathMultiple);
}

} // namespace

CudaImplementation trigonometric_on_cuda()
{
    return {.make = make_cuda_trigonometric,
            .host_memory = cuda_trigonometric_host_memory,
            .device_memory = cuda_trigonometric_device_memory};
}

} // namespace fathom::probes
