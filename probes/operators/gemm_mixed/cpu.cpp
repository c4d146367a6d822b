#include "probes/operators/bf16.hpp"
#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/gemm_check.hpp"
#include "probes/operators/onednn_name.hpp"
#include "probes/operators/thread_team.hpp"

#include <cmath>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace fathom::probes {
namespace {

using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

Bf16 random_bf16(std::uint64_t seed, std::size_t index)
{
    return Bf16(static_cast<float>(random_signed(seed, index)));
}

/// The product of A and B, both of type `factors`. B may lie in whatever layout the library likes best, as the weights
/// of a trained model do.
dnnl::matmul::primitive_desc choose(const GemmShape& shape, Type factors, const dnnl::engine& engine)
{
    const auto m = static_cast<std::int64_t>(shape.m);
    const auto n = static_cast<std::int64_t>(shape.n);
    const auto k = static_cast<std::int64_t>(shape.k);
    const dnnl::matmul::desc desc({Dims{m, k}, factors, Tag::ab}, {Dims{k, n}, factors, Tag::any},
                                  {Dims{m, n}, Type::f32, Tag::ab});
    dnnl::matmul::primitive_desc chosen(desc, engine);
    // The library's plain loop, meant for tests, is a thousand times slower than what a program would use.
    if (std::string(chosen.impl_info_str()).starts_with("ref"))
        throw dnnl::error(dnnl_unimplemented, "reference code only");
    return chosen;
}

bool can_multiply_bf16()
{
    try {
        choose({.m = 64, .n = 64, .k = 64}, Type::bf16, dnnl::engine(dnnl::engine::kind::cpu, 0));
    } catch (const dnnl::error& e) {
        if (e.status == dnnl_unimplemented) return false;
        throw;
    }
    return true;
}

/// Whether the library multiplies bf16 on this processor: on x86-64, with AVX-512 or AMX.
bool multiplies_bf16()
{
    static const bool can = can_multiply_bf16();
    return can;
}

void widen(const Buffer<Bf16>& from, Buffer<float>& to, Part part)
{
    for (std::size_t i = part.begin; i < part.end; ++i)
        to[i] = static_cast<float>(from[i]);
}

class GemmMixed final : public ProbeOperator {
  public:
    GemmMixed(const GemmShape& shape, int threads) : shape_(shape), team_(threads) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        a_ = Buffer<Bf16>(shape_.m * shape_.k);
        b_ = Buffer<Bf16>(shape_.k * shape_.n);
        c_ = Buffer<float>(shape_.m * shape_.n);
        fill_in_parts(team_, a_, [seed](std::size_t i) { return random_bf16(seed, i); });
        fill_in_parts(team_, b_, [seed](std::size_t i) { return random_bf16(seed + 1, i); });
        fill_in_parts(team_, c_, [](std::size_t) { return 0.0F; });
        try {
            prepare_primitive();
        } catch (const dnnl::error& e) {
            if (e.status == dnnl_out_of_memory) throw std::bad_alloc();
            return Error{Errc::kUnavailable, onednn_name() + " cannot multiply these matrices: " + e.what()};
        }
        return {};
    }

    void execute() override
    {
        if (is_widened_) team_.for_parts(a_.size(), [this](Part part) { widen(a_, wide_a_, part); });
        primitive_.execute(stream_, arguments_);
        stream_.wait();
    }

    std::vector<double> values() override { return {c_.span().begin(), c_.span().end()}; }

    double error() override { return gemm_error(a_.data(), b_.data(), c_.data(), shape_, seed_ + 2); }

    std::string checksum() override
    {
        return rounded_checksum(c_.span(), std::sqrt(static_cast<double>(shape_.k)) / 3); // its standard deviation
    }

    std::string library() const override
    {
        return onednn_name() + " " + implementation_ + (is_widened_ ? ", widened to fp32" : "");
    }
    std::span<std::byte> output() override { return c_.bytes(); }

  private:
    void prepare_primitive()
    {
        const Type factors = is_widened_ ? Type::f32 : Type::bf16;
        const dnnl::matmul::primitive_desc chosen = choose(shape_, factors, engine_);
        implementation_ = chosen.impl_info_str();
        Buffer<float> wide_b;
        if (is_widened_) {
            wide_a_ = Buffer<float>(a_.size());
            wide_b = Buffer<float>(b_.size());
            widen(b_, wide_b, {0, b_.size()});
        }
        const Dims weights{static_cast<std::int64_t>(shape_.k), static_cast<std::int64_t>(shape_.n)};
        dnnl::memory plain({weights, factors, Tag::ab}, engine_, factors_of(b_, wide_b));
        dnnl::memory packed(chosen.weights_desc(), engine_);
        dnnl::reorder(plain, packed).execute(stream_, plain, packed);
        stream_.wait();
        primitive_ = dnnl::matmul(chosen);
        arguments_ = {{DNNL_ARG_SRC, {chosen.src_desc(), engine_, factors_of(a_, wide_a_)}},
                      {DNNL_ARG_WEIGHTS, packed},
                      {DNNL_ARG_DST, {chosen.dst_desc(), engine_, c_.data()}}};
    }

    /// What the library is to multiply.
    void* factors_of(Buffer<Bf16>& narrow, Buffer<float>& wide) const
    {
        return is_widened_ ? static_cast<void*>(wide.data()) : static_cast<void*>(narrow.data());
    }

    GemmShape shape_;
    std::uint64_t seed_{};
    Buffer<Bf16> a_;
    Buffer<Bf16> b_; ///< as it was before packing: what the check multiplies
    Buffer<float> c_;
    /// Without instructions for bf16, programs widen what they multiply: A in each execution, B (the weights) once.
    bool is_widened_ = !multiplies_bf16();
    Buffer<float> wide_a_;
    ThreadTeam team_;
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    dnnl::matmul primitive_;
    std::unordered_map<int, dnnl::memory> arguments_;
    std::string implementation_ = "not prepared";
};

GemmShape shape_of(const Parameters& parameters)
{
    return {static_cast<std::size_t>(parameters.at("m")), static_cast<std::size_t>(parameters.at("n")),
            static_cast<std::size_t>(parameters.at("k"))};
}

std::unique_ptr<ProbeOperator> make_gemm_mixed(const Parameters& parameters, int threads)
{
    return std::make_unique<GemmMixed>(shape_of(parameters), threads);
}

double gemm_mixed_memory(const Parameters& parameters)
{
    const GemmShape shape = shape_of(parameters);
    const auto a = static_cast<double>(shape.m * shape.k);
    const auto b = static_cast<double>(shape.k * shape.n);
    const auto c = static_cast<double>(shape.m * shape.n);
    const double packed = 2 * b;                               // beside the plain one
    const double wide = multiplies_bf16() ? 0 : 4 * a + 6 * b; // fp32: A, B, and more for the packed B
    return 2 * a + 2 * b + 4 * c + packed + wide;
}

} // namespace

CpuImplementation gemm_mixed_on_cpu()
{
    return {.make = make_gemm_mixed, .memory = gemm_mixed_memory};
}

} // namespace fathom::probes
