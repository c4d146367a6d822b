#include "core/model/gpu_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace fathom {
namespace {

using testing::Contains;
using testing::Field;

std::vector<KernelUse> two_kernels()
{
    return {{.name = "sgemm",
             .grid = {128, 4, 1},
             .block = {256, 1, 1},
             .shared_bytes = 1024,
             .registers = 40,
             .static_shared_bytes = 128,
             .launches = 250,
             .timed = 8,
             .least_s = 0.0019,
             .mean_s = 0.002,
             .expected = ExpectedKernelTime{0.002, 0.0018, 0.0022, 5, 0.06}},
            {.name = "fill", .grid = {1, 1, 1}, .block = {32, 1, 1}, .launches = 1}};
}

GpuMemoryReport report_with(std::size_t jobs)
{
    SharedGpu gpu{.gpu = "GPU-1", .capacity_bytes = 80, .persistent_bytes = 8, .temporary_bytes = 40, .free_bytes = 32};
    gpu.is_shared = jobs > 1;
    gpu.refused_count = 3;
    for (std::size_t i = 0; i < jobs; ++i)
        gpu.jobs.push_back(
            {.job = "job-" + std::to_string(i),
             .process = 7,
             .has_turn = i == 0,
             .share = 0.5,
             .priority = -1,
             .persistent = {0, 4, 3, 4},
             .gap_bytes = 1,
             .temporary = {100, 40, 0, 39},
             .iterations = 9,
             .iteration_confidence = i == 1 ? std::optional(0.75) : std::nullopt,
             .kept_pace = i == 1 ? std::optional(0.5) : std::nullopt,
             .expected_iterations = i == 1 ? std::optional(ExpectedIterations{100, 80, 125, 5, 0.25}) : std::nullopt,
             .input_size = i == 1 ? std::optional(4096.0) : std::nullopt,
             .kernels = i == 1 ? two_kernels() : std::vector<KernelUse>{},
             .switch_s = 0.25});
    gpu.job_count = std::ssize(gpu.jobs);
    return {{gpu}};
}

TEST(GpuMemoryReport, IsReadAsItWasWritten)
{
    const Json written = to_json(report_with(2));
    std::vector<FieldError> errors;
    ObjectReader reader(written, "", errors);

    EXPECT_EQ(to_json(read_gpu_memory_report(reader, errors)), written);
    EXPECT_TRUE(errors.empty());
    EXPECT_FALSE(written["gpus"][0]["jobs"][0].contains("kernels")) << "as older agents have it";
    EXPECT_EQ(written["gpus"][0]["jobs"][1]["kernels"][0]["mean_s"], 0.002);
    EXPECT_FALSE(written["gpus"][0]["jobs"][1]["kernels"][1].contains("mean_s")) << "no launch was timed";
}

TEST(GpuMemoryReport, OfTooManyOrWrongKernelsIsRefusedWithThePlace)
{
    Json wrong = to_json(report_with(2));
    Json& kernels = wrong["gpus"][0]["jobs"][1]["kernels"];
    kernels[0]["grid"] = {1, 0, 1};
    kernels[0]["block"] = {1, 1};
    kernels[0]["launches"] = 0;
    kernels[0]["registers"] = 0;
    kernels[0]["expected"]["runs"] = 0;
    kernels[1]["name"] = "";
    kernels[1].erase("grid");
    wrong["gpus"][0]["jobs"][1]["input_size"] = 0;
    kernels.push_back("x");
    std::vector<FieldError> errors;
    ObjectReader reader(wrong, "", errors);
    read_gpu_memory_report(reader, errors);
    for (const char* field : {"grid", "block", "launches", "registers", "expected.runs"})
        EXPECT_THAT(errors, Contains(Field(&FieldError::field, std::string("gpus[0].jobs[1].kernels[0].") + field)));
    EXPECT_THAT(errors, Contains(Field(&FieldError::field, "gpus[0].jobs[1].kernels[1].name")));
    EXPECT_THAT(errors, Contains(Field(&FieldError::field, "gpus[0].jobs[1].kernels[1].grid")));
    EXPECT_THAT(errors, Contains(Field(&FieldError::field, "gpus[0].jobs[1].input_size")));
    EXPECT_THAT(errors, Contains(Field(&FieldError::field, "gpus[0].jobs[1].kernels[2]")));

    Json many = to_json(report_with(2));
    Json& all = many["gpus"][0]["jobs"][1]["kernels"];
    while (all.size() <= kMaxKernelsOfProgram)
        all.push_back(Json(all[0]));
    std::vector<FieldError> more;
    ObjectReader again(many, "", more);
    read_gpu_memory_report(again, more);
    EXPECT_THAT(more, Contains(Field(&FieldError::field, "gpus[0].jobs[1].kernels")));
}

TEST(GpuMemoryReport, AnIntervalWithoutAnEndIsWrittenSoThatItIsRead)
{
    GpuMemoryReport report = report_with(2);
    report.gpus[0].jobs[1].expected_iterations->high = std::numeric_limits<double>::infinity();
    // A program may say that its input is far larger than that of any before.
    report.gpus[0].jobs[1].expected_iterations->mean_error = 1e30;
    const Json written = to_json(report);
    std::vector<FieldError> errors;
    ObjectReader reader(written, "", errors);

    const GpuMemoryReport read = read_gpu_memory_report(reader, errors);

    EXPECT_TRUE(errors.empty());
    EXPECT_EQ(read.gpus.at(0).jobs.at(1).expected_iterations.value().likely, 100);
    EXPECT_GE(read.gpus[0].jobs[1].expected_iterations->high, 1e9);
    EXPECT_GE(read.gpus[0].jobs[1].expected_iterations->mean_error.value_or(0), 1e9);
}

TEST(GpuMemoryReport, OfTooManyProgramsOrWrongFiguresIsRefusedWithThePlace)
{
    Json wrong = to_json(report_with(kMaxSharedGpuJobs + 1));
    std::vector<FieldError> errors;
    ObjectReader reader(wrong, "", errors);
    read_gpu_memory_report(reader, errors);
    EXPECT_THAT(errors, Contains(Field(&FieldError::field, "gpus[0].jobs")));

    wrong = to_json(report_with(1));
    wrong["gpus"][0]["jobs"][0]["temporary"]["peak_bytes"] = -1;
    wrong["gpus"][0]["free_bytes"] = nullptr;
    wrong["gpus"][0]["jobs"][0]["expected_iterations"] = {{"likely", 1}, {"low", 1}, {"high", 2}, {"runs", 0}};
    wrong["gpus"].push_back(3);
    std::vector<FieldError> more;
    ObjectReader again(wrong, "", more);
    read_gpu_memory_report(again, more);
    for (const char* field : {"gpus[0].jobs[0].temporary.peak_bytes", "gpus[0].jobs[0].expected_iterations.runs",
                              "gpus[0].free_bytes", "gpus[1]"})
        EXPECT_THAT(more, Contains(Field(&FieldError::field, field)));
}

/// As read from JSON; errors go to the list.
GpuMemoryReport read_report(const Json& json, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, "", errors);
    return read_gpu_memory_report(reader, errors);
}

TEST(GpuMemoryReport, NamesPairsOnlyWhereSomeWereMeasured)
{
    GpuMemoryReport report = report_with(2);
    EXPECT_FALSE(to_json(report).contains("pairs")) << "as older agents have it";
    report.pairs = {{.a = {"job-0", 0.75}, .b = {"job-1", 0.5}, .count = 7}};
    std::vector<FieldError> errors;

    EXPECT_EQ(read_report(to_json(report), errors), report);

    Json turned = to_json(report);
    turned["pairs"][0] = {
        {"a_job", "job-1"}, {"a_kept_pace", 0.5}, {"b_job", "job-0"}, {"b_kept_pace", 0.75}, {"count", 7}};
    EXPECT_EQ(read_report(turned, errors), report);
    EXPECT_TRUE(errors.empty());
}

TEST(GpuMemoryReport, OfTooManyOrWrongPairsIsRefusedWithThePlace)
{
    GpuMemoryReport report;
    report.pairs.assign(kMaxMeasuredJobPairs + 1, {.a = {"job-0", 0.75}, .b = {"job-1", 0.5}});
    std::vector<FieldError> errors;
    read_report(to_json(report), errors);
    EXPECT_THAT(errors, Contains(Field(&FieldError::field, "pairs")));

    report.pairs.resize(1);
    Json wrong = to_json(report);
    wrong["pairs"][0]["a_kept_pace"] = 0;
    wrong["pairs"][0]["b_job"] = "";
    wrong["pairs"][0]["count"] = 0;
    wrong["pairs"].push_back("x");
    std::vector<FieldError> more;
    read_report(wrong, more);
    for (const char* field : {"pairs[0].a_kept_pace", "pairs[0].b_job", "pairs[0].count", "pairs[1]"})
        EXPECT_THAT(more, Contains(Field(&FieldError::field, field)));
}

TEST(GpuRoom, HoldsPersistentMemoryOfAllAndTemporaryMemoryOfTheLargest)
{
    constexpr std::int64_t kPiece = kGpuPieceBytes;
    GpuRoom room{16 * kPiece, 6 * kPiece, 4 * kPiece, kPiece};

    EXPECT_EQ(room.missing_bytes({4 * kPiece, 5 * kPiece}), 0) << "6 + 4 + a gap of 1, and the larger of 4 and 5";
    EXPECT_EQ(room.missing_bytes({4 * kPiece + 1, 5 * kPiece}), kPiece) << "memory is mapped in whole pieces";
    room.admit({4 * kPiece, 5 * kPiece});
    EXPECT_EQ(room, (GpuRoom{16 * kPiece, 11 * kPiece, 5 * kPiece, kPiece}));
}

} // namespace
} // namespace fathom
