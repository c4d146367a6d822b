#pragma once

#include "core/base/json_reader.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// What a job needs of the memory of each GPU that it uses, by kind (G1): what lives across its iterations, and what
/// lives within one.
struct GpuMemoryRequest {
    std::int64_t persistent_bytes = 0;
    std::int64_t temporary_bytes = 0;

    /// Of a GPU that it has alone.
    std::int64_t all_bytes() const { return persistent_bytes + temporary_bytes; }
};

/// Memory is mapped in pieces of this size.
inline constexpr std::int64_t kGpuPieceBytes = std::int64_t{2} << 20;

/// What jobs have of a GPU's memory, so that it can be told whether one more fits (G8). Only one job has temporary
/// memory at a time.
struct GpuRoom {
    std::int64_t capacity_bytes{};
    std::int64_t persistent_bytes{}; ///< rooms of all jobs with their gaps
    std::int64_t temporary_bytes{};  ///< the largest temporary room
    std::int64_t gap_bytes{};        ///< kept behind each newcomer's persistent memory

    /// So many bytes are missing for a job to be admitted; 0 or less: it fits.
    std::int64_t missing_bytes(const GpuMemoryRequest& need) const;
    /// A job that has been admitted, or will be.
    void admit(const GpuMemoryRequest& need);

    friend bool operator==(const GpuRoom&, const GpuRoom&) = default;
};

/// Memory of one kind that a program has on a GPU (G1). Addresses are seen from the start of the persistent region.
struct GpuMemoryRegion {
    std::int64_t start{};
    std::int64_t room_bytes{}; ///< that it may use
    std::int64_t used_bytes{};
    std::int64_t peak_bytes{};

    friend bool operator==(const GpuMemoryRegion&, const GpuMemoryRegion&) = default;
};

/// How many iterations programs of a kind have until they end, learned from those that have ended (C1).
struct ExpectedIterations {
    double likely{};
    double low{}; ///< 80 % interval
    double high{};
    std::int64_t runs{1}; ///< that it is learned from
    /// Mean of |expected / had − 1| of those that ended once something was expected of them; empty: none has.
    std::optional<double> mean_error{};

    friend bool operator==(const ExpectedIterations&, const ExpectedIterations&) = default;
};

/// How long a launch of a kernel takes by programs of its kind that have ended (C1).
struct ExpectedKernelTime {
    double likely_s{};
    double low_s{}; ///< 80 % interval
    double high_s{};
    std::int64_t runs{1}; ///< that it is learned from
    /// Mean of |expected / taken − 1| of those that ended once something was expected of them; empty: none has.
    std::optional<double> mean_error{};

    friend bool operator==(const ExpectedKernelTime&, const ExpectedKernelTime&) = default;
};

/// What a program has done with a kernel of one launch shape, on all of its GPUs, since it began (C1).
struct KernelUse {
    std::string name{};                  ///< as the program got it, of C++ as compilers write it; long ones are cut
    std::array<std::int64_t, 3> grid{};  ///< blocks
    std::array<std::int64_t, 3> block{}; ///< threads of a block
    std::int64_t shared_bytes{};         ///< of a block, as it was launched with
    std::int64_t registers{};            ///< of a thread; 0: not known
    std::int64_t static_shared_bytes{};  ///< of a block, besides; 0 where the registers are not known
    std::int64_t launches{};
    std::int64_t timed{}; ///< of them, by events before and behind
    double least_s{};     ///< of these; 0 where there are none
    double mean_s{};      ///< likewise
    /// By its name, of all launch shapes; empty: no program of its kind has ended that had it, or it has no kind.
    std::optional<ExpectedKernelTime> expected{};

    friend bool operator==(const KernelUse&, const KernelUse&) = default;
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
    /// In [0, 1], that the ends of its iterations are what they are taken for; empty where the program says so itself,
    /// or none is known.
    std::optional<double> iteration_confidence{};
    /// Of its pace of iterations alone, what it keeps beside those that run beside it now, as measured last; above 0.
    /// Empty: nothing runs beside it, or it is not measured.
    std::optional<double> kept_pace{};
    std::optional<ExpectedIterations> expected_iterations{}; ///< empty: none of its kind has ended, or it has none
    std::optional<double> input_size{};                      ///< in its own unit; empty: it does not tell
    /// Of its kernels those that have taken longest, in that order; kMaxKernelsOfProgram at most.
    std::vector<KernelUse> kernels{};
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

GpuRoom room_of(const SharedGpu& gpu);

/// Programs of two jobs had the turn on a GPU at once, and the pace of their iterations was measured beside each other
/// and alone (C2, C6). Which jobs they are is as in SharedGpuJob.
struct JobPace {
    std::string job{};
    double kept_pace{1}; ///< mean of what was measured, of its pace alone

    friend bool operator==(const JobPace&, const JobPace&) = default;
};
struct MeasuredJobPair {
    JobPace a{}; ///< its job is less than the other's
    JobPace b{};
    std::int64_t count{1}; ///< times that both were measured

    friend bool operator==(const MeasuredJobPair&, const MeasuredJobPair&) = default;
};

/// What the memory manager of a node knows.
struct GpuMemoryReport {
    std::vector<SharedGpu> gpus{};
    std::vector<MeasuredJobPair> pairs{}; ///< since the manager began, those that were measured last

    friend bool operator==(const GpuMemoryReport&, const GpuMemoryReport&) = default;
};

/// A report holds at most so many GPUs, and so many programs of each.
inline constexpr std::size_t kMaxSharedGpus = 1024;
inline constexpr std::size_t kMaxSharedGpuJobs = 64;
/// Of each program so many kernels, and so many in all.
inline constexpr std::size_t kMaxKernelsOfProgram = 8;
inline constexpr std::size_t kMaxReportedKernels = 512;
/// And so many pairs.
inline constexpr std::size_t kMaxMeasuredJobPairs = 64;
/// Bounds of what is told of a pace that is kept.
inline constexpr double kMinKeptPace = 1e-4;
inline constexpr double kMaxKeptPace = 4;

/// Unknown fields are ignored: agents may be newer. Errors go to the reader's list.
GpuMemoryReport read_gpu_memory_report(ObjectReader& reader, std::vector<FieldError>& errors);
Json to_json(const GpuMemoryReport& report);

} // namespace fathom
