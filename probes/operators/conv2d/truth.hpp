#pragma once

#include "core/model/formula.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// What the implementations of conv2d share: the shape, the inputs, and the check.
namespace fathom::probes {

/// Stride 1; the output is as large as the input, which is padded with zeros.
struct ConvolutionShape {
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

ConvolutionShape convolution_shape(const Parameters& parameters);

/// `size` floats, uniform in [-1, 1): images and weights.
std::vector<float> convolution_values(std::int64_t size, std::uint64_t seed);

/// The typical size of an element of the output: its standard deviation.
double convolution_scale(const ConvolutionShape& shape);

/// Freivalds over the output channels: with random v, Σ v[o]·output[o] must be the convolution by
/// the one kernel Σ v[o]·weights[o], which costs channels_out times less than the whole.
/// @param input, weights, output  batch × channels × height × width and
///                                channels_out × channels_in × kernel × kernel, row-major.
/// @param seed                    chooses v.
double convolution_error(const ConvolutionShape& shape, std::span<const float> input, std::span<const float> weights,
                         std::span<const float> output, std::uint64_t seed);

} // namespace fathom::probes
