#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/random.hpp"
#include "probes/operators/sort/truth.hpp"
#include "probes/operators/thread_team.hpp"

#include <boost/sort/pdqsort/pdqsort.hpp>
#include <boost/version.hpp>

#include <algorithm>

namespace fathom::probes {
namespace {

using Key = std::uint64_t;

/// Sorted keys, some of the array.
struct Run {
    const Key* keys;
    std::size_t size;
};

/// How many of the first `position` keys of the merged runs come from `a`, if equal keys of `a` come first: a
/// binary search along the diagonal of the merge's path.
std::size_t taken_from_first(Run a, Run b, std::size_t position)
{
    std::size_t low = position > b.size ? position - b.size : 0;
    std::size_t high = std::min(position, a.size);
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (a.keys[middle] <= b.keys[position - middle - 1])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Writes keys begin..end−1 of the merged runs to where they belong.
void merge_part(Run a, Run b, Part part, Key* merged)
{
    const std::size_t a_begin = taken_from_first(a, b, part.begin);
    const std::size_t a_end = taken_from_first(a, b, part.end);
    std::merge(a.keys + a_begin, a.keys + a_end, b.keys + part.begin - a_begin, b.keys + part.end - a_end,
               merged + part.begin);
}

/// Every thread sorts a part; then neighbours are merged, all threads working on every merge.
class Sort final : public ProbeOperator {
  public:
    Sort(std::size_t n, int threads) : n_(n), runs_(static_cast<std::size_t>(threads)), team_(threads) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        keys_ = Buffer<Key>(n_);
        sorted_ = Buffer<Key>(n_);
        scratch_ = Buffer<Key>(runs_ > 1 ? n_ : 0);
        team_.for_parts(n_, [this](Part part) { // who sorts a part touches it first
            for (std::size_t i = part.begin; i < part.end; ++i) {
                keys_[i] = random_bits(seed_, i);
                sorted_[i] = 0;
                if (scratch_.size() > 0) scratch_[i] = 0;
            }
        });
        return {};
    }

    void execute() override
    {
        // Sorting goes where an even number of merging rounds leads to `sorted_`.
        std::size_t rounds = 0;
        while (run_size() << rounds < n_)
            ++rounds;
        Key* from = rounds % 2 == 0 ? sorted_.data() : scratch_.data();
        Key* to = rounds % 2 == 0 ? scratch_.data() : sorted_.data();
        team_.for_parts(runs_ * kLine, [&](Part part) {
            for (std::size_t run = part.begin / kLine; run < part.end / kLine; ++run)
                sort_run(run, from);
        });
        for (std::size_t size = run_size(); size < n_; size *= 2, std::swap(from, to))
            team_.for_parts(n_, [&](Part part) { merge_pairs(part, size, from, to); });
    }

    double error() override { return sort_error(sorted_.span(), seed_); }
    std::string checksum() override { return exact_checksum(sorted_.bytes()); }

    std::string library() const override
    {
        return "Boost.Sort " + std::to_string(BOOST_VERSION / 100000) + "." +
               std::to_string(BOOST_VERSION / 100 % 1000) + " pdqsort, own parallel merge";
    }

    std::span<std::byte> output() override { return sorted_.bytes(); }

  private:
    /// ThreadTeam gives whole lines of that many items to a thread.
    static constexpr std::size_t kLine = 8;

    std::size_t run_size() const { return (n_ + runs_ - 1) / runs_; }

    void sort_run(std::size_t run, Key* to) const
    {
        const std::size_t begin = std::min(run * run_size(), n_);
        const std::size_t end = std::min(begin + run_size(), n_);
        std::copy(keys_.data() + begin, keys_.data() + end, to + begin);
        boost::sort::pdqsort_branchless(to + begin, to + end);
    }

    /// The part's keys of the next round, in which runs of `size` are merged in pairs.
    void merge_pairs(Part part, std::size_t size, const Key* from, Key* to) const
    {
        for (std::size_t begin = part.begin; begin < part.end;) {
            const std::size_t pair = begin / (2 * size) * (2 * size);
            const std::size_t middle = std::min(pair + size, n_);
            const std::size_t pair_end = std::min(pair + 2 * size, n_);
            const std::size_t end = std::min(part.end, pair_end);
            merge_part({from + pair, middle - pair}, {from + middle, pair_end - middle}, {begin - pair, end - pair},
                       to + pair);
            begin = end;
        }
    }

    std::size_t n_;
    std::size_t runs_;
    ThreadTeam team_;
    std::uint64_t seed_{};
    Buffer<Key> keys_;
    Buffer<Key> sorted_;
    Buffer<Key> scratch_;
};

std::unique_ptr<ProbeOperator> make_sort(const Parameters& parameters, int threads)
{
    return std::make_unique<Sort>(static_cast<std::size_t>(parameters.at("n")), threads);
}

double sort_memory(const Parameters& parameters)
{
    return 24 * static_cast<double>(parameters.at("n"));
}

} // namespace

CpuImplementation sort_on_cpu()
{
    return {.make = make_sort, .memory = sort_memory, .has_program_threads = true};
}

} // namespace fathom::probes
