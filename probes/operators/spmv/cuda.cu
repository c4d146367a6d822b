#include "probes/operators/checksum.hpp"
#include "probes/operators/cuda_fill.cuh"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cuda_operator.hpp"
#include "probes/operators/cusparse_product.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/spmv/truth.hpp"

namespace fathom::probes {
namespace {

constexpr std::size_t kPerRow = CirculantStencil::kPerRow;

/// CirculantStencil::entries for the device, where std::array's checks do not work.
struct Entries {
    std::uint64_t offset[kPerRow];
    double weight[kPerRow];
};

/// One thread a row, and one for the end of the last row. Offsets ascend, so a row's columns ascend from the first
/// one that wraps around.
__global__ void fill_rows(Entries entries, std::size_t rows, std::int32_t* row_begin, std::int32_t* columns,
                          double* values)
{
    const std::size_t row = cuda_thread_position();
    if (row > rows) return;
    row_begin[row] = static_cast<std::int32_t>(row * kPerRow);
    if (row == rows) return;
    std::size_t first = 0;
    while (first < kPerRow && row + entries.offset[first] < rows)
        ++first;
    for (std::size_t e = 0; e < kPerRow; ++e) {
        const std::size_t from = (first + e) % kPerRow;
        columns[row * kPerRow + e] = static_cast<std::int32_t>((row + entries.offset[from]) % rows);
        values[row * kPerRow + e] = entries.weight[from];
    }
}

class CudaSpmv final : public CudaOperator {
  public:
    explicit CudaSpmv(std::size_t rows) : rows_(rows) {}

    void execute() override
    {
        y_.written_by_device();
        product_->multiply();
        stream().wait();
    }

    std::vector<double> values() override
    {
        const std::span<const double> y = y_.on_host(stream());
        return {y.begin(), y.end()};
    }

    Result<void> feed(std::size_t index, std::span<const double> values) override
    {
        if (index != 0) return Error{Errc::kUnavailable, "has one input, the vector"};
        fed_ = fit_values(values, rows_);
        x_.upload(fed_, stream());
        return {};
    }

    double error() override
    {
        const std::span<const double> y = y_.on_host(stream());
        return fed_.empty() ? matrix_.error(y) : matrix_.error(y, fed_);
    }

    std::string checksum() override { return rounded_checksum(y_.on_host(stream()), 1); }
    std::string library() const override { return cuda_library_name("cuSPARSE", cusparseGetProperty); }
    std::span<std::byte> output() override { return std::as_writable_bytes(y_.on_host(stream())); }

  private:
    void prepare_on_device(std::uint64_t seed) override
    {
        matrix_ = CirculantStencil(rows_, seed);
        x_ = DeviceArray<double>(rows_);
        y_ = DeviceResult<double>(rows_, stream());
        // On the host: the device's sines may differ in the last bit.
        x_.upload(fill_on_host<double>(rows_, [this](std::size_t i) { return matrix_.input(i); }), stream());

        product_.emplace(rows_, rows_ * kPerRow, stream());
        Entries entries{};
        for (std::size_t e = 0; e < kPerRow; ++e) {
            entries.offset[e] = matrix_.entries()[e].offset;
            entries.weight[e] = matrix_.entries()[e].weight;
        }
        fill_rows<<<cuda_blocks(rows_ + 1), kCudaBlock, 0, stream().get()>>>(entries, rows_, product_->row_begin(),
                                                                             product_->columns(), product_->values());
        check_launch();
        product_->plan(x_.data(), y_.written_by_device());
    }

    std::size_t rows_;
    CirculantStencil matrix_;
    std::vector<double> fed_; ///< an input that came from another operator
    DeviceArray<double> x_;
    DeviceResult<double> y_;
    std::optional<CusparseProduct> product_;
};

std::unique_ptr<ProbeOperator> make_cuda_spmv(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CudaSpmv>(static_cast<std::size_t>(parameters.at("rows")));
}

double cuda_spmv_host_memory(const Parameters& parameters)
{
    return 2 * 8 * static_cast<double>(parameters.at("rows")); // the vectors
}

double cuda_spmv_device_memory(const Parameters& parameters)
{
    const auto rows = static_cast<double>(parameters.at("rows"));
    return cusparse_product_memory(rows, kPerRow * rows) + 2 * 8 * rows;
}

} // namespace

CudaImplementation spmv_on_cuda()
{
    return {.make = make_cuda_spmv, .host_memory = cuda_spmv_host_memory, .device_memory = cuda_spmv_device_memory};
}

} // namespace fathom::probes
