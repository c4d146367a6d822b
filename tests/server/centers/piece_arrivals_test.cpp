#include "server/centers/piece_arrivals.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// Longer than a test takes: whoever waits so long was woken by nobody.
constexpr auto kNever = 10min;

class PieceArrivalsTest : public testing::Test {
  protected:
    std::unique_ptr<PieceArrivals::Wait> expect(std::vector<std::string> questions)
    {
        return arrivals_->expect(std::move(questions), io_.executor());
    }

    fathom::test::TestIo io_;
    std::shared_ptr<PieceArrivals> arrivals_ = std::make_shared<PieceArrivals>();
};

TEST_F(PieceArrivalsTest, LetAWaiterGoOnWhenTheLastOfItsPiecesHasCome)
{
    const auto wait = expect({"a", "b"});
    const auto other = expect({"c"});
    auto waited = io_.spawn(wait->until_all_came(kNever));

    arrivals_->came("b");
    arrivals_->came("b"); // told of twice
    arrivals_->came("z"); // another replica's
    EXPECT_FALSE(io_.run(other->until_all_came(1ms)));
    EXPECT_EQ(waited.wait_for(0s), std::future_status::timeout);
    arrivals_->came("a");

    EXPECT_TRUE(waited.get());
    EXPECT_TRUE(io_.run(wait->until_all_came(kNever))) << "and again";
}

TEST_F(PieceArrivalsTest, MissNothingThatCameBeforeTheWaiting)
{
    const auto wait = expect({"a"});
    arrivals_->came("a");

    EXPECT_TRUE(io_.run(wait->until_all_came(kNever)));
}

TEST_F(PieceArrivalsTest, HaveEverybodyLookWhereSomethingMayHaveBeenMissed)
{
    const auto wait = expect({"a"});
    auto waited = io_.spawn(wait->until_all_came(kNever));

    arrivals_->look_again();

    EXPECT_FALSE(waited.get()) << "it has not come as far as is known here";
}

TEST_F(PieceArrivalsTest, ForgetThoseThatAreGone)
{
    expect({"a"}).reset();

    EXPECT_NO_THROW(arrivals_->came("a"));
    EXPECT_NO_THROW(arrivals_->look_again());
}

} // namespace
} // namespace fathom::server
