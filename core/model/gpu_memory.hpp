#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fathom {

/// Memory of one kind that a program has on a GPU (G1). Addresses are seen from the start of the persistent region.
struct GpuMemoryRegion {
    std::int64_t start{};
    std::int64_t room_bytes{}; ///< that it may use
    std::int64_t used_bytes{};
    std::int64_t peak_bytes{};

    friend bool operator==(const GpuMemoryRegion&, const GpuMemoryRegion&) = default;
};

/// A program on a GPU that several jobs share. Its own processes say what its job is: not to be believed further than
/// to show it.
struct SharedGpuJob {
    std::string job{};
    std::int64_t process{};
    bool has_turn{};
    double share = 1; ///< of two that always want the GPU, who has twice the share has it twice as long
    std::int64_t priority{};
    GpuMemoryRegion persistent{};
    std::int64_t gap_bytes{}; ///< of the persistent room, for growth (G3)
    GpuMemoryRegion temporary{};
    std::int64_t iterations{};
    std::int64_t refusals{};                 ///< of memory that it asked for
    std::int64_t switches{};                 ///< turns that it gave back
    std::int64_t switches_after_iteration{}; ///< of them, where nothing temporary had to be kept
    std::int64_t moved_bytes{};              ///< by all of them
    std::int64_t kept_bytes{};               ///< that swapping everything would have moved
    double switch_s{};                       ///< all together
    double turn_s{};                         ///< had the turn, the present one not counted
    double longest_wait_s{};
    std::int64_t wrong_messages{};

    friend bool operator==(const SharedGpuJob&, const SharedGpuJob&) = default;
};

/// One GPU whose memory a node's memory manager keeps the books of (G2 to G8).
struct SharedGpu {
    std::string gpu{}; ///< its UUID
    std::int64_t capacity_bytes{};
    std::int64_t persistent_bytes{}; ///< rooms of all jobs with their gaps
    std::int64_t temporary_bytes{};  ///< the largest temporary room
    std::int64_t free_bytes{};
    std::int64_t gap_bytes{};     ///< kept behind each newcomer's persistent memory
    bool is_shared{};             ///< by more than one program
    std::int64_t refused_count{}; ///< programs that were not admitted (G8)
    std::int64_t job_count{};     ///< programs on it; `jobs` may be fewer
    std::vector<SharedGpuJob> jobs{};

    friend bool operator==(const SharedGpu&, const SharedGpu&) = default;
};

/// What the memory manager of a node knows.
struct GpuMemoryReport {
    std::vector<SharedGpu> gpus{};

    friend bool operator==(const GpuMemoryReport&, const GpuMemoryReport&) = default;
};

/// A report holds at most so many GPUs, and so many programs of each.
inline constexpr std::size_t kMaxSharedGpus = 1024;
inline constexpr std::size_t kMaxSharedGpuJobs = 64;

/// Unknown fields are ignored: agents may be newer. Errors go to the reader's list.
GpuMemoryReport read_gpu_memory_report(ObjectReader& reader, std::vector<FieldError>& errors);
Json to_json(const GpuMemoryReport& report);

} // namespace fathom
