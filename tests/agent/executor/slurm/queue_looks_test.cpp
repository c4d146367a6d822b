#include "agent/executor/slurm/queue_looks.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// Asks whenever it is due, until the given time; each answer takes `took`.
class Looks : public testing::Test {
  protected:
    std::vector<std::string> look_until(std::chrono::milliseconds end, std::chrono::milliseconds took = 10ms)
    {
        std::vector<std::string> told;
        for (; now_ < QueueLooks::Time(end); now_ += 1ms) {
            const std::optional<QueuePlace> place = looks_.due(now_);
            if (!place) continue;
            told.push_back(place->unit_type + " " + std::to_string(now_.time_since_epoch() / 1ms));
            now_ += took;
            looks_.looked(now_, took);
        }
        return told;
    }

    QueueLooks looks_;
    QueueLooks::Time now_{};
};

QueuePlace place_of(const std::string& unit_type)
{
    QueuePlace place;
    place.unit_type = unit_type;
    return place;
}

TEST_F(Looks, AskAboutEachPlaceTwiceAMinute)
{
    looks_.set_places({place_of("a"), place_of("b")});

    EXPECT_THAT(look_until(40s), ElementsAre("a 0", "b 15010", "a 30020"));
}

/// Slurm may still count the job that has ended, when it is asked for the first time.
TEST_F(Looks, AskAtOnceAndAgainWhenAJobHasEnded)
{
    looks_.set_places({place_of("a")});
    look_until(10s);

    looks_.hasten(now_);

    EXPECT_THAT(look_until(50s),
                ElementsAre("a 10000", "a 10510", "a 11520", "a 13530", "a 17540", "a 25550", "a 41560"));
}

TEST_F(Looks, TakeTheTwentiethPartOfTheTimeAtMost)
{
    looks_.set_places({place_of("a")});
    look_until(10s, 1s);

    looks_.hasten(now_);

    EXPECT_THAT(look_until(80s, 1s), ElementsAre("a 21000", "a 42000", "a 63000"));
}

/// sbatch tries for a minute to reach a slurmctld that is down.
TEST_F(Looks, ComeHalfAMinuteAfterASlowAnswerAtTheLatest)
{
    looks_.set_places({place_of("a")});
    look_until(10s, 60s);

    looks_.hasten(now_);

    EXPECT_THAT(look_until(100s), ElementsAre("a 90000", "a 90510", "a 91520", "a 93530", "a 97540"));
}

} // namespace
} // namespace fathom::agent
