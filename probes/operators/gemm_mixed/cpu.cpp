#include "probes/operators/bf16.hpp"
#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/gemm_check.hpp"
#include "probes/operators/onednn_name.hpp"

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

/// B may lie in whatever layout the library likes best, as the weights of a trained model do.
dnnl::matmul::primitive_desc choose(const GemmShape& shape, const dnnl::engine& engine)
{
    const auto m = static_cast<std::int64_t>(shape.m);
    const auto n = static_cast<std::int64_t>(shape.n);
    const auto k = static_cast<std::int64_t>(shape.k);
    const dnnl::matmul::desc desc({Dims{m, k}, Type::bf16, Tag::ab}, {Dims{k, n}, Type::bf16, Tag::any},
                                  {Dims{m, n}, Type::f32, Tag::ab});
    dnnl::matmul::primitive_desc chosen(desc, engine);
    // The library's plain loop, meant for tests, is a thousand times slower than what a program would use.
    if (std::string(chosen.impl_info_str()).starts_with("ref"))
        throw dnnl::error(dnnl_unimplemented, "reference code only");
    return chosen;
}

Error unavailable(const dnnl::error& e)
{
    if (e.status == dnnl_out_of_memory) throw std::bad_alloc();
    const std::string reason = e.status == dnnl_unimplemented ? "" : std::string(": ") + e.what();
    return {Errc::kUnavailable, onednn_name() + " cannot multiply bf16 matrices on this processor" + reason};
}

class GemmMixed final : public ProbeOperator {
  public:
    explicit GemmMixed(const GemmShape& shape) : shape_(shape) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        a_ = Buffer<Bf16>(shape_.m * shape_.k);
        b_ = Buffer<Bf16>(shape_.k * shape_.n);
        c_ = Buffer<float>(shape_.m * shape_.n);
        for (std::size_t i = 0; i < a_.size(); ++i)
            a_[i] = random_bf16(seed, i);
        for (std::size_t i = 0; i < b_.size(); ++i)
            b_[i] = random_bf16(seed + 1, i);
        for (std::size_t i = 0; i < c_.size(); ++i)
            c_[i] = 0;
        try {
            prepare_primitive();
        } catch (const dnnl::error& e) {
            return unavailable(e);
        }
        return {};
    }

    void execute() override
    {
        primitive_.execute(stream_, arguments_);
        stream_.wait();
    }

    std::vector<double> values() override { return {c_.span().begin(), c_.span().end()}; }

    double error() override { return gemm_error(a_.data(), b_.data(), c_.data(), shape_, seed_ + 2); }

    std::string checksum() override
    {
        return rounded_checksum(c_.span(), std::sqrt(static_cast<double>(shape_.k)) / 3); // its standard deviation
    }

    std::string library() const override { return onednn_name() + " " + implementation_; }
    std::span<std::byte> output() override { return c_.bytes(); }

  private:
    void prepare_primitive()
    {
        const dnnl::matmul::primitive_desc chosen = choose(shape_, engine_);
        implementation_ = chosen.impl_info_str();
        const Dims weights{static_cast<std::int64_t>(shape_.k), static_cast<std::int64_t>(shape_.n)};
        dnnl::memory plain({weights, Type::bf16, Tag::ab}, engine_, b_.data());
        dnnl::memory packed(chosen.weights_desc(), engine_);
        dnnl::reorder(plain, packed).execute(stream_, plain, packed);
        stream_.wait();
        primitive_ = dnnl::matmul(chosen);
        arguments_ = {{DNNL_ARG_SRC, {chosen.src_desc(), engine_, a_.data()}},
                      {DNNL_ARG_WEIGHTS, packed},
                      {DNNL_ARG_DST, {chosen.dst_desc(), engine_, c_.data()}}};
    }

    GemmShape shape_;
    std::uint64_t seed_{};
    Buffer<Bf16> a_;
    Buffer<Bf16> b_; ///< as it was before packing: what the check multiplies
    Buffer<float> c_;
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

std::unique_ptr<ProbeOperator> make_gemm_mixed(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<GemmMixed>(shape_of(parameters)); // OpenMP's threads: limit_library_threads
}

double gemm_mixed_memory(const Parameters& parameters)
{
    const GemmShape shape = shape_of(parameters);
    const double b = 2 * static_cast<double>(shape.k * shape.n) * 2; // plain and packed
    return static_cast<double>(shape.m * shape.k) * 2 + b + static_cast<double>(shape.m * shape.n) * 4;
}

Result<void> gemm_mixed_available()
{
    try {
        choose({.m = 64, .n = 64, .k = 64}, dnnl::engine(dnnl::engine::kind::cpu, 0));
    } catch (const dnnl::error& e) {
        return unavailable(e);
    }
    return {};
}

} // namespace

CpuImplementation gemm_mixed_on_cpu()
{
    return {.make = make_gemm_mixed, .memory = gemm_mixed_memory, .available = gemm_mixed_available};
}

} // namespace fathom::probes
