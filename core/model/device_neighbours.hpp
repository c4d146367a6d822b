#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/pair_source.hpp"

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
    /// How far off `expected_share` may be: of pairs that ran together the standard deviation of the runs, else of what
    /// such predictions were off by. Empty: the same, or the classes alone tell it.
    std::optional<double> expected_spread{};
    std::optional<double> least_share_beside{}; ///< as `expected_share`, of that other who keeps least
    PairSource basis{PairSource::kDefault};     ///< of all that is expected, what rests on least

    std::int64_t count() const { return compute_count + memory_count + unknown_count; }
    friend bool operator==(const DeviceNeighbours&, const DeviceNeighbours&) = default;
};

/// Side effects can make a job faster beside another, but not more so: larger shares and spreads are not told.
inline constexpr double kMaxKeptShare = 4;
/// Attempts on one device, at most.
inline constexpr std::int64_t kMaxDeviceNeighbours = 10'000;

/// Unknown fields are ignored: agents may be newer. Errors go to the reader's list.
DeviceNeighbours read_device_neighbours(ObjectReader& reader);
Json to_json(const DeviceNeighbours& neighbours);

} // namespace fathom
