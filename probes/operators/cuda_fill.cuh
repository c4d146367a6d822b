#pragma once

#include "probes/operators/cuda_memory.hpp"
#include "probes/operators/random.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

/// Inputs as functions of the position: the same on the device and on the host.
namespace fathom::probes {

inline constexpr unsigned kCudaBlock = 256; ///< threads of a block

/// Blocks for one thread an element.
inline unsigned cuda_blocks(std::size_t size, unsigned block = kCudaBlock)
{
    return static_cast<unsigned>((size + block - 1) / block); // sizes stay below 2^39: a grid has 2^31 blocks
}

/// The position of this thread among all of the grid.
__device__ inline std::size_t cuda_thread_position()
{
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Throws CudaError when the kernel before could not be started.
inline void check_launch()
{
    check(cudaGetLastError(), "kernel");
}

template <class T, class Function>
__global__ void fill_kernel(T* out, std::size_t size, Function function)
{
    const std::size_t i = cuda_thread_position();
    if (i < size) out[i] = function(i);
}

/// out[i] = function(i) for a constexpr function object.
template <class T, class Function>
void fill_on_device(T* out, std::size_t size, const CudaStream& stream, Function function)
{
    if (size == 0) return;
    fill_kernel<<<cuda_blocks(size), kCudaBlock, 0, stream.get()>>>(out, size, function);
    check_launch();
}

template <class T, class Function>
std::vector<T> fill_on_host(std::size_t size, Function function)
{
    std::vector<T> values(size);
    for (std::size_t i = 0; i < size; ++i)
        values[i] = function(i);
    return values;
}

/// Uniform in [-1, 1). T is made from a double, or from a float as 16-bit types are.
template <class T>
struct RandomSigned {
    std::uint64_t seed;
    constexpr T operator()(std::size_t i) const
    {
        if constexpr (std::is_floating_point_v<T>)
            return static_cast<T>(random_signed(seed, i));
        else
            return T(static_cast<float>(random_signed(seed, i)));
    }
};

} // namespace fathom::probes
