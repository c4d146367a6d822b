#include "probes/operators/mapping.hpp"

#include <new>
#include <sys/mman.h>
#include <utility>

namespace fathom::probes {

Mapping::Mapping(int flags, int file, std::size_t bytes) : size_(bytes)
{
    if (bytes == 0) return;
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(memory);
}

Mapping::~Mapping()
{
    if (data_ != nullptr) munmap(data_, size_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
{
}

Mapping& Mapping::operator=(Mapping&& other) noexcept
{
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

Mapping Mapping::own(std::size_t bytes)
{
    Mapping mapping(MAP_PRIVATE | MAP_ANONYMOUS, -1, bytes);
    if (bytes > 0) madvise(mapping.data_, bytes, MADV_DONTFORK);
    return mapping;
}

Mapping Mapping::shared(std::size_t bytes)
{
    return {MAP_SHARED | MAP_ANONYMOUS, -1, bytes};
}

Mapping Mapping::of_file(int file, std::size_t bytes)
{
    return {MAP_SHARED, file, bytes};
}

} // namespace fathom::probes
