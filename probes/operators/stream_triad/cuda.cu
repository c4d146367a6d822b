#include "probes/operators/checksum.hpp"
#include "probes/operators/cuda_fill.cuh"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cuda_operator.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/stream_triad/truth.hpp"

namespace fathom::probes {
namespace {

struct Input {
    std::uint64_t seed;
    std::size_t index;
    constexpr double operator()(std::size_t i) const { return triad_input(seed, index, i); }
};

__global__ void triad(std::size_t n, const double* __restrict__ b, const double* __restrict__ c, double* __restrict__ a)
{
    const std::size_t i = cuda_thread_position();
    if (i < n) a[i] = b[i] + kTriadScalar * c[i];
}

class CudaStreamTriad final : public CudaOperator {
  public:
    explicit CudaStreamTriad(std::size_t n) : n_(n) {}

    void execute() override
    {
        triad<<<cuda_blocks(n_), kCudaBlock, 0, stream().get()>>>(n_, inputs_[0].data(), inputs_[1].data(),
                                                                  a_.written_by_device());
        check_launch();
        stream().wait();
    }

    std::vector<double> values() override
    {
        const std::span<const double> a = a_.on_host(stream());
        return {a.begin(), a.end()};
    }

    Result<void> feed(std::size_t index, std::span<const double> values) override
    {
        if (index >= inputs_.size()) return Error{Errc::kUnavailable, "has two inputs"};
        fed_[index] = fit_values(values, n_);
        inputs_[index].upload(fed_[index], stream());
        return {};
    }

    double error() override { return triad_error(a_.on_host(stream()), seed(), fed_); }
    std::string checksum() override { return rounded_checksum(a_.on_host(stream()), 1); }
    std::string library() const override { return "own triad, " + cuda_runtime_name(); }
    std::span<std::byte> output() override { return std::as_writable_bytes(a_.on_host(stream())); }

  private:
    void prepare_on_device(std::uint64_t seed) override
    {
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            inputs_[i] = DeviceArray<double>(n_);
            fill_on_device(inputs_[i].data(), n_, stream(), Input{seed, i});
        }
        a_ = DeviceResult<double>(n_, stream());
    }

    std::size_t n_;
    std::array<DeviceArray<double>, 2> inputs_; ///< b, c
    std::array<std::vector<double>, 2> fed_;    ///< inputs that came from other operators
    DeviceResult<double> a_;
};

std::unique_ptr<ProbeOperator> make_cuda_stream_triad(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CudaStreamTriad>(static_cast<std::size_t>(parameters.at("n")));
}

double cuda_stream_triad_host_memory(const Parameters& parameters)
{
    return 8 * static_cast<double>(parameters.at("n"));
}

double cuda_stream_triad_device_memory(const Parameters& parameters)
{
    return 24 * static_cast<double>(parameters.at("n"));
}

} // namespace

CudaImplementation stream_triad_on_cuda()
{
    return {.make = make_cuda_stream_triad,
            .host_memory = cuda_stream_triad_host_memory,
            .device_memory = cuda_stream_triad_device_memory};
}

} // namespace fathom::probes
