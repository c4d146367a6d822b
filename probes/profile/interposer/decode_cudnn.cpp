#include "probes/profile/interposer/call.hpp"
#include "probes/profile/interposer/objects.hpp"

#include <string_view>

namespace fathom::profile {
namespace {

/// A described tensor or filter: data type, then up to five dimensions (batch or outputs, channels, space).
constexpr std::size_t kType = 0;
constexpr std::size_t kDims = 1;
constexpr std::size_t kMaxDims = 5;

/// cuDNN's data types as oneDNN numbers them.
std::int64_t data_type(std::int64_t cudnn)
{
    switch (cudnn) {
    case 0: // CUDNN_DATA_FLOAT
        return 3;
    case 2: // CUDNN_DATA_HALF
        return 1;
    case 9: // CUDNN_DATA_BFLOAT16
        return 2;
    default:
        return 0;
    }
}

} // namespace

/// cudnnSetTensor4dDescriptor(d, format, type, n, c, h, w), cudnnSetFilter4dDescriptor(d, type, format, k, c, h, w),
/// cudnnSetTensorNdDescriptor(d, type, rank, dims, …), cudnnSetFilterNdDescriptor(d, type, format, rank, dims).
void note_cudnn(const SymbolInfo& info, const CallFrame& frame)
{
    if (static_cast<std::uint32_t>(frame.result) != 0) return;
    const Arguments arguments(frame, info.interface);
    const std::string_view layout = info.signature;
    Object object{};
    object.sizes[kType] = arguments.integer(layout == "tensor4" ? 2 : 1);
    if (layout.ends_with('4')) {
        for (std::size_t i = 0; i < 4; ++i)
            object.sizes[kDims + i] = arguments.integer(3 + i);
    } else {
        const std::size_t rank_at = layout == "filterN" ? 3 : 2;
        const std::int64_t rank = arguments.integer(rank_at);
        for (std::size_t i = 0; i < kMaxDims && static_cast<std::int64_t>(i) < rank; ++i)
            object.sizes[kDims + i] = Arguments::read<std::int32_t>(arguments.pointer(rank_at + 1), i);
    }
    remember_object(arguments.word(0), object);
}

/// cudnnConvolutionForward(handle, alpha, x, X, w, W, convolution, algorithm, workspace, bytes, beta, y, Y);
/// the fused variant goes on with alpha2, z, Z, bias, …, y, Y.
void decode_cudnn(const SymbolInfo& info, const CallFrame& frame, Call& call)
{
    const Arguments arguments(frame, info.interface);
    Object input{};
    Object filter{};
    Object output{};
    const std::size_t y = std::string_view(info.signature) == "fused" ? 16 : 11;
    call.read[0] = arguments.pointer(3);
    call.written[0] = arguments.pointer(y + 1);
    if (!find_object(arguments.word(2), input) || !find_object(arguments.word(4), filter) ||
        !find_object(arguments.word(y), output))
        return;
    call.dimensions[dimension::kPrimitive] = primitive::kConvolution;
    call.dimensions[dimension::kDataType] = data_type(input.sizes[kType]);
    std::int64_t* sizes = call.dimensions + dimension::kTensor;
    sizes[0] = input.sizes[kDims];
    sizes[1] = filter.sizes[kDims + 1];
    sizes[2] = filter.sizes[kDims];
    sizes[3] = output.sizes[kDims + 2];
    sizes[4] = output.sizes[kDims + 3];
    sizes[5] = filter.sizes[kDims + 3];
}

} // namespace fathom::profile
