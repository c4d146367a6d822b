#include "core/base/write_all.hpp"

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <unistd.h>

namespace fathom {

bool write_all(int descriptor, std::string_view content)
{
    while (!content.empty()) {
        const ssize_t written = ::write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

} // namespace fathom
