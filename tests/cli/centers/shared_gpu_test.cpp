#include "cli/centers/shared_gpu.hpp"
#include "core/model/gpu_memory.hpp"

#include <gmock/gmock.h>

namespace fathom::cli {
namespace {

using testing::EndsWith;
using testing::IsEmpty;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

SharedGpuJob program_of(const std::string& job)
{
    return {.job = job,
            .persistent = {.room_bytes = 6 * kMiB, .used_bytes = 4 * kMiB},
            .temporary = {.room_bytes = 16 * kMiB, .peak_bytes = 8 * kMiB},
            .switches = 12,
            .moved_bytes = 2 * kMiB,
            .kept_bytes = 48 * kMiB,
            .switch_s = 3,
            .longest_wait_s = 7};
}

/// As the server renders it; `program_count` may be more than it tells of.
Json gpu_with(const std::vector<SharedGpuJob>& jobs, std::int64_t program_count)
{
    return to_json(GpuMemoryReport{{{.gpu = "GPU-1", .job_count = program_count, .jobs = jobs}}}).at("gpus");
}

std::string neighbours(const Json& gpus)
{
    const auto details = shared_gpu_details(gpus, "job_a");
    return details.empty() ? "" : details.front().second.text;
}

TEST(SharedGpuDetails, NameTheJobsThatShareTheGpuAndCountThoseThatTheCallerMayNotKnow)
{
    const SharedGpuJob own = program_of("job_a");

    EXPECT_EQ(neighbours(gpu_with({own}, 1)), "GPU-1: no other program");
    EXPECT_EQ(neighbours(gpu_with({own}, 2)), "GPU-1: shared with 1 other program");
    EXPECT_EQ(neighbours(gpu_with({own}, 3)), "GPU-1: shared with 2 other programs");
    EXPECT_EQ(neighbours(gpu_with({program_of("job_b"), own, program_of("job_c")}, 3)),
              "GPU-1: shared with job_b, job_c");
    EXPECT_EQ(neighbours(gpu_with({own, program_of("job_b"), program_of("")}, 4)),
              "GPU-1: shared with job_b and 2 other programs");
}

TEST(SharedGpuDetails, ProgramsOfOneJobAreOneNeighbourAndThoseOfTheJobItselfNone)
{
    const SharedGpuJob own = program_of("job_a");
    const SharedGpuJob other = program_of("job_b");

    EXPECT_EQ(neighbours(gpu_with({own, own}, 2)), "GPU-1: no other program");
    EXPECT_EQ(neighbours(gpu_with({own, other, own, other}, 4)), "GPU-1: shared with job_b");
    EXPECT_EQ(shared_gpu_details(gpu_with({own, own}, 2), "job_a").size(), 5U)
        << "the GPU once, each program's figures";
}

TEST(SharedGpuDetails, ManyNeighboursAreNamedInPart)
{
    std::vector<SharedGpuJob> programs{program_of("job_a")};
    for (int i = 1; i <= 10; ++i)
        programs.push_back(program_of("n" + std::to_string(i)));

    EXPECT_EQ(neighbours(gpu_with(programs, 11)),
              "GPU-1: shared with n1, n2, n3, n4, n5, n6, n7, n8 and 2 other programs");
}

TEST(SharedGpuDetails, SayWhatSharingCosts)
{
    SharedGpuJob own = program_of("job_a");
    const auto cost = [&] { return shared_gpu_details(gpu_with({own}, 1), "job_a").at(2); };

    EXPECT_EQ(cost().first, "  Sharing costs");
    EXPECT_EQ(cost().second.text,
              "12 turns given back in 3.00 s, 2.00 MiB moved, 48.0 MiB stayed, waited 7.00 s at most");
    own.refusals = 3;
    EXPECT_THAT(cost().second.text, EndsWith(", memory refused 3 times"));
}

TEST(SharedGpuDetails, AreEmptyWhereTheJobHasNoProgram)
{
    EXPECT_THAT(shared_gpu_details(gpu_with({program_of("job_b")}, 1), "job_a"), IsEmpty());
}

} // namespace
} // namespace fathom::cli
