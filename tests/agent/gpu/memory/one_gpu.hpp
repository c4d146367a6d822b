#pragma once

#include "agent/gpu/memory/coordinator.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::gpu {

inline constexpr std::int64_t kMiB = 1LL << 20U;
inline const std::string kGpu = "GPU-1";

/// Of one GPU with 64 MiB.
inline Coordinator coordinator(double settle_s = 0)
{
    CoordinatorSettings settings;
    settings.gpus = {{kGpu, 64 * kMiB}};
    settings.gap_bytes = 2 * kMiB;
    settings.settle_s = settle_s;
    return Coordinator::make(settings, 0).value();
}

inline Message use_gpu(std::int64_t persistent, std::int64_t temporary, std::int64_t had = 0)
{
    return with_text({.type = MessageType::kUseGpu, .second = persistent, .third = temporary, .fourth = had}, kGpu);
}

/// A program that has said who it is and asked for memory.
inline void join(Coordinator& all, ClientId id, std::int64_t persistent, std::int64_t temporary, double now_s = 0)
{
    all.connect(id, 100 + static_cast<std::int64_t>(id));
    all.receive(id, with_text({.type = MessageType::kHello, .second = 1000}, "job-" + std::to_string(id)), now_s);
    all.receive(id, use_gpu(persistent, temporary), now_s);
}

inline std::vector<MessageType> types_to(ClientId id, const std::vector<Outgoing>& sent)
{
    std::vector<MessageType> types;
    for (const Outgoing& one : sent) {
        if (one.to == id) types.push_back(one.message.type);
    }
    return types;
}

} // namespace fathom::gpu
