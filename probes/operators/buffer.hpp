#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace fathom::probes {

/// An array on a cache-line boundary whose pages stay untouched until somebody writes: the thread
/// that computes a part should be the first to touch it, so that it lies in that thread's memory.
template <class T>
class Buffer {
  public:
    Buffer() = default;

    /// Throws std::bad_alloc.
    explicit Buffer(std::size_t size) : size_(size)
    {
        constexpr std::size_t kLine = 64;
        const std::size_t bytes = (size * sizeof(T) + kLine - 1) / kLine * kLine;
        memory_.reset(static_cast<T*>(std::aligned_alloc(kLine, bytes)));
        if (memory_ == nullptr) throw std::bad_alloc();
    }

    T* data() { return memory_.get(); }
    const T* data() const { return memory_.get(); }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return memory_.get()[i]; }
    const T& operator[](std::size_t i) const { return memory_.get()[i]; }
    std::span<T> span() { return {memory_.get(), size_}; }
    std::span<const T> span() const { return {memory_.get(), size_}; }
    std::span<std::byte> bytes() { return std::as_writable_bytes(span()); }

  private:
    struct Free {
        void operator()(T* memory) const { std::free(memory); }
    };
    std::unique_ptr<T, Free> memory_;
    std::size_t size_{};
};

} // namespace fathom::probes
