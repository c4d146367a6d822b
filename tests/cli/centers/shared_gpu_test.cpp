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
    own.iteration_confidence = 0.978;
    EXPECT_THAT(cost().second.text, EndsWith(", memory refused 3 times, iterations found with 97 % confidence"));
    own.kept_pace = 0.64;
    EXPECT_THAT(cost().second.text, EndsWith("97 % confidence, 64 % of its pace alone kept"));
    own.iterations = 60;
    own.expected_iterations = ExpectedIterations{.likely = 100, .low = 80, .high = 125, .runs = 5};
    EXPECT_THAT(cost().second.text, EndsWith("kept, 60 iterations of 80 to 125 that others of its kind had"));
    own.expected_iterations->mean_error = 0.06;
    EXPECT_THAT(cost().second.text, EndsWith("of its kind had (6 % off on average)"));
    own.input_size = 4096;
    EXPECT_THAT(cost().second.text, EndsWith("on average), input of size 4096"));
}

TEST(SharedGpuDetails, TellOfTheKernelsThatTakeLongest)
{
    SharedGpuJob own = program_of("job_a");
    own.kernels = {
        {.name = "sgemm",
         .grid = {128, 4, 1},
         .block = {256, 1, 1},
         .shared_bytes = 1024,
         .registers = 40,
         .static_shared_bytes = 1024,
         .launches = 250,
         .timed = 8,
         .least_s = 0.0019,
         .mean_s = 0.002,
         .expected =
             ExpectedKernelTime{.likely_s = 0.002, .low_s = 0.0018, .high_s = 0.0022, .runs = 5, .mean_error = 0.06}},
        {.name = "fill", .grid = {1, 1, 1}, .block = {32, 1, 1}, .launches = 1}};
    const std::vector<std::string> lines{
        "sgemm, 128x4x1 blocks of 256x1x1 threads: 250 launches, 2.00 ms each, 1.90 ms at least (8 timed), 40 "
        "registers of a thread, 2.00 KiB shared memory of a block, expected "
        "1.80–2.20 ms by 5 runs of its kind (6 % off on average)",
        "fill, 1x1x1 blocks of 32x1x1 threads: 1 launch"};
    const Json gpus = gpu_with({own}, 1);
    Json kept = Json::array({Json{{"gpu", "GPU-1"}, {"neighbours", Json::array()}, {"other_count", 0}}});
    kept[0]["programs"] = gpus[0]["jobs"];

    for (const auto& details : {shared_gpu_details(gpus, "job_a"), unit_gpu_details(gpus), kept_gpu_details(kept)}) {
        ASSERT_GE(details.size(), 2U);
        EXPECT_THAT(details[details.size() - 2].first, EndsWith("  Kernel"));
        EXPECT_EQ(details[details.size() - 2].second.text, lines[0]);
        EXPECT_EQ(details.back().second.text, lines[1]);
    }
}

TEST(UnitGpuDetails, TellOfEachGpuAndOfEachProgramOnIt)
{
    SharedGpuJob running = program_of("job_b");
    running.has_turn = true;
    Json gpus = gpu_with({program_of("job_a"), running}, 2);
    gpus[0]["is_shared"] = true;
    gpus[0]["persistent_bytes"] = 12 * kMiB;
    gpus[0]["temporary_bytes"] = 16 * kMiB;
    gpus[0]["free_bytes"] = 4 * kMiB;
    gpus[0]["refused_count"] = 1;

    const auto details = unit_gpu_details(gpus);

    ASSERT_EQ(details.size(), 7U);
    EXPECT_EQ(details[0].second.text, "GPU-1: 2 programs, shared; 12.0 MiB persistent, 16.0 MiB temporary, 4.00 MiB "
                                      "free; 1 not admitted");
    EXPECT_EQ(details[1].second.text, "job_a");
    EXPECT_EQ(details[2].second.text, "4.00 MiB of 6.00 MiB persistent, 8.00 MiB of 16.0 MiB temporary at most");
    EXPECT_EQ(details[4].second.text, "job_b, its turn");
    EXPECT_EQ(details[6].second.text,
              "12 turns given back in 3.00 s, 2.00 MiB moved, 48.0 MiB stayed, waited 7.00 s at most");
}

TEST(SharedGpuDetails, AreEmptyWhereTheJobHasNoProgram)
{
    EXPECT_THAT(shared_gpu_details(gpu_with({program_of("job_b")}, 1), "job_a"), IsEmpty());
}

/// As the server keeps it.
Json kept_gpu(const std::vector<std::string>& neighbours, std::int64_t other_count)
{
    const Json gpu{{"gpu", "GPU-1"},
                   {"neighbours", neighbours},
                   {"other_count", other_count},
                   {"programs", gpu_with({program_of("job_a")}, 1).at(0).at("jobs")}};
    return Json::array({gpu});
}

std::string kept_neighbours(const std::vector<std::string>& neighbours, std::int64_t other_count)
{
    return kept_gpu_details(kept_gpu(neighbours, other_count)).front().second.text;
}

TEST(KeptGpuDetails, NameTheJobsThatSharedTheGpuAndCountTheOthers)
{
    const std::vector<std::string> many{"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"};

    EXPECT_EQ(kept_neighbours({}, 0), "GPU-1: no other program");
    EXPECT_EQ(kept_neighbours({}, 1), "GPU-1: shared with 1 other");
    EXPECT_EQ(kept_neighbours({"job_b", "job_c"}, 0), "GPU-1: shared with job_b, job_c");
    EXPECT_EQ(kept_neighbours(many, 1), "GPU-1: shared with n1, n2, n3, n4, n5, n6, n7, n8 and 2 others");
}

TEST(KeptGpuDetails, SayWhatSharingCost)
{
    const auto details = kept_gpu_details(kept_gpu({"job_b"}, 0));

    ASSERT_EQ(details.size(), 3U);
    EXPECT_EQ(details[1].second.text, "0 B of 6.00 MiB persistent and 8.00 MiB of 16.0 MiB temporary at most");
    EXPECT_EQ(details[2].first, "  Sharing cost");
    EXPECT_EQ(details[2].second.text,
              "12 turns given back in 3.00 s, 2.00 MiB moved, 48.0 MiB stayed, waited 7.00 s at most");
}

TEST(KeptGpuDetails, SayWhatBothKeptOfTheirPaceAtOnce)
{
    Json gpus = kept_gpu({"job_b"}, 0);
    const Json pair{{"neighbour", "job_b"}, {"kept_pace", 0.8}, {"neighbour_kept_pace", 0.66}, {"count", 12}};
    gpus[0]["pairs"] = Json::array({pair});

    const auto details = kept_gpu_details(gpus);

    EXPECT_EQ(details.back().first, "  At once");
    EXPECT_EQ(details.back().second.text,
              "beside job_b 80 % of its pace alone kept, 66 % by the other, measured 12 times");
}

} // namespace
} // namespace fathom::cli
