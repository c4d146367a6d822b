#include "simulator/workloads/read_workload.hpp"
#include "simulator/world/draw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <zlib.h>

namespace fathom::simulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kDay_s = 86400;

/// A file that is there as long as the test.
class WorkloadFile : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directory(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path write(const std::string& text, const std::string& name = "log") const
    {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return folder_ / name;
    }
    Result<WorkloadInput> read(const std::string& text, const ReadSettings& settings = {}) const
    {
        return read_workload(write(text), settings);
    }
    std::string error_of(const std::string& text, const ReadSettings& settings = {}) const
    {
        const Result<WorkloadInput> input = read(text, settings);
        return input ? "none" : input.error().detail;
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("fathom_read_workload_" + std::to_string(getpid()));
};

std::map<std::string, std::int64_t> skips_of(const WorkloadInput& input)
{
    std::map<std::string, std::int64_t> counts;
    for (const InputSkips& skip : input.skips)
        counts[skip.rule] = skip.count;
    return counts;
}

// Wednesday, 1996-06-26 21:06:00 UTC.
const std::string kSwf = "; Computer: IBM SP2\n; UnixStartTime: 835823160\n;\n"
                         "1 0 5 100 4 -1 -1 8 300 -1 1 7 2 195 3 -1 -1 -1\n"
                         "2 60 5 50 -1 -1 -1 2 -1 -1 1 8 -1 -1 3 -1 -1 -1\n"
                         "3 90 5 0 4 -1 -1 8 300 -1 1 7 2 195 3 -1 -1 -1\n";

TEST_F(WorkloadFile, StandardFormat)
{
    const WorkloadInput input = read(kSwf).value();

    EXPECT_EQ(input.format, "swf");
    EXPECT_EQ(input.workload.name, "IBM SP2");
    ASSERT_EQ(input.workload.jobs.size(), 2u);
    const Job& first = input.workload.jobs[0];
    EXPECT_DOUBLE_EQ(first.arrival_s, 2 * kDay_s + 21 * 3600 + 6 * 60);
    EXPECT_DOUBLE_EQ(first.work, 100);
    EXPECT_EQ(first.unit_count, 4) << "allocated, not requested";
    EXPECT_DOUBLE_EQ(first.estimate_s, 300);
    EXPECT_EQ(input.workload.projects[first.project], "group 2");
    EXPECT_EQ(input.workload.users[first.user], "user 7");
    const Job& second = input.workload.jobs[1];
    EXPECT_EQ(second.unit_count, 2) << "requested, as the allocation is not known";
    EXPECT_DOUBLE_EQ(second.estimate_s, 0);
    EXPECT_EQ(input.workload.projects[second.project], "queue 3");
    EXPECT_EQ(input.job_types.size(), 4u);
    EXPECT_EQ(skips_of(input), (std::map<std::string, std::int64_t>{{"no run time", 1}}));
    EXPECT_THAT(input.skips[0].lines, ElementsAre(6));
    EXPECT_EQ(input.workload.end_counted, 2u);
}

TEST_F(WorkloadFile, EachBadLineIsLeftOutByItsRule)
{
    const std::string good = " 5 100 4 -1 -1 8 300 -1 1 7 2 195 3 -1 -1 -1\n";
    const WorkloadInput input = read("1 10" + good + "2 20" + good + "3 30" + good + "4 40" + good + // lines 1 to 4
                                     "5 -7" + good +                                                 // 5
                                     "6 50 5 -1 4 -1 -1 8 300 -1 1 7 2 195 3 -1 -1 -1\n" +           // 6
                                     "7 50 5 -9 4 -1 -1 8 300 -1 1 7 2 195 3 -1 -1 -1\n" +           // 7
                                     "8 50 5 9 0 -1 -1 -1 300 -1 1 7 2 195 3 -1 -1 -1\n" +           // 8
                                     "9 50 5 9e99 1 -1 -1 -1 300 -1 1 7 2 195 3 -1 -1 -1\n" +        // 9
                                     "10 50 5 9 4e18 -1 -1 -1 300 -1 1 7 2 195 3 -1 -1 -1\n" +       // 10
                                     "11 50 5 9 one 1 1 1 300 -1 1 7 2 195 3 -1 -1 -1\n" +           // 11
                                     "12 35" + good + "13 60 5")                                     // 12, 13
                                    .value();

    EXPECT_EQ(skips_of(input), (std::map<std::string, std::int64_t>{{"negative submit time", 1},
                                                                    {"no run time", 1},
                                                                    {"negative run time", 1},
                                                                    {"no processors", 1},
                                                                    {"a time over 100 years", 1},
                                                                    {"over a billion processors", 1},
                                                                    {"malformed line", 1},
                                                                    {"truncated line", 1},
                                                                    {"arrival out of order (sorted)", 1}}));
    ASSERT_EQ(input.workload.jobs.size(), 5u);
    EXPECT_DOUBLE_EQ(input.workload.jobs[3].arrival_s, 35);
    EXPECT_THAT(input.lines, ElementsAre(1, 2, 3, 12, 4));
}

TEST_F(WorkloadFile, TenLinesOfARuleAreNamed)
{
    std::string text = "submit_s,run_s,procs\n";
    for (int i = 0; i < 50; ++i)
        text += "1,0,1\n1,5,1\n";
    const WorkloadInput input = read(text).value();

    EXPECT_EQ(input.skips[0].count, 50);
    EXPECT_THAT(input.skips[0].lines, ElementsAre(2, 4, 6, 8, 10, 12, 14, 16, 18, 20));
}

TEST_F(WorkloadFile, CommaSeparatedLog)
{
    const WorkloadInput input = read("job,submit_s,run_s,procs,req_time_s,user,executable,queue\r\n"
                                     "1,604801,10,2,60,7,195,3\r\n"
                                     "2,604802,10,,60,7,195,3\r\n"
                                     "3,604803,10,2,,7,195,3\r\n"
                                     "4,,10,2,60,7,195,3\r\n")
                                    .value();

    ASSERT_EQ(input.workload.jobs.size(), 2u);
    EXPECT_DOUBLE_EQ(input.workload.jobs[0].arrival_s, 1) << "whole weeks before the first job are left out";
    EXPECT_DOUBLE_EQ(input.workload.jobs[1].estimate_s, 0);
    EXPECT_EQ(input.workload.jobs[0].job_type, input.workload.jobs[1].job_type) << "the same executable";
    EXPECT_EQ(skips_of(input), (std::map<std::string, std::int64_t>{{"no processors", 1}, {"no submit time", 1}}));
}

TEST_F(WorkloadFile, ProgramsAreSpreadOverAsManyJobTypesAsAskedFor)
{
    std::string text = "submit_s,run_s,procs,executable\n";
    for (int i = 0; i < 3000; ++i)
        text += "1,1,1," + std::to_string(i) + "\n";
    const WorkloadInput input = read(text, {.kind_count = 3}).value();

    ASSERT_EQ(input.job_types.size(), 3u);
    EXPECT_EQ(input.job_types[2].name, "program_3");
    std::map<std::uint32_t, int> counts;
    for (const Job& job : input.workload.jobs)
        ++counts[job.job_type];
    EXPECT_NEAR(counts[0], 1000, 100);
    EXPECT_NEAR(counts[2], 1000, 100);
}

TEST_F(WorkloadFile, CompressedFilesAreInflated)
{
    gzFile_s* file = gzopen((folder_ / "log.gz").c_str(), "wb");
    for (int i = 0; i < 20'000; ++i)
        gzprintf(file, "%d %d 5 %d 4 -1 -1 8 300 -1 1 7 2 195 3 -1 -1 -1\n", i, i, i * i % 977 + 1);
    gzclose(file);
    const WorkloadInput whole = read_workload(folder_ / "log.gz").value();
    EXPECT_EQ(whole.workload.jobs.size(), 20'000u);
    EXPECT_THAT(whole.skips, IsEmpty());

    std::filesystem::resize_file(folder_ / "log.gz", std::filesystem::file_size(folder_ / "log.gz") / 2);
    const WorkloadInput half = read_workload(folder_ / "log.gz").value();
    EXPECT_GT(half.workload.jobs.size(), 1000u);
    EXPECT_EQ(skips_of(half)["the compressed data ends too early"], 1);
}

TEST_F(WorkloadFile, AByteOrderMarkIsNoPartOfIt)
{
    const WorkloadInput input = read("\xEF\xBB\xBFsubmit_s,run_s,procs\r\n1,2,3\r\n").value();
    EXPECT_EQ(input.workload.jobs.size(), 1u);
    EXPECT_THAT(input.skips, IsEmpty());
}

// Zeros without an end are compressed to nearly nothing.
TEST_F(WorkloadFile, ALineThatDoesNotEndFillsNoMemory)
{
    gzFile_s* file = gzopen((folder_ / "log.gz").c_str(), "wb1");
    const std::string begin = "submit_s,run_s,procs\n1,2,3\n";
    gzwrite(file, begin.data(), static_cast<unsigned>(begin.size()));
    const std::string block(1U << 20U, '0');
    for (int i = 0; i < 8; ++i)
        gzwrite(file, block.data(), static_cast<unsigned>(block.size()));
    gzclose(file);
    const WorkloadInput input = read_workload(folder_ / "log.gz").value();
    EXPECT_EQ(input.workload.jobs.size(), 1u);
    EXPECT_EQ(skips_of(input)["a line is longer than 4 MiB"], 1);
}

TEST_F(WorkloadFile, WhatIsNoWorkloadIsRefusedAndTheLineNamed)
{
    EXPECT_THAT(error_of("Lorem ipsum\ndolor\n"), HasSubstr("line 1, \"Lorem ipsum\", is not how a workload"));
    EXPECT_THAT(error_of(""), HasSubstr("the file is empty"));
    EXPECT_THAT(error_of("\xEF\xBB\xBF"), HasSubstr("the file is empty"));
    EXPECT_THAT(error_of("\n\n"), HasSubstr("line 1, \"\", is not how"));
    EXPECT_THAT(error_of("; nothing\n"), HasSubstr("it has no lines with jobs"));
    EXPECT_THAT(error_of("1 2\nx\n3 4\n"), HasSubstr("3 of 3 lines cannot be read as swf, the first is line 1"));
    EXPECT_THAT(error_of("submit_s,run_s,procs\n1,2\n1,x,1\n3,4,5\n"), HasSubstr("2 of 3 lines cannot be read"));
    EXPECT_THAT(error_of("submit_s,run_s,procs\n1,0,1\n"), HasSubstr("line 2: no run time"));
    EXPECT_THAT(error_of("a,b\n", {.format = "philly"}), HasSubstr("expected a header with the column submit_s"));
    EXPECT_THAT(error_of("a,b\n", {.format = "xml"}), HasSubstr("no workload format xml"));
    EXPECT_EQ(read_workload(folder_ / "missing").error().code, Errc::kNotFound);
    EXPECT_EQ(read_workload(folder_).error().code, Errc::kNotFound);
}

// Whatever stands in a file: it is read or refused, never worse. Lines are cut, mixed, and overwritten by chance.
TEST_F(WorkloadFile, GarbageDoesNoHarm)
{
    const std::vector<std::string> samples{
        kSwf,
        "submit_s,run_s,procs,executable\n1,2,3,4\n5,6,7,8\n",
        "submit_s,weekday,hour,duration_s,num_gpus,vc\n0,0,10,2240194,8,7f04ca\n9,3,3,3256,1,6214e9\n",
        "set,file,job,submit_s,app,num_replicas,batch_size\na,w,c-0,107,cifar10,6,2048\na,w,b-1,110,bert,2,320\n",
        "pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec_33pct,qos,phase,creation_s,scheduled_s,deletion_s\n"
        "0,12000,16384,1,1000,T4|P100,LS,Running,0,0,12537\n1,6000,12288,0,0,,LS,Running,42,43,12902\n",
        "source,gpu,consolidated,model,batch_size,scale_factor,steps_per_s\nsim,k80,1,A3C,,1,3.4\n"
        "sim,p100,1,A3C,,1,5.6\nsim,v100,1,A3C,,1,7.1\n"};
    Draw draw(11);
    int read_count = 0;
    for (int i = 0; i < 1500; ++i) {
        std::string text = samples[draw.index(samples.size())];
        for (std::size_t change = draw.index(8); change > 0; --change) {
            const std::size_t place = draw.index(text.size());
            constexpr std::string_view kBytes = "0-9e,|;\n\r. {}\"nai";
            text[place] = draw.uniform() < 0.5 ? static_cast<char>(draw.index(256)) : kBytes[draw.index(kBytes.size())];
            if (draw.uniform() < 0.2) text.resize(place + 1);
        }
        const Result<WorkloadInput> input = read(text, {.job_count = 20});
        if (!input) {
            EXPECT_EQ(input.error().code, Errc::kInvalid);
            continue;
        }
        ++read_count;
        for (const Job& job : input->workload.jobs) {
            EXPECT_GT(job.work, 0);
            EXPECT_GE(job.unit_count, 1);
            EXPECT_GE(job.arrival_s, 0);
            EXPECT_LT(job.job_type, input->job_types.size());
            EXPECT_LT(job.details, input->workload.details.size());
        }
    }
    EXPECT_GT(read_count, 300);
}

} // namespace
} // namespace fathom::simulation
