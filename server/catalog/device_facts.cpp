#include "server/catalog/device_facts.hpp"

namespace fathom::server {
namespace {

/// Facts are what an agent says: what is no sensible number is as good as nothing.
std::int64_t count_of(const Json& device, const char* name)
{
    constexpr std::int64_t kMax = 1'000'000;
    if (!device.is_object()) return 0;
    const auto found = device.find(name);
    if (found == device.end() || !found->is_number_integer()) return 0;
    const auto count = found->get<std::int64_t>();
    return count > 0 && count <= kMax ? count : 0;
}

} // namespace

std::int64_t units_per_device_of(const Json& device)
{
    if (const std::int64_t told = count_of(device, "units_per_device"); told > 0) return told;
    return count_of(device, "parts_per_device") > 1 ? 0 : 1; // an older agent
}

} // namespace fathom::server
