#include "agent/stage/allowed_folders.hpp"

#include <algorithm>

namespace fathom::agent {

bool is_below_one_of(int file, const std::vector<std::filesystem::path>& folders)
{
    std::error_code error;
    const std::filesystem::path real = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), error);
    if (error) return false;
    return std::any_of(folders.begin(), folders.end(), [&](const std::filesystem::path& folder) {
        const std::filesystem::path canonical = std::filesystem::weakly_canonical(folder, error);
        return !error &&
               std::mismatch(canonical.begin(), canonical.end(), real.begin(), real.end()).first == canonical.end();
    });
}

} // namespace fathom::agent
