#pragma once

#include "probes/operators/mapping.hpp"

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
        const std::size_t shift = next_shift();
        const std::size_t bytes = (shift + size * sizeof(T) + kLine - 1) / kLine * kLine;
        if (bytes >= kLarge) {
            pages_ = Mapping::own(bytes);
            data_ = reinterpret_cast<T*>(pages_.data() + shift);
            return;
        }
        memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kLine, bytes)));
        if (memory_ == nullptr) throw std::bad_alloc();
        data_ = reinterpret_cast<T*>(memory_.get() + shift);
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    std::span<T> span() { return {data_, size_}; }
    std::span<const T> span() const { return {data_, size_}; }
    std::span<std::byte> bytes() { return std::as_writable_bytes(span()); }

  private:
    static constexpr std::size_t kLine = 64;
    static constexpr std::size_t kStep = 11 * kLine; ///< from one buffer's place within a page to the next one's
    /// From this size on the allocator would ask the kernel, too; asking ourselves keeps the pages out of
    /// the worker processes that an operator may fork.
    static constexpr std::size_t kLarge = 1UL << 18U;

    /// Large blocks from the allocator all start at the same place within a page. A store would then
    /// collide with loads from the other arrays at the same index: processors compare only the low
    /// twelve bits of addresses at first. So every buffer starts a little further into its page.
    static std::size_t next_shift()
    {
        static thread_local std::size_t shift = 0;
        shift = (shift + kStep) % 4096;
        return shift;
    }

    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> memory_;
    Mapping pages_; ///< instead of memory_, for large ones
    T* data_ = nullptr;
    std::size_t size_{};
};

} // namespace fathom::probes
