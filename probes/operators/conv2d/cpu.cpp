#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/conv2d/truth.hpp"
#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/onednn_name.hpp"

#include <algorithm>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

namespace fathom::probes {
namespace {

using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

class Conv2d final : public ProbeOperator {
  public:
    explicit Conv2d(const ConvolutionShape& shape) : shape_(shape) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        input_ = convolution_values(shape_.input_size(), seed);
        weights_ = convolution_values(shape_.weights_size(), seed + 1);
        try {
            prepare_primitive();
        } catch (const dnnl::error& e) {
            if (e.status == dnnl_out_of_memory) throw std::bad_alloc();
            return Error{Errc::kUnavailable, std::string("oneDNN: ") + e.what()};
        }
        return {};
    }

    void execute() override
    {
        primitive_.execute(stream_, arguments_);
        stream_.wait();
    }

    std::vector<double> values() override
    {
        const std::vector<float> output = plain_output();
        return {output.begin(), output.end()};
    }

    Result<void> feed(std::size_t index, std::span<const double> values) override
    {
        if (index != 0) return Error{Errc::kUnavailable, "has one input, the images"};
        const std::vector<double> fitted = fit_values(values, input_.size());
        std::transform(fitted.begin(), fitted.end(), input_.begin(),
                       [](double value) { return static_cast<float>(value); });
        dnnl::memory from = plain(input_, {shape_.batch, shape_.channels_in, shape_.height, shape_.width}, Tag::nchw);
        dnnl::reorder(from, input_memory_).execute(stream_, from, input_memory_);
        stream_.wait();
        return {};
    }

    double error() override { return convolution_error(shape_, input_, weights_, plain_output(), seed_ + 2); }
    std::string checksum() override { return rounded_checksum(plain_output(), convolution_scale(shape_)); }
    std::string library() const override { return onednn_name() + " " + implementation_; }

    std::span<std::byte> output() override
    {
        return {static_cast<std::byte*>(output_memory_.get_data_handle()), output_memory_.get_desc().get_size()};
    }

  private:
    void prepare_primitive()
    {
        const ConvolutionShape& s = shape_;
        const Dims input_dims{s.batch, s.channels_in, s.height, s.width};
        const Dims weights_dims{s.channels_out, s.channels_in, s.kernel, s.kernel};
        const Dims output_dims{s.batch, s.channels_out, s.height, s.width};
        const auto any = [](const Dims& dims) {
            return dnnl::memory::desc(dims, dnnl::memory::data_type::f32, Tag::any);
        };
        const std::int64_t after = s.kernel - 1 - s.padding();
        const dnnl::convolution_forward::desc desc(
            dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any(input_dims), any(weights_dims),
            any(output_dims), Dims{1, 1}, Dims{s.padding(), s.padding()}, Dims{after, after});
        const dnnl::convolution_forward::primitive_desc chosen(desc, engine_);
        implementation_ = chosen.impl_info_str();

        input_memory_ = blocked(input_, input_dims, Tag::nchw, chosen.src_desc());
        weights_memory_ = blocked(weights_, weights_dims, Tag::oihw, chosen.weights_desc());
        output_memory_ = dnnl::memory(chosen.dst_desc(), engine_);
        primitive_ = dnnl::convolution_forward(chosen);
        arguments_ = {
            {DNNL_ARG_SRC, input_memory_}, {DNNL_ARG_WEIGHTS, weights_memory_}, {DNNL_ARG_DST, output_memory_}};
    }

    dnnl::memory plain(std::vector<float>& values, const Dims& dims, Tag tag)
    {
        return {{dims, dnnl::memory::data_type::f32, tag}, engine_, values.data()};
    }

    dnnl::memory blocked(std::vector<float>& values, const Dims& dims, Tag tag, const dnnl::memory::desc& layout)
    {
        dnnl::memory from = plain(values, dims, tag);
        dnnl::memory to(layout, engine_);
        dnnl::reorder(from, to).execute(stream_, from, to);
        stream_.wait();
        return to;
    }

    std::vector<float> plain_output()
    {
        std::vector<float> values(static_cast<std::size_t>(shape_.output_size()));
        dnnl::memory to = plain(values, {shape_.batch, shape_.channels_out, shape_.height, shape_.width}, Tag::nchw);
        dnnl::reorder(output_memory_, to).execute(stream_, output_memory_, to);
        stream_.wait();
        return values;
    }

    ConvolutionShape shape_;
    std::uint64_t seed_{};
    std::vector<float> input_;
    std::vector<float> weights_;
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    dnnl::memory input_memory_;
    dnnl::memory weights_memory_;
    dnnl::memory output_memory_;
    dnnl::convolution_forward primitive_;
    std::unordered_map<int, dnnl::memory> arguments_;
    std::string implementation_ = "not prepared";
};

std::unique_ptr<ProbeOperator> make_conv2d(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<Conv2d>(convolution_shape(parameters)); // OpenMP's threads: limit_library_threads
}

double conv2d_memory(const Parameters& parameters)
{
    const ConvolutionShape s = convolution_shape(parameters);
    // Inputs in plain and in blocked layout, the output likewise while it is checked.
    return 8 * static_cast<double>(s.input_size() + s.weights_size() + s.output_size());
}

} // namespace

CpuImplementation conv2d_on_cpu()
{
    return {.make = make_conv2d, .memory = conv2d_memory};
}

} // namespace fathom::probes
