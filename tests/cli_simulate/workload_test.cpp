#include "cli/simulate/csv_table.hpp"
#include "cli/simulate/draw.hpp"
#include "cli/simulate/unlike_centers.hpp"
#include "cli/simulate/workload_gavel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace fathom {
namespace {

using testing::HasSubstr;

const std::string kData = FATHOM_TEST_DATA;

std::vector<GavelJobType> gavel_job_types()
{
    std::ifstream file(kData + "/gavel/solo.csv");
    return read_gavel_job_types(file).value();
}

MachineSpeeds machine_speeds()
{
    std::ifstream devices(kData + "/uob/devices_2019.csv");
    std::ifstream specifications(kData + "/uob/device_spec_2019.csv");
    return read_machine_speeds(devices, specifications).value();
}

// The standard fixes mt19937_64's 10 000th number of seed 5489; the distributions are ours.
TEST(Draw, IsTheStandardsGenerator)
{
    Draw draw(5489);
    double last{};
    for (int i = 0; i < 10'000; ++i)
        last = draw.uniform();
    EXPECT_DOUBLE_EQ(last, static_cast<double>(9981545732273789042ULL >> 11) * 0x1p-53);
}

TEST(Draw, HasTheMeansThatItSays)
{
    Draw draw(1);
    double exponential = 0;
    double normal = 0;
    double square = 0;
    for (int i = 0; i < 100'000; ++i) {
        exponential += draw.exponential(7) / 100'000;
        const double z = draw.normal();
        normal += z / 100'000;
        square += z * z / 100'000;
    }
    EXPECT_NEAR(exponential, 7, 0.1);
    EXPECT_NEAR(normal, 0, 0.02);
    EXPECT_NEAR(square, 1, 0.02);
}

TEST(CsvTable, SaysWhatIsWrongAndWhere)
{
    const auto error_of = [](const std::string& text) {
        std::istringstream stream(text);
        const Result<CsvTable> table = CsvTable::read(stream, {"b"});
        return table ? table->number(table->size() - 1, 0).error().detail : table.error().detail;
    };

    EXPECT_THAT(error_of("a,c\n1,2\n"), HasSubstr("no column b"));
    EXPECT_THAT(error_of("a,b\n1,2\n1\n"), HasSubstr("line 3 has 1 fields, the header has 2"));
    EXPECT_THAT(error_of("a,b\r\n1,2\r\n\r\n1,x\r\n"), HasSubstr("line 4: b is \"x\", not a number"));
    EXPECT_THAT(error_of("a,b\n1,inf\n"), HasSubstr("not a number"));
}

TEST(GavelWorkload, HasTheTwentySixJobTypesOfThePaper)
{
    const std::vector types = gavel_job_types();

    ASSERT_EQ(types.size(), 26u);
    const auto resnet =
        std::find_if(types.begin(), types.end(), [](const auto& t) { return t.name == "ResNet-18 16"; });
    ASSERT_NE(resnet, types.end());
    EXPECT_DOUBLE_EQ(resnet->steps_per_s[0].at(1), 4.79529);
    EXPECT_DOUBLE_EQ(resnet->steps_per_s[2].at(1), 32.3534);
}

// Mean minutes on a V100: 0.8 · (1000 − 10^1.5) / (1.5 ln 10) + 0.2 · (10 000 − 1000) / ln 10 = 1006.
TEST(GavelWorkload, ArrivalsAndDurationsAreAsPublished)
{
    GavelWorkload workload;
    workload.end_counted = 20'000;
    const SimulatedWorld world = gavel_world(gavel_job_types(), workload);

    double minutes = 0;
    for (const SimulatedJob& job : world.jobs)
        minutes += job.options[2].run_s / 60 / static_cast<double>(world.jobs.size());
    EXPECT_NEAR(minutes, 1006, 40);
    EXPECT_NEAR(world.jobs.back().arrival_s / 3600, static_cast<double>(world.jobs.size()) / 5.6, 100);
    EXPECT_DOUBLE_EQ(world.jobs[7].options[0].run_s, world.jobs[7].options[0].predicted_s);
}

TEST(GavelWorkload, NoiseChangesPredictionsOnly)
{
    GavelWorkload workload;
    const SimulatedWorld exact = gavel_world(gavel_job_types(), workload);
    workload.noise = 0.5;
    const SimulatedWorld noisy = gavel_world(gavel_job_types(), workload);

    EXPECT_DOUBLE_EQ(exact.jobs[99].options[1].run_s, noisy.jobs[99].options[1].run_s);
    EXPECT_NE(noisy.jobs[99].options[1].run_s, noisy.jobs[99].options[1].predicted_s);
}

TEST(GavelWorkload, SeveralGpusOnlyWhereTheTypeCanUseThem)
{
    GavelWorkload workload;
    workload.has_multiple_gpus = true;
    std::map<std::int64_t, int> counts;
    for (const SimulatedJob& job : gavel_world(gavel_job_types(), workload).jobs)
        ++counts[job.options.front().unit_count];
    EXPECT_NEAR(counts[1] / 8000.0, 0.70, 0.02);
    EXPECT_NEAR(counts[2] / 8000.0, 0.10, 0.02);
    EXPECT_NEAR(counts[4] / 8000.0, 0.15, 0.02);
    EXPECT_NEAR(counts[8] / 8000.0, 0.05, 0.02);
}

TEST(JobLog, LeavesOutWhatNeverRan)
{
    std::istringstream log("job,submit_s,run_s,procs,executable\n1,0,10,2,7\n2,5,0,2,7\n3,6,10,-1,7\n4,9,20,1,8\n");
    const JobLog read = read_job_log(log).value();

    ASSERT_EQ(read.jobs.size(), 2u);
    EXPECT_EQ(read.never_ran, 2u);
    EXPECT_DOUBLE_EQ(read.jobs[1].submit_s, 9);
}

TEST(JobLog, RefusesWhatIsNotByTime)
{
    std::istringstream log("job,submit_s,run_s,procs,executable\n1,50,10,2,7\n2,5,10,2,7\n");
    EXPECT_THAT(read_job_log(log).error().detail, HasSubstr("job 2"));
}

TEST(UnlikeCenters, SpeedsAreThoseMeasured)
{
    const MachineSpeeds speeds = machine_speeds();

    ASSERT_TRUE(speeds.contains("KNL"));
    EXPECT_DOUBLE_EQ(speeds.at("KNL")[static_cast<std::size_t>(ProgramKind::kStream)], 451'777);
    EXPECT_DOUBLE_EQ(speeds.at("KNL")[static_cast<std::size_t>(ProgramKind::kCloverLeaf)], 1 / 249.8);
    EXPECT_DOUBLE_EQ(speeds.at("KNL")[static_cast<std::size_t>(ProgramKind::kDense)], 2.66);
}

TEST(UnlikeCenters, AProgramKeepsItsKindAndTheLoadIsAsAsked)
{
    std::ifstream file(kData + "/swf/CTC-SP2-1996-3.1-cln.csv");
    const JobLog log = read_job_log(file).value();
    const SimulatedWorld at_half = log_on_unlike_centers(log, machine_speeds(), {.load = 0.4}).value();
    const SimulatedWorld at_full = log_on_unlike_centers(log, machine_speeds(), {.load = 0.8}).value();

    EXPECT_NEAR(at_half.jobs.back().arrival_s / at_full.jobs.back().arrival_s, 2, 1e-9);
    EXPECT_DOUBLE_EQ(at_half.jobs[10].options[0].run_s, log.jobs[10].run_s) << "as logged on the reference machine";
    EXPECT_EQ(at_half.unit_types.size(), 5u);
    EXPECT_EQ(log_on_unlike_centers(log, {}, {}).error().code, Errc::kInvalid);
}

} // namespace
} // namespace fathom
