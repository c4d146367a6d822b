#include "core/schedule/job_options.hpp"
#include "core/schedule/start_rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

namespace fathom {
namespace {

/// Rounds that come out as they are told; nothing more starts after them.
class ToldRounds final : public StartRounds {
  public:
    explicit ToldRounds(std::deque<Round> rounds) : rounds_(std::move(rounds)) {}

    Round start_next() override
    {
        calls += 's';
        if (rounds_.empty()) return Round::kNothing;
        const Round round = rounds_.front();
        rounds_.pop_front();
        return round;
    }
    bool look_again() override
    {
        calls += 'l';
        return has_changing;
    }
    bool drop_places() override
    {
        calls += 'd';
        return vain_places-- > 0;
    }

    std::string calls; ///< start, look, drop
    bool has_changing = true;
    int vain_places = 0;

  private:
    std::deque<Round> rounds_;
};

using Round = StartRounds::Round;

TEST(StartRounds, EndWhenNothingStartsAndNobodyWaitsInVain)
{
    ToldRounds rounds({});

    start_in_rounds(rounds);

    EXPECT_EQ(rounds.calls, "sd");
}

TEST(StartRounds, AfterStartsTheJobsAreLookedAtAgain)
{
    ToldRounds rounds({Round::kStarted, Round::kStarted});

    start_in_rounds(rounds);

    EXPECT_EQ(rounds.calls, "slslsd");
}

TEST(StartRounds, WithoutPlacesThatChangeNoRoundFollows)
{
    ToldRounds rounds({Round::kStarted, Round::kStarted});
    rounds.has_changing = false;

    start_in_rounds(rounds);

    EXPECT_EQ(rounds.calls, "sld");
}

TEST(StartRounds, WhatWasLeftByARefusedStartIsGivenAwayAtOnce)
{
    ToldRounds rounds({Round::kRefused, Round::kRefused, Round::kStarted});

    start_in_rounds(rounds);

    EXPECT_EQ(rounds.calls, "ssslsd");
}

TEST(StartRounds, WhereAPlaceWasDroppedTheOrderIsAskedAgain)
{
    ToldRounds rounds({Round::kNothing});
    rounds.vain_places = 1;

    start_in_rounds(rounds);

    EXPECT_EQ(rounds.calls, "sdsd");
}

TEST(StartRounds, LooksAreBounded)
{
    ToldRounds rounds(std::deque<Round>(100, Round::kStarted));

    start_in_rounds(rounds);

    EXPECT_EQ(std::count(rounds.calls.begin(), rounds.calls.end(), 'l'), kMaxLooksAgain);
    EXPECT_EQ(rounds.calls.back(), 'd');
}

} // namespace
} // namespace fathom
