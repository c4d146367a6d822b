#include "tests/bench/bare_operators.hpp"

#include <algorithm>
#include <cblas.h>
#include <fftw3.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <random>
#include <unordered_map>
#include <vector>

namespace fathom::bench {

// As in the STREAM benchmark: static arrays, so that the compiler knows that they do not overlap. With
// external linkage, though: else it would see that nobody reads the result and drop the loop.
constexpr long kTriadSize = 20000000;
extern double triad_a[kTriadSize];
extern double triad_b[kTriadSize];
extern double triad_c[kTriadSize];
alignas(64) double triad_a[kTriadSize];
alignas(64) double triad_b[kTriadSize];
alignas(64) double triad_c[kTriadSize];

namespace {

std::vector<double> random_vector(std::size_t size)
{
    std::minstd_rand random(1); // NOLINT: the values do not matter
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> values(size);
    for (double& value : values)
        value = uniform(random);
    return values;
}

class BareDgemm final : public BareOperator {
  public:
    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kN, kN, kN, 1.0, a_.data(), kN, b_.data(), kN, 0.0,
                        c_.data(), kN);
    }

  private:
    static constexpr int kN = 1024;
    std::vector<double> a_ = random_vector(kN * kN);
    std::vector<double> b_ = random_vector(kN * kN);
    std::vector<double> c_ = random_vector(kN * kN);
};

class BareFft final : public BareOperator {
  public:
    BareFft(int dimensions, int n)
    {
        std::size_t size = 1;
        for (int i = 0; i < dimensions; ++i)
            size *= static_cast<std::size_t>(n);
        in_ = fftw_alloc_complex(size);
        out_ = fftw_alloc_complex(size);
        fftw_set_timelimit(1);
        plan_ = dimensions == 1 ? fftw_plan_dft_1d(n, in_, out_, FFTW_FORWARD, FFTW_MEASURE)
                                : fftw_plan_dft_3d(n, n, n, in_, out_, FFTW_FORWARD, FFTW_MEASURE);
        const std::vector<double> values = random_vector(2 * size);
        std::copy(values.begin(), values.end(), &in_[0][0]);
    }
    ~BareFft() override
    {
        fftw_destroy_plan(plan_);
        fftw_free(in_);
        fftw_free(out_);
    }
    BareFft(const BareFft&) = delete;
    BareFft& operator=(const BareFft&) = delete;

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            fftw_execute(plan_);
    }

  private:
    fftw_complex* in_{};
    fftw_complex* out_{};
    fftw_plan plan_{};
};

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

class BareConv2d final : public BareOperator {
  public:
    BareConv2d()
    {
        using Dims = dnnl::memory::dims;
        const auto any = [](const Dims& dims) {
            return dnnl::memory::desc(dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
        };
        const dnnl::convolution_forward::desc desc(
            dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any({4, 64, 56, 56}),
            any({64, 64, 3, 3}), any({4, 64, 56, 56}), Dims{1, 1}, Dims{1, 1}, Dims{1, 1});
        const dnnl::convolution_forward::primitive_desc chosen(desc, engine_);
        convolution_ = dnnl::convolution_forward(chosen);
        arguments_ = {{DNNL_ARG_SRC, filled(chosen.src_desc())},
                      {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc())},
                      {DNNL_ARG_DST, filled(chosen.dst_desc())}};
    }

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            convolution_.execute(stream_, arguments_);
        stream_.wait();
    }

  private:
    dnnl::memory filled(const dnnl::memory::desc& desc)
    {
        dnnl::memory memory(desc, engine_);
        auto* const values = static_cast<float*>(memory.get_data_handle());
        const std::size_t size = desc.get_size() / sizeof(float);
        const std::vector<double> random = random_vector(size);
        for (std::size_t i = 0; i < size; ++i)
            values[i] = static_cast<float>(random[i]);
        return memory;
    }

    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    dnnl::convolution_forward convolution_;
    std::unordered_map<int, dnnl::memory> arguments_;
};

} // namespace

std::unique_ptr<BareOperator> make_bare_operator(std::string_view id)
{
    if (id == "dgemm") return std::make_unique<BareDgemm>();
    if (id == "fft1d") return std::make_unique<BareFft>(1, 1 << 20);
    if (id == "fft3d") return std::make_unique<BareFft>(3, 128);
    if (id == "spmv") return std::make_unique<BareSpmv>();
    if (id == "stream_triad") return std::make_unique<BareTriad>();
    if (id == "conv2d") return std::make_unique<BareConv2d>();
    return nullptr;
}

} // namespace fathom::bench
