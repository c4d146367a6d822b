#include "probes/profile/interposer/call.hpp"
#include "probes/profile/interposer/objects.hpp"
#include "probes/profile/interposer/real_function.hpp"

#include <cerrno>

namespace fathom::profile {
namespace {

// oneDNN's numbers for dnnl_primitive_desc_query() and dnnl_memory_desc_query().
constexpr int kQueryKind = 2;
constexpr int kQuerySource = 129;
constexpr int kQueryWeights = 131;
constexpr int kQueryDestination = 133;
constexpr int kQueryRank = 256;
constexpr int kQueryDims = 257;
constexpr int kQueryDataType = 258;

constexpr int kMaxRank = 12;

/// dnnl_memory_desc_t of version 2, as far as it is read; opaque since version 3.
struct MemoryDescriptor {
    int rank;
    std::int64_t dims[kMaxRank];
    int data_type;
};

/// oneDNN's own functions, which tell what a primitive computes.
struct Questions {
    int (*primitive_descriptor)(std::uint64_t primitive, const void** descriptor);
    int (*query)(const void* descriptor, int what, int index, void* answer);
    const void* (*memory_descriptor)(const void* descriptor, int what, int index);
    int (*memory_query)(const void* descriptor, int what, void* answer); ///< since version 3
};

template <class Function>
void find(Function& function, const char* name, const void* caller)
{
    function = reinterpret_cast<Function>(find_real_by_name(name, caller));
}

struct Tensor {
    int rank;
    const std::int64_t* dims;
    int data_type;
};

bool ask_tensor(const Questions& ask, const void* primitive, int what, Tensor& tensor)
{
    const void* descriptor = ask.memory_descriptor(primitive, what, 0);
    // A gradient's own tensors have the next number: diff_src follows src.
    if (descriptor == nullptr) descriptor = ask.memory_descriptor(primitive, what + 1, 0);
    if (descriptor == nullptr) return false;
    if (ask.memory_query == nullptr) {
        const auto* old = static_cast<const MemoryDescriptor*>(descriptor);
        tensor = {old->rank, old->dims, old->data_type};
    } else if (ask.memory_query(descriptor, kQueryRank, &tensor.rank) != 0 ||
               ask.memory_query(descriptor, kQueryDims, &tensor.dims) != 0 ||
               ask.memory_query(descriptor, kQueryDataType, &tensor.data_type) != 0) {
        return false;
    }
    return tensor.rank >= 1 && tensor.rank <= kMaxRank && tensor.dims != nullptr;
}

std::int64_t primitive_of(int kind, bool is_version_3)
{
    constexpr int kConvolution = 5;
    if (kind == kConvolution) return primitive::kConvolution;
    if (kind == (is_version_3 ? 10 : 13)) return primitive::kInnerProduct;
    if (kind == (is_version_3 ? 14 : 18)) return primitive::kMatmul;
    return primitive::kOther;
}

std::int64_t points(const Tensor& tensor, int first, int last)
{
    std::int64_t product = 1;
    for (int i = first; i < last; ++i)
        product *= tensor.dims[i];
    return product;
}

/// The sizes of a convolution: dims are batch, channels, then space; weights may begin with groups.
void convolution_sizes(const Tensor& source, const Tensor& weights, const Tensor& destination, std::int64_t* sizes)
{
    sizes[0] = source.dims[0];
    sizes[1] = weights.dims[weights.rank > source.rank ? 2 : 1]; // channels that each output looks at
    sizes[2] = destination.rank > 1 ? destination.dims[1] : 1;
    sizes[3] = points(destination, 2, destination.rank > 3 ? destination.rank - 1 : destination.rank);
    sizes[4] = destination.rank > 3 ? destination.dims[destination.rank - 1] : 1;
    sizes[5] = weights.dims[weights.rank - 1];
}

void product_sizes(std::int64_t kind, const Tensor& source, const Tensor& weights, const Tensor& destination,
                   std::int64_t* sizes)
{
    if (kind == primitive::kInnerProduct) {
        sizes[0] = source.dims[0];
        sizes[1] = weights.dims[0];
        sizes[2] = points(source, 1, source.rank);
        return;
    }
    sizes[0] = points(destination, 0, destination.rank - 1); // batches are rows
    sizes[1] = destination.dims[destination.rank - 1];
    sizes[2] = source.dims[source.rank - 1];
}

void ask_primitive(std::uint64_t handle, const void* caller, Object& object)
{
    Questions ask{};
    find(ask.primitive_descriptor, "dnnl_primitive_get_primitive_desc", caller);
    find(ask.query, "dnnl_primitive_desc_query", caller);
    find(ask.memory_descriptor, "dnnl_primitive_desc_query_md", caller);
    find(ask.memory_query, "dnnl_memory_desc_query", caller);
    if (ask.primitive_descriptor == nullptr || ask.query == nullptr || ask.memory_descriptor == nullptr) return;
    const void* descriptor = nullptr;
    int kind = 0;
    if (ask.primitive_descriptor(handle, &descriptor) != 0 || ask.query(descriptor, kQueryKind, 0, &kind) != 0) return;
    std::int64_t* sizes = object.sizes;
    sizes[dimension::kPrimitive] = primitive_of(kind, ask.memory_query != nullptr);
    if (sizes[dimension::kPrimitive] == primitive::kOther) {
        sizes[dimension::kTensor] = kind;
        return;
    }
    Tensor source{};
    Tensor weights{};
    Tensor destination{};
    if (!ask_tensor(ask, descriptor, kQuerySource, source) || !ask_tensor(ask, descriptor, kQueryWeights, weights) ||
        !ask_tensor(ask, descriptor, kQueryDestination, destination))
        return;
    sizes[dimension::kDataType] = source.data_type;
    if (sizes[dimension::kPrimitive] == primitive::kConvolution)
        convolution_sizes(source, weights, destination, sizes + dimension::kTensor);
    else
        product_sizes(sizes[dimension::kPrimitive], source, weights, destination, sizes + dimension::kTensor);
}

} // namespace

/// dnnl_primitive_execute(primitive, stream, nargs, args)
void decode_dnnl(const CallFrame& frame, Call& call)
{
    const std::uint64_t handle = frame.registers[0];
    Object object{};
    if (!find_object(handle, object)) {
        const int kept_errno = errno;
        ask_primitive(handle, frame.return_address, object);
        remember_object(handle, object);
        errno = kept_errno;
    }
    std::memcpy(call.dimensions, object.sizes, sizeof(call.dimensions));
}

} // namespace fathom::profile
