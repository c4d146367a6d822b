#include "probes/operators/checksum.hpp"
#include "probes/operators/cuda_fill.cuh"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cuda_operator.hpp"
#include "probes/operators/sort/truth.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>

namespace fathom::probes {
namespace {

using Key = std::uint64_t;

struct RandomKey {
    std::uint64_t seed;
    constexpr Key operator()(std::size_t i) const { return random_bits(seed, i); }
};

class CudaSort final : public CudaOperator {
  public:
    explicit CudaSort(std::size_t n) : n_(n) {}

    void execute() override
    {
        std::size_t work_bytes = work_.size();
        sort(work_.data(), work_bytes, sorted_.written_by_device());
        stream().wait();
    }

    double error() override { return sort_error(sorted_.on_host(stream()), seed()); }
    std::string checksum() override { return exact_checksum(output()); }

    std::string library() const override
    {
        return "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
               std::to_string(CUB_SUBMINOR_VERSION) + " radix sort, " + cuda_runtime_name();
    }

    std::span<std::byte> output() override { return std::as_writable_bytes(sorted_.on_host(stream())); }

  private:
    void prepare_on_device(std::uint64_t seed) override
    {
        keys_ = DeviceArray<Key>(n_);
        sorted_ = DeviceResult<Key>(n_, stream());
        fill_on_device(keys_.data(), n_, stream(), RandomKey{seed});
        std::size_t work_bytes = 0;
        sort(nullptr, work_bytes, sorted_.written_by_device());
        work_ = DeviceArray<std::byte>(work_bytes);
    }

    /// Without work space: tells how much of it is needed.
    void sort(void* work, std::size_t& work_bytes, Key* to) const
    {
        constexpr int kBits = 64;
        check(cub::DeviceRadixSort::SortKeys(work, work_bytes, keys_.data(), to, static_cast<int>(n_), 0, kBits,
                                             stream().get()),
              "cub::DeviceRadixSort");
    }

    std::size_t n_;
    DeviceArray<Key> keys_;
    DeviceResult<Key> sorted_;
    DeviceArray<std::byte> work_;
};

std::unique_ptr<ProbeOperator> make_cuda_sort(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CudaSort>(static_cast<std::size_t>(parameters.at("n")));
}

double cuda_sort_host_memory(const Parameters& parameters)
{
    return 8 * static_cast<double>(parameters.at("n"));
}

double cuda_sort_device_memory(const Parameters& parameters)
{
    constexpr double kCounters = 16e6;
    return 24 * static_cast<double>(parameters.at("n")) + kCounters; // keys, sorted keys, and a copy in between
}

} // namespace

CudaImplementation sort_on_cuda()
{
    return {.make = make_cuda_sort, .host_memory = cuda_sort_host_memory, .device_memory = cuda_sort_device_memory};
}

} // namespace fathom::probes
