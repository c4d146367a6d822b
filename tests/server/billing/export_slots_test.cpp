#include "server/billing/export_slots.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <string>
#include <vector>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::size_t kKib = 1024;

class ExportSlotsTest : public testing::Test {
  protected:
    std::shared_ptr<ExportSlot> take(const std::string& token, const std::string& project = "")
    {
        Result<std::shared_ptr<ExportSlot>> place = places_.take({token, project});
        EXPECT_TRUE(place) << token;
        return place ? *place : nullptr;
    }
    std::string refusal(const std::string& token, const std::string& project = "")
    {
        const Result<std::shared_ptr<ExportSlot>> place = places_.take({token, project});
        if (place) return "";
        EXPECT_EQ(place.error().code, Errc::kTooMany);
        return place.error().detail;
    }
    /// All eight, each of a token of its own: t0 and so on.
    std::vector<std::shared_ptr<ExportSlot>> take_all()
    {
        std::vector<std::shared_ptr<ExportSlot>> taken;
        for (int i = 0; i < 8; ++i)
            taken.push_back(take("t" + std::to_string(i)));
        return taken;
    }

    Metrics metrics_;
    ExportSlots places_{{}, metrics_};
};

TEST(ReaderPaceTest, IsOfTheLastWholeWindow)
{
    ReaderPace pace;
    pace.note(100 * kKib, 20s);
    EXPECT_FALSE(pace.last()) << "too short a time says nothing";

    pace.note(500 * kKib, 10s);
    EXPECT_EQ(pace.last(), 20.0 * kKib);

    pace.note(1, 29s);
    EXPECT_EQ(pace.last(), 20.0 * kKib);
    pace.note(60 * kKib - 1, 1s);
    EXPECT_EQ(pace.last(), 2.0 * kKib);
}

TEST_F(ExportSlotsTest, ATokenHasASecondOneOnlyWhileThereIsRoom)
{
    const auto a1 = take("a");
    const auto a2 = take("a");
    EXPECT_EQ(refusal("a"), "this token has 2 exports under way already: ask again when one of them has ended");
    const auto b1 = take("b");
    const auto b2 = take("b");

    const auto c1 = take("c");

    EXPECT_THAT(refusal("c"), HasSubstr("this token has 1 export under way"));
}

TEST_F(ExportSlotsTest, LeadsOfAProjectShareItsPlaces)
{
    const auto first = take("ann", "sea");
    auto second = take("bob", "sea");

    EXPECT_THAT(refusal("cid", "sea"), HasSubstr("this project has 2 exports under way"));
    EXPECT_NE(take("cid", "land"), nullptr);
    second.reset();
    EXPECT_EQ(refusal("cid", "sea"), "");
}

TEST_F(ExportSlotsTest, WhatIsReadTooSlowlyIsCutOff)
{
    const auto place = take("a");
    EXPECT_TRUE(place->note(64 * 30 * kKib, 30s)) << "just fast enough";
    EXPECT_TRUE(place->note(40 * kKib, 29s));

    const Result<void> cut = place->note(20 * kKib, 1s);

    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().detail, "the export of a is read at 2 KiB a second, less than 64 KiB a second");
    EXPECT_FALSE(place->note(1UL << 30U, 30s)) << "once cut off, for ever";
    EXPECT_THAT(metrics_.expose(), HasSubstr("fathom_exports_cut_off_total{reason=\"too_slow\"} 1"));
}

TEST_F(ExportSlotsTest, TheSlowestGivesWayWhereAllAreTaken)
{
    const auto taken = take_all();
    EXPECT_THAT(refusal("new"), HasSubstr("this server has 8 exports under way")) << "nobody is known to be slow";
    EXPECT_TRUE(taken[0]->note(30UL << 20U, 30s)) << "1 MiB a second";
    EXPECT_TRUE(taken[1]->note(30 * 500 * kKib, 30s));
    EXPECT_TRUE(taken[2]->note(30 * 400 * kKib, 30s));

    const auto newcomer = take("new");

    const Result<void> cut = taken[2]->note(kKib, 1ms);
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().detail, "the export of t2 is read at 400 KiB a second while others wait for one");
    EXPECT_THAT(metrics_.expose(), HasSubstr("fathom_exports_cut_off_total{reason=\"gave_way\"} 1"));
    EXPECT_TRUE(taken[1]->note(kKib, 1ms));
    const auto next = take("next");
    EXPECT_FALSE(taken[1]->note(kKib, 1ms));
    EXPECT_THAT(refusal("last"), HasSubstr("this server has 8 exports")) << "who reads fast keeps its place";
}

TEST_F(ExportSlotsTest, WhoHasOneDoesNotTakeAnothers)
{
    const auto taken = take_all();
    EXPECT_TRUE(taken[1]->note(30 * 100 * kKib, 30s));

    EXPECT_THAT(refusal("t0"), HasSubstr("this token has 1 export under way"));

    EXPECT_TRUE(taken[1]->note(kKib, 1ms));
}

/// For each piece a reader takes this long, by a clock that only it moves.
class SlowReader final : public net::BodyWriter {
  public:
    explicit SlowReader(std::chrono::seconds of_piece) : of_piece_(of_piece) {}
    asio::awaitable<Result<void>> write(std::string chunk) override
    {
        now_ += of_piece_;
        pieces_.push_back(chunk.size());
        co_return Result<void>();
    }
    asio::awaitable<Result<void>> sleep(std::chrono::milliseconds /*duration*/) override { co_return Result<void>(); }

    std::chrono::steady_clock::time_point now() const { return now_; }
    const std::vector<std::size_t>& pieces() const { return pieces_; }

  private:
    const std::chrono::seconds of_piece_;
    std::chrono::steady_clock::time_point now_;
    std::vector<std::size_t> pieces_;
};

asio::awaitable<void> write_page(std::shared_ptr<net::BodyWriter> writer)
{
    const Result<void> written = co_await writer->write(std::string(1000 * kKib, 'x'));
    if (!written) co_return;
    co_await writer->write("end");
}

void read(const std::shared_ptr<SlowReader>& reader, std::shared_ptr<ExportSlot> place)
{
    const auto stream = pace_stream(write_page, std::move(place), [reader] { return reader->now(); });
    asio::io_context io;
    auto done = asio::co_spawn(io, stream(reader), asio::use_future);
    io.run();
    done.get();
}

TEST_F(ExportSlotsTest, AnExportIsWrittenInPiecesAndEndsAmidAPageWhenItIsReadTooSlowly)
{
    const auto fast = std::make_shared<SlowReader>(1s);
    read(fast, take("fast"));
    EXPECT_EQ(fast->pieces(), (std::vector<std::size_t>{256 * kKib, 256 * kKib, 256 * kKib, 232 * kKib, 3}));

    const auto slow = std::make_shared<SlowReader>(15s);
    EXPECT_THROW(read(slow, take("slow")), std::runtime_error) << "cut off, not ended";
    EXPECT_EQ(slow->pieces().size(), 2U);
}

} // namespace
} // namespace fathom::server
