#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/implementations.hpp"
#include "probes/operators/random.hpp"
#include "probes/operators/thread_team.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace fathom::probes {
namespace {

/// A cache line of its own: every step loads one.
struct alignas(64) Node {
    std::uint32_t next;
    std::uint32_t value;
};
static_assert(sizeof(Node) == 64);

/// Walks of this many steps, so that threads can walk side by side. Enough steps that a walk's start, which the
/// processor may overlap with the end of the walk before, does not count.
constexpr std::size_t kWalk = 4096;

/// What a walk has seen.
struct Trace {
    std::uint64_t end{}; ///< the node behind the last step
    std::uint64_t sum{}; ///< of the values of the nodes passed
};

class RandomAccess final : public ProbeOperator {
  public:
    RandomAccess(std::size_t n, int threads) : n_(n), team_(threads) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        order_.resize(n_);
        std::iota(order_.begin(), order_.end(), 0U);
        for (std::size_t i = n_ - 1; i > 0; --i) // Fisher and Yates
            std::swap(order_[i], order_[random_bits(seed, i) % (i + 1)]);
        nodes_ = Buffer<Node>(n_);
        for (std::size_t i = 0; i < n_; ++i) // in the order of memory: pages are touched one after the other
            nodes_[i] = {.next = 0, .value = value(i)};
        for (std::size_t i = 0; i < n_; ++i)
            nodes_[order_[i]].next = order_[(i + 1) % n_];
        traces_ = Buffer<Trace>((n_ + kWalk - 1) / kWalk);
        std::fill_n(traces_.data(), traces_.size(), Trace{});
        return {};
    }

    void execute() override
    {
        team_.for_parts(traces_.size() * kLine, [this](Part part) {
            for (std::size_t walk = part.begin / kLine; walk < part.end / kLine; ++walk)
                traces_[walk] = trace(walk);
        });
    }

    /// The share of walks that ended elsewhere or passed other nodes than the permutation says.
    double error() override
    {
        std::size_t wrong = 0;
        for (std::size_t walk = 0; walk < traces_.size(); ++walk) {
            Trace truth;
            for (std::size_t i = walk * kWalk; i < walk_end(walk); ++i)
                truth.sum += value(order_[i]);
            truth.end = order_[walk_end(walk) % n_];
            if (truth.end != traces_[walk].end || truth.sum != traces_[walk].sum) ++wrong;
        }
        return static_cast<double>(wrong) / static_cast<double>(traces_.size());
    }

    std::string checksum() override { return exact_checksum(traces_.bytes()); }
    std::string library() const override { return "own pointer chase"; }
    std::span<std::byte> output() override { return traces_.bytes(); }

  private:
    /// ThreadTeam gives whole lines of that many items to a thread.
    static constexpr std::size_t kLine = 8;

    std::uint32_t value(std::size_t node) const { return static_cast<std::uint32_t>(random_bits(seed_ + 1, node)); }
    std::size_t walk_end(std::size_t walk) const { return std::min((walk + 1) * kWalk, n_); }

    Trace trace(std::size_t walk) const
    {
        const Node* const nodes = nodes_.data();
        Trace trace{.end = order_[walk * kWalk], .sum = 0};
        for (std::size_t steps = walk_end(walk) - walk * kWalk; steps > 0; --steps) {
            const Node& node = nodes[trace.end];
            trace.sum += node.value;
            trace.end = node.next;
        }
        return trace;
    }

    std::size_t n_;
    ThreadTeam team_;
    std::uint64_t seed_{};
    std::vector<std::uint32_t> order_; ///< nodes as the walk passes them
    Buffer<Node> nodes_;
    Buffer<Trace> traces_;
};

} // namespace

std::unique_ptr<ProbeOperator> make_random_access(const Parameters& parameters, int threads)
{
    return std::make_unique<RandomAccess>(static_cast<std::size_t>(parameters.at("n")), threads);
}

double random_access_memory(const Parameters& parameters)
{
    return static_cast<double>(parameters.at("n")) * (sizeof(Node) + sizeof(std::uint32_t));
}

} // namespace fathom::probes
