#include "core/base/open_file.hpp"

#include <unistd.h>
#include <utility>

namespace fathom {

OpenFile::~OpenFile()
{
    if (number_ >= 0) close(number_);
}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept
{
    std::swap(number_, other.number_);
    return *this;
}

int OpenFile::release()
{
    return std::exchange(number_, -1);
}

} // namespace fathom
