#pragma once

#include <cstddef>

namespace fathom::probes {

/// Pages of memory straight from the kernel, zeroed, untouched until somebody writes.
class Mapping {
  public:
    Mapping() = default;
    ~Mapping();
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    /// This process's own. Processes that it forks do not get them: a fork would otherwise make every later
    /// write to them copy a page. Throws std::bad_alloc.
    static Mapping own(std::size_t bytes);

    /// Shared with the processes that this one forks. Throws std::bad_alloc.
    static Mapping shared(std::size_t bytes);

    /// The first `bytes` of an open file: writes change the file. Throws std::bad_alloc.
    static Mapping of_file(int file, std::size_t bytes);

    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    Mapping(int flags, int file, std::size_t bytes);

    std::byte* data_ = nullptr;
    std::size_t size_{};
};

} // namespace fathom::probes
