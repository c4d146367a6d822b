#pragma once

#include "agent/gpu/protocol.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

/// What a program's preloaded library says of a kernel that the program launches (C1): of MessageType::kKernel, the
/// text.
namespace fathom::gpu {

/// A program tells of kernels by these numbers, from 0.
inline constexpr std::uint32_t kMaxKernelNumbers = 256;

struct KernelShape {
    std::array<std::uint32_t, 3> grid{};  ///< blocks
    std::array<std::uint32_t, 3> block{}; ///< threads
    std::uint32_t shared_bytes{};         ///< of a block, as it was launched with

    friend bool operator==(const KernelShape&, const KernelShape&) = default;
};

/// Else the driver refuses the launch.
inline bool has_threads(const KernelShape& shape)
{
    const auto is_empty = [](std::uint32_t count) { return count == 0; };
    return std::none_of(shape.grid.begin(), shape.grid.end(), is_empty) &&
           std::none_of(shape.block.begin(), shape.block.end(), is_empty);
}

inline constexpr std::size_t kMaxKernelName = 175; ///< bytes

/// What a kernel takes of a multiprocessor, as it was compiled.
struct KernelNeed {
    std::uint32_t registers{};           ///< of a thread; 0: not known
    std::uint32_t static_shared_bytes{}; ///< of a block, besides those that it is launched with

    friend bool operator==(const KernelNeed&, const KernelNeed&) = default;
};

struct KernelText {
    std::uint32_t number{};
    KernelShape shape;
    KernelNeed need;
    std::array<char, kMaxKernelName + 1> name{}; ///< ends with a zero
};
static_assert(sizeof(KernelText) == sizeof(Message::text));

/// What fits; a character of several bytes is cut as a whole.
inline std::string_view kernel_name_that_fits(std::string_view name)
{
    if (name.size() <= kMaxKernelName) return name;
    std::size_t end = kMaxKernelName;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U)
        --end;
    return name.substr(0, end);
}

/// What a kernel of a program has done since the program began.
struct KernelFigures {
    std::uint32_t number{}; ///< of this program's kernels
    std::string name;
    KernelShape shape;
    KernelNeed need{};
    std::int64_t launches{};
    std::int64_t timed{};    ///< of them
    std::int64_t least_ns{}; ///< of these
    std::int64_t all_ns{};   ///< of these together

    /// What all launches are expected to have taken.
    double expected_ns() const
    {
        return timed == 0 ? 0
                          : static_cast<double>(all_ns) / static_cast<double>(timed) * static_cast<double>(launches);
    }
};

/// Of two kernels the one that has taken longer comes first; of those of which no launch was timed, who was launched
/// more.
inline bool takes_longer(const KernelFigures& a, const KernelFigures& b)
{
    if (a.expected_ns() != b.expected_ns()) return a.expected_ns() > b.expected_ns();
    return a.launches != b.launches ? a.launches > b.launches : a.number < b.number;
}

inline Message message_of(const KernelFigures& kernel)
{
    KernelText text{.number = kernel.number, .shape = kernel.shape, .need = kernel.need, .name = {}};
    kernel_name_that_fits(kernel.name).copy(text.name.data(), kMaxKernelName);
    Message message{.type = MessageType::kKernel,
                    .first = kernel.launches,
                    .second = kernel.timed,
                    .third = kernel.least_ns,
                    .fourth = kernel.all_ns};
    std::memcpy(message.text.data(), &text, sizeof(text));
    return message;
}

/// Nothing where no program could say so: what it says is not believed further than that.
inline std::optional<KernelFigures> kernel_of(const Message& message)
{
    constexpr std::int64_t kMaxLaunches = 1'000'000'000'000'000;
    constexpr std::int64_t kMaxNs = 1'000'000'000'000'000'000;
    constexpr std::uint32_t kMaxRegisters = 4096;
    constexpr std::uint32_t kMaxSharedBytes = 1U << 24U;
    KernelText text;
    std::memcpy(&text, message.text.data(), sizeof(text));
    const std::string_view all(text.name.data(), text.name.size());
    const std::string_view name = all.substr(0, all.find('\0'));
    const bool has_times = message.second >= 0 && message.second <= message.first && message.third >= 0 &&
                           message.third <= message.fourth && message.fourth <= kMaxNs &&
                           (message.second > 0 || message.fourth == 0);
    const bool has_need = text.need.registers <= kMaxRegisters && text.need.static_shared_bytes <= kMaxSharedBytes;
    if (text.number >= kMaxKernelNumbers || !has_threads(text.shape) || !has_need || !has_times || name.empty() ||
        name.size() == all.size() || message.first < 1 || message.first > kMaxLaunches)
        return std::nullopt;
    return KernelFigures{.number = text.number,
                         .name = std::string(name),
                         .shape = text.shape,
                         .need = text.need,
                         .launches = message.first,
                         .timed = message.second,
                         .least_ns = message.third,
                         .all_ns = message.fourth};
}

} // namespace fathom::gpu
