#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/implementations.hpp"
#include "probes/operators/random.hpp"
#include "probes/operators/thread_team.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

namespace fathom::probes {
namespace {

constexpr std::size_t kPerRow = 27;

/// e^(2πi·f·j/n), the angle reduced in whole numbers.
std::complex<double> harmonic(std::uint64_t f, std::uint64_t j, std::uint64_t n)
{
    const double angle = 2 * std::numbers::pi * static_cast<double>(f * j % n) / static_cast<double>(n);
    return {std::cos(angle), std::sin(angle)};
}

/// A circulant matrix with the pattern of a 27-point stencil on a grid of edge ∛rows whose lines and
/// planes follow each other without a border. It is stored like any other sparse matrix, so it costs
/// what any other costs, yet its eigenvectors are the harmonics: the truth has a closed form.
class Spmv final : public ProbeOperator {
  public:
    Spmv(std::size_t rows, int threads) : rows_(rows), team_(threads) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        choose_stencil(seed);
        frequency_ = 1 + random_bits(seed + 1, 0) % (rows_ - 1);
        phase_ = std::polar(1.0, 2 * std::numbers::pi * random_unit(seed + 1, 1));
        row_begin_ = Buffer<std::int32_t>(rows_ + 1);
        columns_ = Buffer<std::int32_t>(rows_ * kPerRow);
        values_ = Buffer<double>(rows_ * kPerRow);
        x_ = Buffer<double>(rows_);
        y_ = Buffer<double>(rows_);
        team_.for_parts(rows_, [this](Part part) { // each thread touches first what it will read and write
            const auto first = static_cast<std::ptrdiff_t>(part.begin * kPerRow);
            const auto last = static_cast<std::ptrdiff_t>(part.end * kPerRow);
            // One array after the other: pages that are touched in turn end up interleaved in memory,
            // and reading is then about 4 % slower.
            std::fill(values_.data() + first, values_.data() + last, 0.0);
            std::fill(columns_.data() + first, columns_.data() + last, 0);
            for (std::size_t row = part.begin; row < part.end; ++row)
                fill_row(row);
        });
        row_begin_[0] = 0;
        return {};
    }

    void execute() override
    {
        team_.for_parts(rows_, [this](Part part) { multiply(part); });
    }

    std::vector<double> values() override { return {y_.span().begin(), y_.span().end()}; }

    Result<void> feed(std::size_t index, std::span<const double> values) override
    {
        if (index != 0) return Error{Errc::kUnavailable, "has one input, the vector"};
        fed_ = fit_values(values, rows_);
        std::copy(fed_.begin(), fed_.end(), x_.data());
        return {};
    }

    double error() override { return fed_.empty() ? error_by_eigenvalue() : error_by_stencil(); }

    std::string checksum() override { return rounded_checksum(y_.span(), 1); }
    std::string library() const override { return "own CSR kernel, 32-bit indices"; }
    std::span<std::byte> output() override { return y_.bytes(); }

  private:
    /// Relative to what a row could sum up to: the result itself may be small by cancellation.
    double relative(double difference) const
    {
        double largest = 0;
        for (const double weight : weights_)
            largest += weight;
        return difference / largest;
    }

    /// For any vector: the stencil applied without the stored matrix.
    double error_by_stencil() const
    {
        double difference = 0;
        for (std::size_t i = 0; i < rows_; ++i) {
            double truth = 0;
            for (std::size_t e = 0; e < kPerRow; ++e)
                truth += weights_[e] * fed_[(i + offsets_[e]) % rows_];
            const double found = std::abs(y_[i] - truth);
            if (!(found <= difference)) difference = found; // keeps a NaN
        }
        return relative(difference);
    }

    double error_by_eigenvalue() const
    {
        std::complex<double> eigenvalue;
        for (std::size_t e = 0; e < kPerRow; ++e)
            eigenvalue += weights_[e] * harmonic(frequency_, offsets_[e], rows_);
        const std::complex<double> factor = eigenvalue * phase_;
        double difference = 0;
        for (std::size_t i = 0; i < rows_; ++i) {
            const double found = std::abs(y_[i] - (factor * harmonic(frequency_, i, rows_)).real());
            if (!(found <= difference)) difference = found; // keeps a NaN
        }
        return relative(difference);
    }

    void choose_stencil(std::uint64_t seed)
    {
        const auto edge = static_cast<std::int64_t>(std::cbrt(static_cast<double>(rows_)));
        const auto rows = static_cast<std::int64_t>(rows_);
        std::size_t e = 0;
        for (std::int64_t plane = -1; plane <= 1; ++plane) {
            for (std::int64_t line = -1; line <= 1; ++line) {
                for (std::int64_t point = -1; point <= 1; ++point, ++e) {
                    const std::int64_t offset = (plane * edge + line) * edge + point;
                    offsets_[e] = static_cast<std::uint64_t>((offset + rows) % rows);
                    weights_[e] = 0.5 + random_unit(seed, e);
                }
            }
        }
    }

    void fill_row(std::size_t row)
    {
        std::array<std::pair<std::int32_t, double>, kPerRow> entries;
        for (std::size_t e = 0; e < kPerRow; ++e)
            entries[e] = {static_cast<std::int32_t>((row + offsets_[e]) % rows_), weights_[e]};
        std::sort(entries.begin(), entries.end()); // columns ascend, as programs store them
        for (std::size_t e = 0; e < kPerRow; ++e) {
            columns_[row * kPerRow + e] = entries[e].first;
            values_[row * kPerRow + e] = entries[e].second;
        }
        row_begin_[row + 1] = static_cast<std::int32_t>((row + 1) * kPerRow);
        x_[row] = (phase_ * harmonic(frequency_, row, rows_)).real();
        y_[row] = 0;
    }

    void multiply(Part part)
    {
        const std::int32_t* const row_begin = row_begin_.data();
        const std::int32_t* const columns = columns_.data();
        const double* const values = values_.data();
        const double* const x = x_.data();
        double* const y = y_.data();
        for (std::size_t row = part.begin; row < part.end; ++row) {
            const std::int32_t end = row_begin[row + 1];
            std::int32_t e = row_begin[row];
            // Four sums: with one, the latency of the additions and not the memory sets the speed.
            std::array<double, 4> sums{};
            for (; e + 4 <= end; e += 4) {
                sums[0] += values[e] * x[columns[e]];
                sums[1] += values[e + 1] * x[columns[e + 1]];
                sums[2] += values[e + 2] * x[columns[e + 2]];
                sums[3] += values[e + 3] * x[columns[e + 3]];
            }
            for (; e < end; ++e)
                sums[0] += values[e] * x[columns[e]];
            y[row] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
    }

    std::size_t rows_;
    ThreadTeam team_;
    std::array<std::uint64_t, kPerRow> offsets_{}; ///< column − row, modulo rows
    std::array<double, kPerRow> weights_{};
    std::uint64_t frequency_{};
    std::complex<double> phase_;
    std::vector<double> fed_; ///< an input that came from another operator
    Buffer<std::int32_t> row_begin_;
    Buffer<std::int32_t> columns_;
    Buffer<double> values_;
    Buffer<double> x_;
    Buffer<double> y_;
};

} // namespace

std::unique_ptr<ProbeOperator> make_spmv(const Parameters& parameters, int threads)
{
    return std::make_unique<Spmv>(static_cast<std::size_t>(parameters.at("rows")), threads);
}

double spmv_memory(const Parameters& parameters)
{
    return static_cast<double>(parameters.at("rows")) * (kPerRow * 12 + 20);
}

} // namespace fathom::probes
