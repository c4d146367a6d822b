#include "probes/operators/buffer.hpp"
#include "probes/operators/checksum.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/implementations.hpp"
#include "probes/operators/onednn_name.hpp"
#include "probes/operators/random.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

namespace fathom::probes {
namespace {

using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

struct Shape {
    std::int64_t batch;
    std::int64_t channels_in;
    std::int64_t channels_out;
    std::int64_t height;
    std::int64_t width;
    std::int64_t kernel;

    std::int64_t pixels() const { return height * width; }
    /// Zero rows before the image; the rest of kernel − 1 comes after it.
    std::int64_t padding() const { return (kernel - 1) / 2; }
    std::int64_t input_size() const { return batch * channels_in * pixels(); }
    std::int64_t weights_size() const { return channels_out * channels_in * kernel * kernel; }
    std::int64_t output_size() const { return batch * channels_out * pixels(); }
};

Shape shape_of(const Parameters& parameters)
{
    return {parameters.at("batch"),  parameters.at("channels_in"), parameters.at("channels_out"),
            parameters.at("height"), parameters.at("width"),       parameters.at("kernel")};
}

std::vector<float> random_values(std::int64_t size, std::uint64_t seed)
{
    std::vector<float> values(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(random_signed(seed, i));
    return values;
}

/// dst += weight·src, shifted by one tap of the kernel; taps on the padding add nothing.
void add_shifted(const Shape& s, const float* src, double weight, std::int64_t shift_y, std::int64_t shift_x,
                 double* dst)
{
    for (std::int64_t y = std::max<std::int64_t>(0, -shift_y); y < std::min(s.height, s.height - shift_y); ++y) {
        const float* const from = src + (y + shift_y) * s.width + shift_x;
        double* const to = dst + y * s.width;
        for (std::int64_t x = std::max<std::int64_t>(0, -shift_x); x < std::min(s.width, s.width - shift_x); ++x)
            to[x] += weight * static_cast<double>(from[x]);
    }
}

class Conv2d final : public ProbeOperator {
  public:
    explicit Conv2d(const Shape& shape) : shape_(shape) {}

    Result<void> prepare(std::uint64_t seed) override
    {
        seed_ = seed;
        input_ = random_values(shape_.input_size(), seed);
        weights_ = random_values(shape_.weights_size(), seed + 1);
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

    /// Freivalds over the output channels: with random v, Σ v[o]·output[o] must be the convolution by
    /// the one kernel Σ v[o]·weights[o], which costs channels_out times less than the whole.
    double error() override
    {
        const std::vector<float> output = plain_output();
        std::vector<double> v(static_cast<std::size_t>(shape_.channels_out));
        for (std::size_t o = 0; o < v.size(); ++o)
            v[o] = (0.5 + random_unit(seed_ + 2, o)) * ((random_bits(seed_ + 3, o) & 1U) != 0 ? 1 : -1);
        const std::vector<double> kernel = combined_kernel(v);
        double difference = 0;
        double norm = 0;
        for (std::int64_t image = 0; image < shape_.batch; ++image) {
            const std::vector<double> truth = convolve(image, kernel);
            std::vector<double> found(truth.size());
            for (std::int64_t o = 0; o < shape_.channels_out; ++o) {
                const float* const from = output.data() + (image * shape_.channels_out + o) * shape_.pixels();
                for (std::size_t p = 0; p < found.size(); ++p)
                    found[p] += v[static_cast<std::size_t>(o)] * static_cast<double>(from[p]);
            }
            for (std::size_t p = 0; p < found.size(); ++p) {
                difference += (found[p] - truth[p]) * (found[p] - truth[p]);
                norm += truth[p] * truth[p];
            }
        }
        return std::sqrt(difference / norm);
    }

    std::string checksum() override
    {
        const std::vector<float> output = plain_output();
        const auto taps = static_cast<double>(shape_.channels_in * shape_.kernel * shape_.kernel);
        return rounded_checksum(output, std::sqrt(taps) / 3);
    }

    std::string library() const override { return onednn_name() + " " + implementation_; }

    std::span<std::byte> output() override
    {
        return {static_cast<std::byte*>(output_memory_.get_data_handle()), output_memory_.get_desc().get_size()};
    }

  private:
    void prepare_primitive()
    {
        const Shape& s = shape_;
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

    /// Σ v[o]·weights[o]: channels_in × kernel × kernel.
    std::vector<double> combined_kernel(const std::vector<double>& v) const
    {
        std::vector<double> kernel(weights_.size() / v.size());
        for (std::size_t o = 0; o < v.size(); ++o) {
            for (std::size_t i = 0; i < kernel.size(); ++i)
                kernel[i] += v[o] * static_cast<double>(weights_[o * kernel.size() + i]);
        }
        return kernel;
    }

    std::vector<double> convolve(std::int64_t image, const std::vector<double>& kernel) const
    {
        const Shape& s = shape_;
        std::vector<double> result(static_cast<std::size_t>(s.pixels()));
        const double* tap = kernel.data();
        for (std::int64_t channel = 0; channel < s.channels_in; ++channel) {
            const float* const from = input_.data() + (image * s.channels_in + channel) * s.pixels();
            for (std::int64_t y = 0; y < s.kernel; ++y) {
                for (std::int64_t x = 0; x < s.kernel; ++x, ++tap)
                    add_shifted(s, from, *tap, y - s.padding(), x - s.padding(), result.data());
            }
        }
        return result;
    }

    Shape shape_;
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

} // namespace

std::unique_ptr<ProbeOperator> make_conv2d(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<Conv2d>(shape_of(parameters)); // OpenMP's threads: limit_library_threads
}

double conv2d_memory(const Parameters& parameters)
{
    const Shape s = shape_of(parameters);
    // Inputs in plain and in blocked layout, the output likewise while it is checked.
    return 8 * static_cast<double>(s.input_size() + s.weights_size() + s.output_size());
}

} // namespace fathom::probes
