#include "probes/operators/conv2d/truth.hpp"

#include "probes/operators/random.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::probes {
namespace {

/// dst += weight·src, shifted by one tap of the kernel; taps on the padding add nothing.
void add_shifted(const ConvolutionShape& s, const float* src, double weight, std::int64_t shift_y, std::int64_t shift_x,
                 double* dst)
{
    for (std::int64_t y = std::max<std::int64_t>(0, -shift_y); y < std::min(s.height, s.height - shift_y); ++y) {
        const float* const from = src + (y + shift_y) * s.width + shift_x;
        double* const to = dst + y * s.width;
        for (std::int64_t x = std::max<std::int64_t>(0, -shift_x); x < std::min(s.width, s.width - shift_x); ++x)
            to[x] += weight * static_cast<double>(from[x]);
    }
}

/// Σ v[o]·weights[o]: channels_in × kernel × kernel.
std::vector<double> combined_kernel(std::span<const float> weights, const std::vector<double>& v)
{
    std::vector<double> kernel(weights.size() / v.size());
    for (std::size_t o = 0; o < v.size(); ++o) {
        for (std::size_t i = 0; i < kernel.size(); ++i)
            kernel[i] += v[o] * static_cast<double>(weights[o * kernel.size() + i]);
    }
    return kernel;
}

/// One image by one kernel, all input channels.
std::vector<double> convolve(const ConvolutionShape& s, const float* image, const std::vector<double>& kernel)
{
    std::vector<double> result(static_cast<std::size_t>(s.pixels()));
    const double* tap = kernel.data();
    for (std::int64_t channel = 0; channel < s.channels_in; ++channel) {
        for (std::int64_t y = 0; y < s.kernel; ++y) {
            for (std::int64_t x = 0; x < s.kernel; ++x, ++tap)
                add_shifted(s, image + channel * s.pixels(), *tap, y - s.padding(), x - s.padding(), result.data());
        }
    }
    return result;
}

/// Σ v[o]·channel[o] of one image of the output.
std::vector<double> combined_channels(const ConvolutionShape& s, const float* image, const std::vector<double>& v)
{
    std::vector<double> result(static_cast<std::size_t>(s.pixels()));
    for (const double weight : v) {
        for (double& pixel : result)
            pixel += weight * static_cast<double>(*image++);
    }
    return result;
}

} // namespace

ConvolutionShape convolution_shape(const Parameters& parameters)
{
    return {parameters.at("batch"),  parameters.at("channels_in"), parameters.at("channels_out"),
            parameters.at("height"), parameters.at("width"),       parameters.at("kernel")};
}

std::vector<float> convolution_values(std::int64_t size, std::uint64_t seed)
{
    std::vector<float> values(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(random_signed(seed, i));
    return values;
}

double convolution_scale(const ConvolutionShape& shape)
{
    return std::sqrt(static_cast<double>(shape.channels_in * shape.kernel * shape.kernel)) / 3;
}

double convolution_error(const ConvolutionShape& shape, std::span<const float> input, std::span<const float> weights,
                         std::span<const float> output, std::uint64_t seed)
{
    std::vector<double> v(static_cast<std::size_t>(shape.channels_out));
    for (std::size_t o = 0; o < v.size(); ++o)
        v[o] = (0.5 + random_unit(seed, o)) * ((random_bits(seed + 1, o) & 1U) != 0 ? 1 : -1);
    const std::vector<double> kernel = combined_kernel(weights, v);
    double difference = 0;
    double norm = 0;
    for (std::int64_t image = 0; image < shape.batch; ++image) {
        const std::vector<double> truth =
            convolve(shape, input.data() + image * shape.channels_in * shape.pixels(), kernel);
        const std::vector<double> found =
            combined_channels(shape, output.data() + image * shape.channels_out * shape.pixels(), v);
        for (std::size_t p = 0; p < found.size(); ++p) {
            difference += (found[p] - truth[p]) * (found[p] - truth[p]);
            norm += truth[p] * truth[p];
        }
    }
    return std::sqrt(difference / norm);
}

} // namespace fathom::probes
