#include "agent/catalog/host_id.hpp"

#include "core/base/file.hpp"
#include "core/base/secret.hpp"

namespace fathom::agent {

std::string boot_id()
{
    const Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id", 100);
    return text ? *text : std::string();
}

std::string host_id(std::string_view boot)
{
    if (boot.empty()) return {};
    return sha256_hex("fathom host " + std::string(boot));
}

} // namespace fathom::agent
