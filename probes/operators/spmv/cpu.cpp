#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/own_loops.hpp"
#include "probes/operators/spmv/truth.hpp"
#include "probes/operators/thread_team.hpp"

#include <algorithm>
#include <array>

namespace fathom::probes {
namespace {

constexpr std::size_t kPerRow = CirculantStencil::kPerRow;

class Spmv final : public ProbeOperator {
  public:
    Spmv(std::size_t rows, int threads) : rows_(rows), team_(threads) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        matrix_ = CirculantStencil(rows_, seed);
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
        const CsrMatrix matrix{row_begin_.data(), columns_.data(), values_.data()};
        team_.for_parts(rows_, [this, &matrix](Part part) {
            own_loops().multiply(matrix, {part.begin, part.end}, x_.data(), y_.data());
        });
    }

    std::vector<double> values() override { return {y_.span().begin(), y_.span().end()}; }

    Result<void> feed(std::size_t index, std::span<const double> values) override
    {
        if (index != 0) return Error{Errc::kUnavailable, "has one input, the vector"};
        fed_ = fit_values(values, rows_);
        std::copy(fed_.begin(), fed_.end(), x_.data());
        return {};
    }

    double error() override { return fed_.empty() ? matrix_.error(y_.span()) : matrix_.error(y_.span(), fed_); }

    std::string checksum() override { return rounded_checksum(y_.span(), 1); }
    std::string library() const override { return "own CSR kernel, 32-bit indices, " + own_loops_name(); }
    std::span<std::byte> output() override { return y_.bytes(); }

  private:
    void fill_row(std::size_t row)
    {
        std::array<std::pair<std::int32_t, double>, kPerRow> entries;
        for (std::size_t e = 0; e < kPerRow; ++e)
            entries[e] = {static_cast<std::int32_t>((row + matrix_.entries()[e].offset) % rows_),
                          matrix_.entries()[e].weight};
        std::sort(entries.begin(), entries.end()); // columns ascend, as programs store them
        for (std::size_t e = 0; e < kPerRow; ++e) {
            columns_[row * kPerRow + e] = entries[e].first;
            values_[row * kPerRow + e] = entries[e].second;
        }
        row_begin_[row + 1] = static_cast<std::int32_t>((row + 1) * kPerRow);
        x_[row] = matrix_.input(row);
        y_[row] = 0;
    }

    std::size_t rows_;
    ThreadTeam team_;
    CirculantStencil matrix_;
    std::vector<double> fed_; ///< an input that came from another operator
    Buffer<std::int32_t> row_begin_;
    Buffer<std::int32_t> columns_;
    Buffer<double> values_;
    Buffer<double> x_;
    Buffer<double> y_;
};

std::unique_ptr<ProbeOperator> make_spmv(const Parameters& parameters, int threads)
{
    return std::make_unique<Spmv>(static_cast<std::size_t>(parameters.at("rows")), threads);
}

double spmv_memory(const Parameters& parameters)
{
    return static_cast<double>(parameters.at("rows")) * (kPerRow * 12 + 20);
}

} // namespace

CpuImplementation spmv_on_cpu()
{
    return {.make = make_spmv, .memory = spmv_memory, .has_program_threads = true};
}

} // namespace fathom::probes
