#include "agent/executor/slurm/gres.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxDevicesOfNode = 4096;

/// Without what stands in parentheses, which may hold commas: to which sockets devices belong.
std::string without_sockets(std::string_view text)
{
    std::string plain;
    int depth = 0;
    for (const char c : text) {
        if (c == '(') ++depth;
        if (depth == 0) plain += c;
        if (c == ')' && depth > 0) --depth;
    }
    return plain;
}

} // namespace

std::vector<SlurmDevices> parse_gres(std::string_view text)
{
    const std::string plain = without_sockets(text);
    std::vector<SlurmDevices> devices;
    for (const std::string_view item : split_text(plain, ',')) {
        const std::vector<std::string_view> parts = split_text(item, ':');
        if (parts.size() < 2 || parts.size() > 3) continue;
        const auto count = parse_number<std::int64_t>(parts.back());
        if (!count || *count < 1 || *count > kMaxDevicesOfNode) continue;
        devices.push_back({.name = std::string(parts.front()),
                           .type = parts.size() == 3 ? std::string(parts[1]) : std::string(),
                           .count = *count});
    }
    return devices;
}

std::optional<SlurmDevices> gpus_of(const SlurmNode& node, const std::string& model)
{
    SlurmDevices gpus{.name = "gpu", .type = {}, .count = 0};
    for (const SlurmDevices& devices : parse_gres(node.gres)) {
        if (devices.name != gpus.name) continue;
        if (model.empty())
            gpus.count += devices.count;
        else if (devices.type.find(model) != std::string::npos)
            return devices;
    }
    return gpus.count > 0 ? std::optional(gpus) : std::nullopt;
}

std::vector<const SlurmNode*> with_gpus(const std::vector<const SlurmNode*>& nodes, const std::string& model,
                                        std::int64_t least_count)
{
    std::vector<const SlurmNode*> fitting;
    std::optional<SlurmDevices> first;
    for (const SlurmNode* node : nodes) {
        const std::optional<SlurmDevices> gpus = gpus_of(*node, model);
        if (!gpus || gpus->count < least_count || (first && first->type != gpus->type)) continue;
        if (!first) first = gpus;
        fitting.push_back(node);
    }
    return fitting;
}

} // namespace fathom::agent
