#include "server/routing/arrived_jobs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace fathom::server {
namespace {

UnitTypeView unit_type(const std::string& id, std::int64_t units)
{
    UnitTypeView view;
    view.id = UnitTypeId{id};
    view.unit_count = units;
    return view;
}

/// As ids of jobs are: in the order in which they came.
std::string job_id(int number)
{
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "job_%06d", number);
    return text.data();
}

/// Jobs that run 100 s on a unit of "slow" and so long on one of "fast".
void note_jobs(ArrivedJobs& arrived, int from, int to, double on_fast_s)
{
    for (int i = from; i < to; ++i)
        arrived.note(job_id(i), {{"fast", 1, on_fast_s}, {"slow", 1, 100}});
}

TEST(ArrivedJobs, SayNothingBeforeFiftyHaveCome)
{
    const std::vector types{unit_type("fast", 1), unit_type("slow", 1), unit_type("other", 1)};
    ArrivedJobs arrived;
    note_jobs(arrived, 0, 49, 25);
    EXPECT_EQ(arrived.worths(types)[0], std::nullopt);

    note_jobs(arrived, 49, 50, 25);
    const std::vector worths = arrived.worths(types);
    // Jobs that are four times as fast there make a unit worth four: 1.6 and 0.4, the mean is 1.
    EXPECT_NEAR(worths[0].value(), 1.6, 0.05);
    EXPECT_NEAR(worths[1].value(), 0.4, 0.05);
    EXPECT_EQ(worths[2], std::nullopt) << "no job could go there";
}

TEST(ArrivedJobs, OfATransactionThatRunsAgainCountOnce)
{
    const std::vector types{unit_type("fast", 1), unit_type("slow", 1)};
    ArrivedJobs arrived;
    note_jobs(arrived, 0, 49, 25);
    note_jobs(arrived, 0, 49, 25);
    EXPECT_EQ(arrived.worths(types)[0], std::nullopt);

    ArrivedJobs full;
    note_jobs(full, 0, 1000, 25);
    const double first = full.worths(types)[0].value();
    note_jobs(full, 1000, 1049, 100);
    note_jobs(full, 1000, 1049, 100);
    EXPECT_EQ(full.worths(types)[0].value(), first) << "fifty are not there yet";
}

TEST(ArrivedJobs, AreTakenAnewAfterFiftyMoreAndByTheNewestThousand)
{
    const std::vector types{unit_type("fast", 1), unit_type("slow", 1)};
    ArrivedJobs arrived;
    note_jobs(arrived, 0, 1000, 25);
    const double first = arrived.worths(types)[0].value();

    note_jobs(arrived, 1000, 1049, 100);
    EXPECT_EQ(arrived.worths(types)[0].value(), first);

    note_jobs(arrived, 1049, 2000, 100);
    EXPECT_NEAR(arrived.worths(types)[0].value(), 1, 0.02) << "the first thousand are forgotten";
}

TEST(ArrivedJobs, CountEachJobOnce)
{
    const std::vector types{unit_type("fast", 1), unit_type("slow", 1)};
    ArrivedJobs arrived;
    for (int look = 0; look < 5; ++look)
        note_jobs(arrived, 0, 30, 25);
    EXPECT_FALSE(arrived.is_new(job_id(0)));
    EXPECT_EQ(arrived.worths(types)[0], std::nullopt);

    note_jobs(arrived, 30, 1100, 25);
    EXPECT_FALSE(arrived.is_new(job_id(0))) << "it is older than all that are remembered";
    EXPECT_TRUE(arrived.is_new(job_id(1100)));
    arrived.note(job_id(1100), {});
    EXPECT_TRUE(arrived.is_new(job_id(1100))) << "it could go nowhere yet";
}

TEST(ArrivedJobs, KnowUnitTypesByIdWhereTheCatalogChanges)
{
    ArrivedJobs arrived;
    note_jobs(arrived, 0, 50, 25);
    const double fast = arrived.worths(std::vector{unit_type("fast", 1), unit_type("slow", 1)})[0].value();

    const std::vector changed{unit_type("new", 4), unit_type("fast", 1)};
    EXPECT_EQ(arrived.worths(changed)[0], std::nullopt);
    EXPECT_EQ(arrived.worths(changed)[1], fast);

    note_jobs(arrived, 50, 100, 25);
    EXPECT_EQ(arrived.worths(changed)[1], 1) << "all that is left of what they could use";
}

} // namespace
} // namespace fathom::server
