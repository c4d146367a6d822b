/// Operators that stand on a numerical library, which is called as its manual says.
#include "tests/bench/bare_operators.hpp"

#include <algorithm>
#include <bit>
#include <cblas.h>
#include <cstdint>
#include <cstdlib>
#include <fftw3.h>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <random>
#include <unordered_map>
#include <vector>
#include <zlib.h>

namespace fathom::bench {
namespace {

std::vector<float> random_floats(std::size_t size)
{
    const std::vector<double> values = random_vector(size);
    return {values.begin(), values.end()};
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

class BareSgemm final : public BareOperator {
  public:
    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kN, kN, kN, 1.0F, a_.data(), kN, b_.data(), kN, 0.0F,
                        c_.data(), kN);
    }

  private:
    static constexpr int kN = 1024;
    std::vector<float> a_ = random_floats(kN * kN);
    std::vector<float> b_ = random_floats(kN * kN);
    std::vector<float> c_ = random_floats(kN * kN);
};

/// Inputs of 16 bits in whatever layout the library likes best, the result plain. Where the library has no code for 16
/// bits, A is widened in each execution, by a plain loop.
class BareGemmMixed final : public BareOperator {
  public:
    BareGemmMixed()
    {
        const auto desc = [](Type type) {
            return dnnl::matmul::desc(Desc({kN, kN}, type, Tag::ab), Desc({kN, kN}, type, Tag::any),
                                      Desc({kN, kN}, Type::f32, Tag::ab));
        };
        try {
            prepare({desc(Type::bf16), engine_});
        } catch (const dnnl::error&) {
            narrow_ = random_narrow();
            prepare({desc(Type::f32), engine_});
        }
    }

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i) {
            auto* const wide = static_cast<float*>(arguments_.at(DNNL_ARG_SRC).get_data_handle());
            for (std::size_t j = 0; j < narrow_.size(); ++j)
                wide[j] = std::bit_cast<float>(static_cast<std::uint32_t>(narrow_[j]) << 16U);
            matmul_.execute(stream_, arguments_);
        }
        stream_.wait();
    }

  private:
    using Desc = dnnl::memory::desc;
    using Type = dnnl::memory::data_type;
    using Tag = dnnl::memory::format_tag;
    static constexpr int kN = 1024;

    void prepare(const dnnl::matmul::primitive_desc& chosen)
    {
        matmul_ = dnnl::matmul(chosen);
        arguments_ = {{DNNL_ARG_SRC, filled(chosen.src_desc())},
                      {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc())},
                      {DNNL_ARG_DST, dnnl::memory(chosen.dst_desc(), engine_)}};
    }

    static std::vector<std::uint16_t> random_narrow()
    {
        std::vector<std::uint16_t> narrow;
        for (const float value : random_floats(kN * kN))
            narrow.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U));
        return narrow;
    }

    dnnl::memory filled(const dnnl::memory::desc& desc)
    {
        dnnl::memory memory(desc, engine_);
        const std::vector<std::uint16_t> narrow = random_narrow();
        if (desc.data_type() == Type::bf16) {
            std::copy_n(narrow.begin(), kN * kN, static_cast<std::uint16_t*>(memory.get_data_handle()));
            return memory;
        }
        for (std::size_t i = 0; i < narrow.size(); ++i)
            static_cast<float*>(memory.get_data_handle())[i] =
                std::bit_cast<float>(static_cast<std::uint32_t>(narrow[i]) << 16U);
        return memory;
    }

    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    dnnl::matmul matmul_;
    std::unordered_map<int, dnnl::memory> arguments_;
    std::vector<std::uint16_t> narrow_; ///< A before it is widened
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
        const std::vector<int> edges(static_cast<std::size_t>(dimensions), n);
        plan_ = fftw_plan_dft(dimensions, edges.data(), in_, out_, FFTW_FORWARD, FFTW_MEASURE);
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

/// zlib's functions for whole buffers on blocks of 128 KiB; a tenth of the words is random, the others are of 256.
class BareZlib final : public BareOperator {
  public:
    enum class Direction { kCompress, kExpand };

    explicit BareZlib(Direction direction) : direction_(direction)
    {
        std::mt19937_64 random(1); // NOLINT: the same in every run
        std::vector<std::uint64_t> known(256);
        std::generate(known.begin(), known.end(), std::ref(random));
        std::generate(words_.begin(), words_.end(),
                      [&] { return random() % 10 == 0 ? random() : known[random() % known.size()]; });
        compress_all();
    }

    void loop(long times) override
    {
        for (long i = 0; i < times; ++i)
            direction_ == Direction::kCompress ? compress_all() : expand_all();
    }

  private:
    static constexpr std::size_t kBlock = 131072;
    static constexpr std::size_t kBlocks = 16;

    Bytef* block(std::size_t i) { return reinterpret_cast<Bytef*>(words_.data()) + i * kBlock; }

    void compress_all()
    {
        for (std::size_t i = 0; i < kBlocks; ++i) {
            sizes_[i] = packed_[i].size();
            if (compress2(packed_[i].data(), &sizes_[i], block(i), kBlock, 6) != Z_OK) std::abort();
        }
    }

    void expand_all()
    {
        for (std::size_t i = 0; i < kBlocks; ++i) {
            uLongf size = kBlock;
            if (uncompress(block(i), &size, packed_[i].data(), sizes_[i]) != Z_OK) std::abort();
        }
    }

    Direction direction_;
    std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(kBlocks * kBlock / sizeof(std::uint64_t));
    std::vector<std::vector<Bytef>> packed_{kBlocks, std::vector<Bytef>(compressBound(kBlock))};
    std::vector<uLongf> sizes_ = std::vector<uLongf>(kBlocks);
};

} // namespace

std::unique_ptr<BareOperator> make_bare_library_call(std::string_view id)
{
    if (id == "dgemm") return std::make_unique<BareDgemm>();
    if (id == "sgemm") return std::make_unique<BareSgemm>();
    if (id == "gemm_mixed") return std::make_unique<BareGemmMixed>();
    if (id == "fft1d") return std::make_unique<BareFft>(1, 1 << 20);
    if (id == "fft2d") return std::make_unique<BareFft>(2, 1024);
    if (id == "fft3d") return std::make_unique<BareFft>(3, 128);
    if (id == "conv2d") return std::make_unique<BareConv2d>();
    if (id == "compression") return std::make_unique<BareZlib>(BareZlib::Direction::kCompress);
    if (id == "decompression") return std::make_unique<BareZlib>(BareZlib::Direction::kExpand);
    return nullptr;
}

} // namespace fathom::bench
