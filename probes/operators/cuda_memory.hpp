#pragma once

#include "probes/operators/cuda_check.hpp"

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace fathom::probes {

/// An order of work on the device: what is put in runs one after the other.
class CudaStream {
  public:
    CudaStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
    ~CudaStream() { cudaStreamDestroy(stream_); }
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;

    cudaStream_t get() const { return stream_; }

    /// Blocks until all work is done. Throws CudaError when some of it failed.
    void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  private:
    cudaStream_t stream_{};
};

/// An array in the device's memory, not initialised.
template <class T>
class DeviceArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    DeviceArray() = default;
    /// Throws DeviceMemoryError.
    explicit DeviceArray(std::size_t size) : size_(size)
    {
        if (size > 0) check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "cudaMalloc");
    }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(DeviceArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
    {
    }
    DeviceArray& operator=(DeviceArray&& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

    /// Copies from the host; `from` has as many elements. Blocks.
    void upload(std::span<const T> from, const CudaStream& stream)
    {
        check(cudaMemcpyAsync(data_, from.data(), bytes(), cudaMemcpyHostToDevice, stream.get()), "copy to the GPU");
        stream.wait();
    }

    /// Copies to the host. Blocks.
    std::vector<T> download(const CudaStream& stream) const
    {
        std::vector<T> values(size_);
        check(cudaMemcpyAsync(values.data(), data_, bytes(), cudaMemcpyDeviceToHost, stream.get()),
              "copy from the GPU");
        stream.wait();
        return values;
    }

    /// Sets every byte to 0xff: every floating-point number becomes a NaN.
    void poison(const CudaStream& stream) { check(cudaMemsetAsync(data_, 0xff, bytes(), stream.get()), "cudaMemset"); }

  private:
    T* data_ = nullptr;
    std::size_t size_{};
};

/// An array that an operator writes on the device, and a copy on the host for everybody who looks at it. It
/// starts as NaN: what is never computed shows.
template <class T>
class DeviceResult {
  public:
    DeviceResult() = default;
    /// Throws DeviceMemoryError.
    DeviceResult(std::size_t size, const CudaStream& stream) : array_(size) { array_.poison(stream); }

    /// For the code that computes it; the copy on the host counts as old from then on.
    T* written_by_device()
    {
        is_copied_ = false;
        return array_.data();
    }

    /// The copy on the host, renewed if it is old. Blocks.
    std::span<T> on_host(const CudaStream& stream)
    {
        if (!is_copied_) copy_ = array_.download(stream);
        is_copied_ = true;
        return copy_;
    }

  private:
    DeviceArray<T> array_;
    std::vector<T> copy_;
    bool is_copied_ = false;
};

} // namespace fathom::probes
