/// Operators without a library: the loops that a textbook gives.
#include "tests/bench/bare_operators.hpp"

#include <boost/sort/pdqsort/pdqsort.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <sys/mman.h>
#include <vector>

namespace fathom::bench {

// As in the STREAM benchmark: static arrays, so that the compiler knows that they do not overlap. With
// external linkage, though: else it would see that nobody reads the result and drop the loop.
constexpr long kTriadSize = 20000000;
extern double triad_a[kTriadSize];
extern double triad_b[kTriadSize];
extern double triad_c[kTriadSize];
alignas(4096) double triad_a[kTriadSize];
alignas(4096) double triad_b[kTriadSize];
alignas(4096) double triad_c[kTriadSize];

namespace {

class BareTriad final : public BareOperator {
  public:
    BareTriad()
    {
        for (double* const array : {triad_a, triad_b, triad_c}) // fresh pages for every instance, as ours gets
            madvise(array, sizeof(triad_a) / 4096 * 4096, MADV_DONTNEED); // others share the last page
        for (long j = 0; j < kTriadSize; ++j) {
            triad_a[j] = 1.0;
            triad_b[j] = 2.0;
            triad_c[j] = 0.5;
        }
    }

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i) {
            const double scalar = 3.0 + static_cast<double>(i & 1); // else the outer loop could be dropped
            for (long j = 0; j < kTriadSize; ++j)
                triad_a[j] = triad_b[j] + scalar * triad_c[j];
        }
    }
};

class BareSort final : public BareOperator {
  public:
    BareSort()
    {
        std::mt19937_64 random(1); // NOLINT: the values do not matter
        for (std::uint64_t& key : keys_)
            key = random();
    }

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i) {
            sorted_ = keys_;
            boost::sort::pdqsort_branchless(sorted_.begin(), sorted_.end());
        }
    }

  private:
    static constexpr std::size_t kSize = 1000000;
    std::vector<std::uint64_t> keys_ = std::vector<std::uint64_t>(kSize);
    std::vector<std::uint64_t> sorted_ = std::vector<std::uint64_t>(kSize);
};

/// One walk around a random cycle of cache lines.
class BareChase final : public BareOperator {
  public:
    BareChase()
    {
        std::vector<std::size_t> order(kNodes);
        std::iota(order.begin(), order.end(), 0U);
        std::minstd_rand random(1); // NOLINT: the values do not matter
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t i = 0; i < kNodes; ++i)
            nodes_[order[i]].next = &nodes_[order[(i + 1) % kNodes]];
        at_ = nodes_.data();
    }

    void loop(long times) override
    {
        const Node* at = at_;
        for (long i = 0; i < times; ++i) {
            for (std::size_t step = 0; step < kNodes; ++step)
                at = at->next;
        }
        at_ = at; // else nobody would need the walk
    }

  private:
    static constexpr std::size_t kNodes = 1 << 19;
    struct alignas(64) Node {
        const Node* next;
    };
    std::vector<Node> nodes_ = std::vector<Node>(kNodes);
    const Node* at_;
};

/// Table[r & mask] ^= r with random r, as HPC Challenge's RandomAccess: no update waits for another, so that many are
/// under way at once. 128 streams in turn, as its rules allow at most 1024 updates ahead.
class RandomUpdates final : public BareOperator {
  public:
    explicit RandomUpdates(std::size_t size) : table_(size)
    {
        std::iota(table_.begin(), table_.end(), 0U);
        std::mt19937_64 random(1); // NOLINT: the values do not matter
        for (std::uint64_t& stream : streams_)
            stream = random();
    }

    void loop(long times) override
    {
        std::uint64_t* const table = table_.data();
        const std::uint64_t mask = table_.size() - 1;
        for (std::size_t round = static_cast<std::size_t>(times) * 4 * table_.size() / kStreams; round > 0; --round) {
            for (std::uint64_t& stream : streams_) {
                stream = stream << 1U ^ (stream >> 63U) * kPolynomial;
                table[stream & mask] ^= stream;
            }
        }
    }

  private:
    static constexpr std::size_t kStreams = 128;
    static constexpr std::uint64_t kPolynomial = 7;
    std::vector<std::uint64_t> table_;
    std::array<std::uint64_t, kStreams> streams_{};
};

} // namespace

std::unique_ptr<BareOperator> make_random_updates(std::size_t size)
{
    return std::make_unique<RandomUpdates>(size);
}

std::unique_ptr<BareOperator> make_bare_kernel(std::string_view id)
{
    if (id == "stream_triad") return std::make_unique<BareTriad>();
    if (id == "sort") return std::make_unique<BareSort>();
    if (id == "random_access") return std::make_unique<BareChase>();
    return nullptr;
}

} // namespace fathom::bench
