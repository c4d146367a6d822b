#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <optional>

namespace fathom {

/// With whom an attempt shares a device as it starts, and what that is expected to cost (C8). Of several devices, the
/// one on which it is expected to keep least: the others wait for it.
struct DeviceNeighbours {
    std::int64_t compute_count{}; ///< other attempts that have parts of the device, compute-intensive ones
    std::int64_t memory_count{};  ///< memory-intensive ones
    std::int64_t unknown_count{}; ///< of whose class nothing is known
    /// Of its speed alone, what it is expected to keep. Empty: nothing is known of it, or of one of the others.
    std::optional<double> expected_share{};
    std::optional<double> least_share_beside{}; ///< the same, of that other who keeps least
    bool is_measured{false};                    ///< expected of what ran together; else of the classes only

    std::int64_t count() const { return compute_count + memory_count + unknown_count; }
    friend bool operator==(const DeviceNeighbours&, const DeviceNeighbours&) = default;
};

/// Attempts on one device, at most.
inline constexpr std::int64_t kMaxDeviceNeighbours = 10'000;

/// Unknown fields are ignored: agents may be newer. Errors go to the reader's list.
DeviceNeighbours read_device_neighbours(ObjectReader& reader);
Json to_json(const DeviceNeighbours& neighbours);

} // namespace fathom
