#include "probes/operators/checksum.hpp"
#include "probes/operators/cuda_fill.cuh"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cuda_operator.hpp"
#include "probes/operators/random_access/truth.hpp"

namespace fathom::probes {
namespace {

/// Walks of one warp step together; one warp a block spreads the warps over all multiprocessors.
constexpr unsigned kWarp = 32;

/// Thread i writes the value of node i, and the successor of the i-th node of the cycle.
__global__ void link_nodes(std::size_t n, std::uint64_t seed, const std::uint32_t* order, ChaseNode* nodes)
{
    const std::size_t i = cuda_thread_position();
    if (i >= n) return;
    nodes[i].value = chase_value(seed, i);
    nodes[order[i]].next = order[i + 1 < n ? i + 1 : 0];
}

/// One thread a walk.
__global__ void chase(std::size_t n, std::size_t walks, const ChaseNode* __restrict__ nodes,
                      const std::uint32_t* __restrict__ starts, ChaseTrace* __restrict__ traces)
{
    const std::size_t walk = cuda_thread_position();
    if (walk >= walks) return;
    const std::size_t left = n - walk * kChaseSteps;
    std::uint32_t node = starts[walk];
    std::uint64_t sum = 0;
    for (std::size_t steps = left < kChaseSteps ? left : kChaseSteps; steps > 0; --steps) {
        sum += nodes[node].value;
        node = nodes[node].next;
    }
    traces[walk].end = node;
    traces[walk].sum = sum;
}

class CudaRandomAccess final : public CudaOperator {
  public:
    explicit CudaRandomAccess(std::size_t n) : n_(n) {}

    void execute() override
    {
        chase<<<cuda_blocks(starts_.size(), kWarp), kWarp, 0, stream().get()>>>(
            n_, starts_.size(), nodes_.data(), starts_.data(), traces_.written_by_device());
        check_launch();
        stream().wait();
    }

    double error() override { return cycle_.error(traces_.on_host(stream())); }
    std::string checksum() override { return exact_checksum(output()); }
    std::string library() const override { return "own pointer chase, " + cuda_runtime_name(); }
    std::span<std::byte> output() override { return std::as_writable_bytes(traces_.on_host(stream())); }

  private:
    void prepare_on_device(std::uint64_t seed) override
    {
        cycle_ = ChaseCycle(n_, seed);
        nodes_ = DeviceArray<ChaseNode>(n_);
        traces_ = DeviceResult<ChaseTrace>(cycle_.walk_count(), stream());
        DeviceArray<std::uint32_t> order(n_);
        order.upload(cycle_.order(), stream());
        link_nodes<<<cuda_blocks(n_), kCudaBlock, 0, stream().get()>>>(n_, seed, order.data(), nodes_.data());
        check_launch();

        std::vector<std::uint32_t> starts;
        for (std::size_t walk = 0; walk < cycle_.walk_count(); ++walk)
            starts.push_back(cycle_.order()[cycle_.walk_begin(walk)]);
        starts_ = DeviceArray<std::uint32_t>(starts.size());
        starts_.upload(starts, stream()); // waits for the kernel, too, which still reads the order
    }

    std::size_t n_;
    ChaseCycle cycle_;
    DeviceArray<ChaseNode> nodes_;
    DeviceArray<std::uint32_t> starts_; ///< the first node of each walk
    DeviceResult<ChaseTrace> traces_;
};

std::unique_ptr<ProbeOperator> make_cuda_random_access(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CudaRandomAccess>(static_cast<std::size_t>(parameters.at("n")));
}

double cuda_random_access_host_memory(const Parameters& parameters)
{
    return static_cast<double>(sizeof(std::uint32_t)) * static_cast<double>(parameters.at("n"));
}

double cuda_random_access_device_memory(const Parameters& parameters)
{
    return static_cast<double>(sizeof(ChaseNode) + sizeof(std::uint32_t)) * static_cast<double>(parameters.at("n"));
}

} // namespace

CudaImplementation random_access_on_cuda()
{
    return {.make = make_cuda_random_access,
            .host_memory = cuda_random_access_host_memory,
            .device_memory = cuda_random_access_device_memory};
}

} // namespace fathom::probes
