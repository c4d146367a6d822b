/// Operators without a library: the loops that a textbook gives.
#include "tests/bench/bare_operators.hpp"

#include <boost/sort/pdqsort/pdqsort.hpp>

#include <algorithm>
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

/// The textbook loop on the pattern of a 27-point stencil.
class BareSpmv final : public BareOperator {
  public:
    BareSpmv() : x_(random_vector(kRows)), y_(kRows)
    {
        row_begin_.push_back(0);
        for (int row = 0; row < kRows; ++row) {
            std::vector<int> columns;
            for (const int plane : {-kEdge * kEdge, 0, kEdge * kEdge}) {
                for (const int line : {-kEdge, 0, kEdge}) {
                    for (const int point : {-1, 0, 1})
                        columns.push_back((row + plane + line + point + kRows) % kRows);
                }
            }
            std::sort(columns.begin(), columns.end());
            columns_.insert(columns_.end(), columns.begin(), columns.end());
            row_begin_.push_back(static_cast<int>(columns_.size()));
        }
        values_ = random_vector(columns_.size());
    }

    void loop(long times) override
    {
        const int* const row_begin = row_begin_.data();
        const int* const columns = columns_.data();
        const double* const values = values_.data();
        const double* const x = x_.data();
        double* const y = y_.data();
        for (long i = 0; i < times; ++i) {
            for (int row = 0; row < kRows; ++row) {
                double sum = 0;
                for (int e = row_begin[row]; e < row_begin[row + 1]; ++e)
                    sum += values[e] * x[columns[e]];
                y[row] = sum;
            }
        }
    }

  private:
    static constexpr int kRows = 1000000;
    static constexpr int kEdge = 100;
    std::vector<int> row_begin_;
    std::vector<int> columns_;
    std::vector<double> values_;
    std::vector<double> x_;
    std::vector<double> y_;
};

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

/// Conjugate gradients as in the textbook, on the stencil of a 64 x 64 x 64 grid: one loop a formula.
class BareConjugateGradient final : public BareOperator {
  public:
    BareConjugateGradient()
    {
        row_begin_.push_back(0);
        for (int z = 0; z < kEdge; ++z) {
            for (int y = 0; y < kEdge; ++y) {
                for (int x = 0; x < kEdge; ++x)
                    add_row(z, y, x);
            }
        }
    }

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            solve();
    }

  private:
    static constexpr int kEdge = 64;
    static constexpr int kRows = kEdge * kEdge * kEdge;
    static constexpr int kIterations = 15;

    void add_row(int z, int y, int x)
    {
        for (int c = std::max(z - 1, 0); c <= std::min(z + 1, kEdge - 1); ++c) {
            for (int b = std::max(y - 1, 0); b <= std::min(y + 1, kEdge - 1); ++b) {
                for (int a = std::max(x - 1, 0); a <= std::min(x + 1, kEdge - 1); ++a) {
                    columns_.push_back((c * kEdge + b) * kEdge + a);
                    values_.push_back(a == x && b == y && c == z ? 28 : -1);
                }
            }
        }
        row_begin_.push_back(static_cast<int>(columns_.size()));
    }

    static double dot(const std::vector<double>& a, const std::vector<double>& b)
    {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }

    void multiply()
    {
        for (std::size_t row = 0; row < kRows; ++row) {
            double sum = 0;
            for (auto e = static_cast<std::size_t>(row_begin_[row]); e < static_cast<std::size_t>(row_begin_[row + 1]);
                 ++e)
                sum += values_[e] * p_[static_cast<std::size_t>(columns_[e])];
            q_[row] = sum;
        }
    }

    void solve()
    {
        std::fill(x_.begin(), x_.end(), 0.0);
        r_ = b_;
        p_ = b_;
        double rr = dot(r_, r_);
        for (int iteration = 0; iteration < kIterations; ++iteration) {
            multiply();
            const double alpha = rr / dot(p_, q_);
            for (std::size_t i = 0; i < kRows; ++i)
                x_[i] += alpha * p_[i];
            for (std::size_t i = 0; i < kRows; ++i)
                r_[i] -= alpha * q_[i];
            const double next = dot(r_, r_);
            const double beta = next / rr;
            for (std::size_t i = 0; i < kRows; ++i)
                p_[i] = r_[i] + beta * p_[i];
            rr = next;
        }
    }

    std::vector<int> row_begin_;
    std::vector<int> columns_;
    std::vector<double> values_;
    std::vector<double> b_ = random_vector(kRows);
    std::vector<double> x_ = std::vector<double>(kRows);
    std::vector<double> r_ = std::vector<double>(kRows);
    std::vector<double> p_ = std::vector<double>(kRows);
    std::vector<double> q_ = std::vector<double>(kRows);
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

} // namespace

std::unique_ptr<BareOperator> make_bare_kernel(std::string_view id)
{
    if (id == "spmv") return std::make_unique<BareSpmv>();
    if (id == "stream_triad") return std::make_unique<BareTriad>();
    if (id == "conjugate_gradient") return std::make_unique<BareConjugateGradient>();
    if (id == "sort") return std::make_unique<BareSort>();
    if (id == "random_access") return std::make_unique<BareChase>();
    return nullptr;
}

} // namespace fathom::bench
