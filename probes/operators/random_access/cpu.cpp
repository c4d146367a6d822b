#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/random_access/truth.hpp"
#include "probes/operators/thread_team.hpp"

#include <algorithm>

namespace fathom::probes {
namespace {

class RandomAccess final : public ProbeOperator {
  public:
    RandomAccess(std::size_t n, int threads) : n_(n), team_(threads) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        cycle_ = ChaseCycle(n_, seed);
        const std::span<const std::uint32_t> order = cycle_.order();
        nodes_ = Buffer<ChaseNode>(n_);
        // In the order of memory: pages are touched one after the other, by each thread those of its part.
        fill_in_parts(team_, nodes_,
                      [seed](std::size_t i) { return ChaseNode{.next = 0, .value = chase_value(seed, i)}; });
        for (std::size_t i = 0; i < n_; ++i)
            nodes_[order[i]].next = order[(i + 1) % n_];
        traces_ = Buffer<ChaseTrace>(cycle_.walk_count());
        std::fill_n(traces_.data(), traces_.size(), ChaseTrace{});
        return {};
    }

    void execute() override
    {
        team_.for_parts(traces_.size() * kLine, [this](Part part) {
            for (std::size_t walk = part.begin / kLine; walk < part.end / kLine; ++walk)
                traces_[walk] = trace(walk);
        });
    }

    double error() override { return cycle_.error(traces_.span()); }
    std::string checksum() override { return exact_checksum(traces_.bytes()); }
    std::string library() const override { return "own pointer chase"; }
    std::span<std::byte> output() override { return traces_.bytes(); }

  private:
    /// ThreadTeam gives whole lines of that many items to a thread.
    static constexpr std::size_t kLine = 8;

    ChaseTrace trace(std::size_t walk) const
    {
        const ChaseNode* const nodes = nodes_.data();
        ChaseTrace trace{.end = cycle_.order()[cycle_.walk_begin(walk)], .sum = 0};
        for (std::size_t steps = cycle_.walk_end(walk) - cycle_.walk_begin(walk); steps > 0; --steps) {
            const ChaseNode& node = nodes[trace.end];
            trace.sum += node.value;
            trace.end = node.next;
        }
        return trace;
    }

    std::size_t n_;
    ThreadTeam team_;
    ChaseCycle cycle_;
    Buffer<ChaseNode> nodes_;
    Buffer<ChaseTrace> traces_;
};

std::unique_ptr<ProbeOperator> make_random_access(const Parameters& parameters, int threads)
{
    return std::make_unique<RandomAccess>(static_cast<std::size_t>(parameters.at("n")), threads);
}

double random_access_memory(const Parameters& parameters)
{
    return static_cast<double>(parameters.at("n")) * (sizeof(ChaseNode) + sizeof(std::uint32_t));
}

} // namespace

CpuImplementation random_access_on_cpu()
{
    return {.make = make_random_access, .memory = random_access_memory, .has_program_threads = true};
}

} // namespace fathom::probes
