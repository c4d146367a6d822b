#include "probes/operators/checksum.hpp"
#include "probes/operators/conv2d/truth.hpp"
#include "probes/operators/cuda_library.hpp"
#include "probes/operators/cuda_operator.hpp"
#include "probes/operators/data_flow.hpp"

#include <algorithm>
#include <array>
#include <cudnn.h>

namespace fathom::probes {
namespace {

void check(cudnnStatus_t status, const char* what)
{
    if (status == CUDNN_STATUS_SUCCESS) return;
    if (status == CUDNN_STATUS_ALLOC_FAILED) throw DeviceMemoryError();
    throw CudaError(std::string(what) + ": " + cudnnGetErrorString(status));
}

/// Something of cuDNN that is created and destroyed.
template <class Handle, cudnnStatus_t (*Create)(Handle*), cudnnStatus_t (*Destroy)(Handle)>
class CudnnObject {
  public:
    CudnnObject() { check(Create(&handle_), "cuDNN"); }
    ~CudnnObject() { Destroy(handle_); }
    CudnnObject(const CudnnObject&) = delete;
    CudnnObject& operator=(const CudnnObject&) = delete;

    Handle get() const { return handle_; }

  private:
    Handle handle_{};
};

/// Images with zero rows and columns behind them, where the kernel's edge is even: cuDNN pads alike on both sides,
/// and an even kernel needs one row more behind than before.
std::int64_t extra_edge(const ConvolutionShape& shape)
{
    return shape.kernel - 1 - 2 * shape.padding();
}

std::size_t padded_size(const ConvolutionShape& shape)
{
    const std::int64_t extra = extra_edge(shape);
    return static_cast<std::size_t>(shape.batch * shape.channels_in * (shape.height + extra) * (shape.width + extra));
}

std::vector<float> with_extra_edge(const ConvolutionShape& shape, const std::vector<float>& input)
{
    const std::int64_t extra = extra_edge(shape);
    std::vector<float> padded(padded_size(shape));
    auto from = input.begin();
    auto to = padded.begin();
    for (std::int64_t image = 0; image < shape.batch * shape.channels_in; ++image) {
        for (std::int64_t row = 0; row < shape.height; ++row, from += shape.width, to += shape.width + extra)
            std::copy_n(from, shape.width, to);
        to += extra * (shape.width + extra);
    }
    return padded;
}

/// The algorithms that compute the sums as they are defined, for the operator stands for those. Others (FFT,
/// Winograd) do other operations, with other errors.
const char* direct_name(cudnnConvolutionFwdAlgo_t algorithm)
{
    if (algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM) return "implicit_gemm";
    if (algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM) return "implicit_precomp_gemm";
    if (algorithm == CUDNN_CONVOLUTION_FWD_ALGO_GEMM) return "gemm";
    if (algorithm == CUDNN_CONVOLUTION_FWD_ALGO_DIRECT) return "direct";
    return nullptr;
}

/// cuDNN with the tensors of one convolution in plain layout (NCHW).
class CudnnConvolution {
  public:
    CudnnConvolution(const ConvolutionShape& s, const CudaStream& stream)
    {
        const auto number = [](std::int64_t value) { return static_cast<int>(value); };
        const int extra = number(extra_edge(s));
        const int padding = number(s.padding());
        check(cudnnSetStream(cudnn_.get(), stream.get()), "cudnnSetStream");
        check(cudnnSetTensor4dDescriptor(input_.get(), CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, number(s.batch),
                                         number(s.channels_in), number(s.height) + extra, number(s.width) + extra),
              "cudnnSetTensor4dDescriptor");
        check(cudnnSetTensor4dDescriptor(output_.get(), CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, number(s.batch),
                                         number(s.channels_out), number(s.height), number(s.width)),
              "cudnnSetTensor4dDescriptor");
        check(cudnnSetFilter4dDescriptor(weights_.get(), CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, number(s.channels_out),
                                         number(s.channels_in), number(s.kernel), number(s.kernel)),
              "cudnnSetFilter4dDescriptor");
        check(cudnnSetConvolution2dDescriptor(convolution_.get(), padding, padding, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                              CUDNN_DATA_FLOAT),
              "cudnnSetConvolution2dDescriptor");
        // Single precision throughout: by default products would be rounded to TF32, with 10 bits.
        check(cudnnSetConvolutionMathType(convolution_.get(), CUDNN_FMA_MATH), "cudnnSetConvolutionMathType");
        choose_algorithm();
    }

    void multiply(const float* input, const float* weights, float* output)
    {
        const float one = 1;
        const float zero = 0;
        check(cudnnConvolutionForward(cudnn_.get(), &one, input_.get(), input, weights_.get(), weights,
                                      convolution_.get(), algorithm_, work_.data(), work_.size(), &zero, output_.get(),
                                      output),
              "cudnnConvolutionForward");
    }

    const char* algorithm() const { return direct_name(algorithm_); }

  private:
    /// The direct one that cuDNN expects to be the fastest.
    void choose_algorithm()
    {
        std::array<cudnnConvolutionFwdAlgoPerf_t, CUDNN_CONVOLUTION_FWD_ALGO_COUNT> found{};
        int count = 0;
        check(cudnnGetConvolutionForwardAlgorithm_v7(cudnn_.get(), input_.get(), weights_.get(), convolution_.get(),
                                                     output_.get(), static_cast<int>(found.size()), &count,
                                                     found.data()),
              "cudnnGetConvolutionForwardAlgorithm_v7");
        const auto end = found.begin() + count;
        const auto best = std::find_if(found.begin(), end, [](const cudnnConvolutionFwdAlgoPerf_t& item) {
            return item.status == CUDNN_STATUS_SUCCESS && direct_name(item.algo) != nullptr;
        });
        if (best == end) throw CudaError("cuDNN has no direct algorithm for this convolution");
        algorithm_ = best->algo;
        std::size_t work_bytes = 0;
        check(cudnnGetConvolutionForwardWorkspaceSize(cudnn_.get(), input_.get(), weights_.get(), convolution_.get(),
                                                      output_.get(), algorithm_, &work_bytes),
              "cudnnGetConvolutionForwardWorkspaceSize");
        work_ = DeviceArray<std::byte>(work_bytes);
    }

    CudnnObject<cudnnHandle_t, cudnnCreate, cudnnDestroy> cudnn_;
    CudnnObject<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor> input_;
    CudnnObject<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor> weights_;
    CudnnObject<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor> output_;
    CudnnObject<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor>
        convolution_;
    cudnnConvolutionFwdAlgo_t algorithm_{};
    DeviceArray<std::byte> work_;
};

class CudaConv2d final : public CudaOperator {
  public:
    explicit CudaConv2d(const ConvolutionShape& shape) : shape_(shape) {}

    void execute() override
    {
        convolution_->multiply(input_.data(), weights_.data(), output_.written_by_device());
        stream().wait();
    }

    std::vector<double> values() override
    {
        const std::span<const float> output = output_.on_host(stream());
        return {output.begin(), output.end()};
    }

    Result<void> feed(std::size_t index, std::span<const double> values) override
    {
        if (index != 0) return Error{Errc::kUnavailable, "has one input, the images"};
        const std::vector<double> fitted = fit_values(values, host_input_.size());
        std::transform(fitted.begin(), fitted.end(), host_input_.begin(),
                       [](double value) { return static_cast<float>(value); });
        input_.upload(with_extra_edge(shape_, host_input_), stream());
        return {};
    }

    double error() override
    {
        return convolution_error(shape_, host_input_, host_weights_, output_.on_host(stream()), seed() + 2);
    }

    std::string checksum() override { return rounded_checksum(output_.on_host(stream()), convolution_scale(shape_)); }

    std::string library() const override
    {
        return cuda_library_name("cuDNN", cudnnGetProperty) + (convolution_ ? " " : "") +
               (convolution_ ? convolution_->algorithm() : "");
    }

    std::span<std::byte> output() override { return std::as_writable_bytes(output_.on_host(stream())); }

  private:
    void prepare_on_device(std::uint64_t seed) override
    {
        host_input_ = convolution_values(shape_.input_size(), seed);
        host_weights_ = convolution_values(shape_.weights_size(), seed + 1);
        input_ = DeviceArray<float>(padded_size(shape_));
        input_.upload(with_extra_edge(shape_, host_input_), stream());
        weights_ = DeviceArray<float>(host_weights_.size());
        weights_.upload(host_weights_, stream());
        output_ = DeviceResult<float>(static_cast<std::size_t>(shape_.output_size()), stream());
        convolution_.emplace(shape_, stream());
    }

    ConvolutionShape shape_;
    std::vector<float> host_input_; ///< what the check convolves
    std::vector<float> host_weights_;
    DeviceArray<float> input_; ///< with the extra edge
    DeviceArray<float> weights_;
    DeviceResult<float> output_;
    std::optional<CudnnConvolution> convolution_;
};

std::unique_ptr<ProbeOperator> make_cuda_conv2d(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<CudaConv2d>(convolution_shape(parameters));
}

double cuda_conv2d_host_memory(const Parameters& parameters)
{
    const ConvolutionShape s = convolution_shape(parameters);
    // The input also with its extra edge while it is made.
    return 4 * (static_cast<double>(s.input_size() + s.weights_size() + s.output_size()) +
                static_cast<double>(padded_size(s)));
}

double cuda_conv2d_device_memory(const Parameters& parameters)
{
    const ConvolutionShape s = convolution_shape(parameters);
    constexpr double kWorkBytes = 64e6; // of the handle, and small work spaces; larger ones tell by failing
    return 4 * (static_cast<double>(s.weights_size() + s.output_size()) + static_cast<double>(padded_size(s))) +
           kWorkBytes;
}

} // namespace

CudaImplementation conv2d_on_cuda()
{
    return {
        .make = make_cuda_conv2d, .host_memory = cuda_conv2d_host_memory, .device_memory = cuda_conv2d_device_memory};
}

} // namespace fathom::probes
