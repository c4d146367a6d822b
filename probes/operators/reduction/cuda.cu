#include "probes/operators/cuda_fill.cuh"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cuda_operator.hpp"
#include "probes/operators/reduction/truth.hpp"

namespace fathom::probes {
namespace {

/// Vectors on the device: as many as a node often has ranks or devices.
constexpr std::size_t kRanks = 8;

struct Input {
    std::uint64_t seed;
    std::size_t rank;
    constexpr double operator()(std::size_t i) const { return reduction_input(seed, rank, kRanks, i); }
};

/// One thread an element: adds it up over all ranks, and gives the sum to each.
__global__ void all_reduce(std::size_t n, const double* __restrict__ vectors, double* __restrict__ results)
{
    const std::size_t i = cuda_thread_position();
    if (i >= n) return;
    double sum = vectors[i];
    for (std::size_t rank = 1; rank < kRanks; ++rank)
        sum += vectors[rank * n + i];
    for (std::size_t rank = 0; rank < kRanks; ++rank)
        results[rank * n + i] = sum;
}

/// The all-reduce of ranks that share one device: their vectors lie in its memory, and no link is crossed.
class CudaReduction final : public CudaOperator {
  public:
    explicit CudaReduction(std::size_t n) : n_(n) {}

    void execute() override
    {
        all_reduce<<<cuda_blocks(n_), kCudaBlock, 0, stream().get()>>>(n_, vectors_.data(),
                                                                       results_.written_by_device());
        check_launch();
        stream().wait();
    }

    double error() override { return reduction_error(results_.on_host(stream()), n_, seed()); }
    std::string checksum() override { return reduction_checksum(results_.on_host(stream()), n_); }

    std::string library() const override
    {
        return "own all-reduce of " + std::to_string(kRanks) + " vectors on one device, " + cuda_runtime_name();
    }

    std::span<std::byte> output() override { return std::as_writable_bytes(results_.on_host(stream())); }

  private:
    void prepare_on_device(std::uint64_t seed) override
    {
        vectors_ = DeviceArray<double>(kRanks * n_);
        results_ = DeviceResult<double>(kRanks * n_, stream());
        for (std::size_t rank = 0; rank < kRanks; ++rank)
            fill_on_device(vectors_.data() + rank * n_, n_, stream(), Input{seed, rank});
    }

    std::size_t n_;
    DeviceArray<double> vectors_;
    DeviceResult<double> results_;
};

std::unique_ptr<ProbeOperator> make_cuda_reduction(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CudaReduction>(static_cast<std::size_t>(parameters.at("n")));
}

double cuda_reduction_host_memory(const Parameters& parameters)
{
    return 8 * static_cast<double>(kRanks) * static_cast<double>(parameters.at("n"));
}

double cuda_reduction_device_memory(const Parameters& parameters)
{
    return 2 * cuda_reduction_host_memory(parameters);
}

} // namespace

CudaImplementation reduction_on_cuda()
{
    return {.make = make_cuda_reduction,
            .host_memory = cuda_reduction_host_memory,
            .device_memory = cuda_reduction_device_memory};
}

} // namespace fathom::probes
