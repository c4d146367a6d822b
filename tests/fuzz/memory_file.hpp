#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace fathom::fuzz {

/// A file in memory, for what reads by path.
class MemoryFile {
  public:
    MemoryFile() : file_(::memfd_create("fuzz", MFD_CLOEXEC)) { FATHOM_ASSERT(file_ >= 0); }
    ~MemoryFile() { ::close(file_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

    /// From now on it holds this and nothing else.
    void hold(std::string_view content)
    {
        FATHOM_ASSERT(::ftruncate(file_, 0) == 0);
        FATHOM_ASSERT(::pwrite(file_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
    }

  private:
    int file_;
};

} // namespace fathom::fuzz
