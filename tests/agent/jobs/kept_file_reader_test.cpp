#include "agent/jobs/kept_file_reader.hpp"
#include "tests/agent/support/eventually.hpp"

#include <gmock/gmock.h>

#include <future>
#include <mutex>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using testing::HasSubstr;

/// A file system that holds up who reads "hung…" until it is let go.
class HungDisk {
  public:
    KeptFileRead read()
    {
        return [opened = opened_, reads = reads_](const std::string& sha256, std::int64_t offset,
                                                  std::size_t max_bytes) -> Result<std::string> {
            ++*reads;
            if (sha256 == "gone") return Error{Errc::kNotFound, "no copy of it is kept"};
            if (sha256 == "hung") opened.wait();
            return sha256 + std::to_string(offset) + "+" + std::to_string(max_bytes);
        };
    }
    void let_go() { open_.set_value(); }
    int reads() const { return *reads_; }

  private:
    std::promise<void> open_;
    std::shared_future<void> opened_ = open_.get_future().share();
    std::shared_ptr<std::atomic<int>> reads_ = std::make_shared<std::atomic<int>>(0); ///< shared with its threads
};

class KeptFileReaderTest : public testing::Test {
  protected:
    /// Asks at `now`; the index of the query.
    MessageId ask(const std::string& sha256, std::int64_t offset = 0)
    {
        const MessageId id = MessageId::make();
        reader_->ask({.query_id = id, .sha256 = sha256, .offset_bytes = offset, .most_bytes = 4}, now_);
        return id;
    }
    std::vector<link::KeptFilePiece> told() const
    {
        const std::scoped_lock lock(mutex_);
        return told_;
    }
    bool has_told(std::size_t count) const
    {
        return eventually([&] { return told().size() >= count; });
    }
    bool has_read(int count) const
    {
        return eventually([&] { return disk_.reads() >= count; });
    }

    HungDisk disk_;
    KeptFileReader::SteadyTime now_{};
    mutable std::mutex mutex_;
    std::vector<link::KeptFilePiece> told_;
    std::optional<KeptFileReader> reader_{std::in_place, disk_.read(),
                                          [this](link::KeptFilePiece piece) {
                                              const std::scoped_lock lock(mutex_);
                                              told_.push_back(std::move(piece));
                                          },
                                          KeptFileReader::Limits{.most_waiting = 2, .timeout = 10s}};
};

TEST_F(KeptFileReaderTest, TellsPiecesInTheirOrderOrWhyThereAreNone)
{
    const MessageId first = ask("a", 8);
    const MessageId gone = ask("gone");

    ASSERT_TRUE(has_told(2));
    EXPECT_EQ(told()[0].query_id, first);
    EXPECT_EQ(told()[0].data, "a8+4");
    EXPECT_EQ(told()[1].query_id, gone);
    ASSERT_TRUE(told()[1].refusal);
    EXPECT_EQ(told()[1].refusal->code, Errc::kNotFound);
}

TEST_F(KeptFileReaderTest, RefusesWhatItCannotReadInTimeAndReadsAgainOnceItCan)
{
    const MessageId hung = ask("hung"); // and whoever asks goes on
    ASSERT_TRUE(has_read(1));
    const MessageId behind = ask("a");
    now_ += 9s;
    reader_->refuse_late(now_);
    EXPECT_TRUE(told().empty());

    now_ += 1s;
    reader_->refuse_late(now_);

    ASSERT_EQ(told().size(), 2U) << "what waits behind it will not be read, either";
    EXPECT_EQ(told()[0].query_id, hung);
    EXPECT_EQ(told()[1].query_id, behind);
    for (const link::KeptFilePiece& piece : told()) {
        ASSERT_TRUE(piece.refusal);
        EXPECT_EQ(piece.refusal->code, Errc::kUnavailable);
        EXPECT_THAT(piece.refusal->detail, HasSubstr("file system takes longer than 10 s"));
    }
    const MessageId later = ask("a");
    ASSERT_EQ(told().size(), 3U) << "refused at once";
    EXPECT_EQ(told()[2].query_id, later);
    reader_->refuse_late(now_ + 1h);
    EXPECT_EQ(told().size(), 3U) << "each of them once";

    disk_.let_go();
    ASSERT_TRUE(eventually([&] {
        ask("a");
        return !told().back().refusal;
    }));
    EXPECT_EQ(told().back().data, "a0+4");
    for (const link::KeptFilePiece& piece : told())
        EXPECT_TRUE(piece.refusal || piece.query_id != hung) << "it was told before why it did not come";
}

TEST_F(KeptFileReaderTest, LetsNoMoreWaitThanItsLimit)
{
    ask("hung");
    ASSERT_TRUE(has_read(1)); // it waits no more
    ask("a");
    ask("b");
    EXPECT_TRUE(told().empty());

    const MessageId beyond = ask("c");

    ASSERT_EQ(told().size(), 1U);
    EXPECT_EQ(told()[0].query_id, beyond);
    EXPECT_THAT(told()[0].refusal->detail, HasSubstr("too many pieces"));
    disk_.let_go();
    EXPECT_TRUE(has_told(4));
}

TEST_F(KeptFileReaderTest, EndsWithoutWaitingForAReadThatDoesNotComeBack)
{
    ask("hung");
    ASSERT_TRUE(has_read(1));

    reader_.reset();

    disk_.let_go();
    EXPECT_TRUE(told().empty());
}

} // namespace
} // namespace fathom::agent
