#include "agent/gpu/memory/coordinator.hpp"
#include "core/base/utf8.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The part of Coordinator that knows the kernels of programs, and learns how long they take.
namespace fathom::gpu {
namespace {

constexpr double kNsPerS = 1e9;

KernelUse use_of(const KernelFigures& kernel)
{
    const auto extent = [](const std::array<std::uint32_t, 3>& of) {
        return std::array<std::int64_t, 3>{of[0], of[1], of[2]};
    };
    KernelUse use{.name = kernel.name,
                  .grid = extent(kernel.shape.grid),
                  .block = extent(kernel.shape.block),
                  .shared_bytes = kernel.shape.shared_bytes,
                  .registers = kernel.need.registers,
                  .static_shared_bytes = kernel.need.registers == 0 ? 0 : kernel.need.static_shared_bytes,
                  .launches = kernel.launches,
                  .timed = kernel.timed};
    if (kernel.timed == 0) return use;
    use.least_s = static_cast<double>(kernel.least_ns) / kNsPerS;
    use.mean_s = static_cast<double>(kernel.all_ns) / static_cast<double>(kernel.timed) / kNsPerS;
    return use;
}

} // namespace

/// What it says of one that it has told of replaces what it said before. Of more than are kept those stay that have
/// taken longest.
void Coordinator::note_kernel(Client& client, const Message& message)
{
    const std::optional<KernelFigures> told = kernel_of(message);
    if (!told || !is_utf8(told->name)) {
        ++client.wrong_messages;
        return;
    }
    const auto same = std::find_if(client.kernels.begin(), client.kernels.end(),
                                   [&](const KernelFigures& one) { return one.number == told->number; });
    if (same != client.kernels.end())
        *same = *told;
    else
        client.kernels.push_back(*told);
    std::sort(client.kernels.begin(), client.kernels.end(), takes_longer);
    if (client.kernels.size() > kMaxKernelsOfProgram) client.kernels.pop_back();
}

void Coordinator::note_input_size(ClientId id, Client& client, const Message& message)
{
    const auto size = std::bit_cast<double>(message.first);
    if (!(size >= 1 / kMaxInputSize && size <= kMaxInputSize)) {
        ++client.wrong_messages;
        return;
    }
    client.input_size = size;
    pairs_.set_input_size(key(id), size);
}

/// Of a program that ends. Of all launch shapes of a kernel together: those are what the size of the input changes.
void Coordinator::learn_kernels(const Client& client)
{
    if (client.kind.empty()) return;
    struct Times {
        double all_ns{};
        double timed{};
    };
    std::map<std::string, Times> by_name;
    for (const KernelFigures& kernel : client.kernels) {
        if (kernel.timed == 0) continue;
        Times& times = by_name[kernel.name];
        times.all_ns += static_cast<double>(kernel.all_ns);
        times.timed += static_cast<double>(kernel.timed);
    }
    std::vector<KernelTime> learned;
    for (const auto& [name, times] : by_name)
        learned.push_back({.kernel = name, .mean_s = times.all_ns / times.timed / kNsPerS});
    kernel_times_.learn(client.kind, client.input_size, learned);
}

std::vector<KernelUse> Coordinator::kernels_of(const Client& client) const
{
    std::vector<KernelUse> kernels;
    for (const KernelFigures& kernel : client.kernels) {
        kernels.push_back(use_of(kernel));
        if (!client.kind.empty())
            kernels.back().expected = kernel_times_.expect(client.kind, client.input_size, kernel.name);
    }
    return kernels;
}

} // namespace fathom::gpu
