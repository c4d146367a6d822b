// What is put back, and what is known of it while it cannot be.
#include "agent/balance/put_back.hpp"
#include "tests/agent/balance/balance_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using namespace test;
using testing::HasSubstr;

/// A journal on disk of a unit that had 10 sub-units.
class SubUnitsAskedBack : public testing::Test {
  protected:
    /// As a start of the loops does. @return how many were put back
    std::size_t put_back_once()
    {
        BalanceJournal journal = BalanceJournal::open(path_).value();
        return put_all_back(journal, broker_, [](const std::string&) { return true; });
    }

    TemporaryFolder folder_;
    const std::filesystem::path path_ = folder_.path() / "journal";
    const Json undo_ = {{"kind", "sub_units"}, {"unit", "pair"}, {"count", 10}};
    SlowSubUnits broker_;
};

TEST_F(SubUnitsAskedBack, AreAskedForAgainWhenTheBrokerRefusesAndNotForEver)
{
    BalanceJournal::open(path_).value().note("pair", "sub_units", undo_).value();
    broker_.count = 50;
    testing::internal::CaptureStderr();
    for (std::size_t starts = 1; starts <= 10; ++starts) {
        EXPECT_EQ(put_back_once(), 0U);
        EXPECT_EQ(broker_.requests.size(), starts);
        EXPECT_TRUE(is_there(path_));
        broker_.refuse("a job holds them");
    }
    const std::string refused = testing::internal::GetCapturedStderr();
    EXPECT_THAT(refused, HasSubstr("balance_not_given_back"));
    EXPECT_THAT(refused, HasSubstr("a job holds them"));

    testing::internal::CaptureStderr();
    EXPECT_EQ(put_back_once(), 0U);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("asked back 10 times"));
    EXPECT_EQ(broker_.requests.size(), 10U);
    EXPECT_FALSE(is_there(path_)) << "it is given up";
}

TEST_F(SubUnitsAskedBack, AreForgottenOnceTheUnitHasWhatItHad)
{
    BalanceJournal::open(path_).value().note("pair", "sub_units", undo_).value();
    broker_.count = 50;
    EXPECT_EQ(put_back_once(), 0U);
    broker_.refuse("a job holds them");
    EXPECT_EQ(put_back_once(), 0U);
    ASSERT_EQ(broker_.requests.size(), 2U);
    EXPECT_EQ(broker_.requests[1].change, -40);
    broker_.count = 10;

    EXPECT_EQ(put_back_once(), 1U);
    EXPECT_EQ(broker_.requests.size(), 2U);
    EXPECT_FALSE(is_there(path_));
}

TEST_F(SubUnitsAskedBack, ByAnOlderAgentAreLookedAtToo)
{
    Json older = undo_;
    older[kAskedBack] = true;
    write(path_, Json{{"unit", "pair"}, {"actuator", "sub_units"}, {"undo", older}}.dump() + "\n");
    broker_.count = 50;
    EXPECT_EQ(put_back_once(), 0U);
    EXPECT_EQ(broker_.requests.size(), 1U);
    broker_.count = 10;

    EXPECT_EQ(put_back_once(), 1U);
    EXPECT_EQ(broker_.requests.size(), 1U);
    EXPECT_FALSE(is_there(path_));
}

TEST(BalanceJournalFile, AndWhatIsKnownOfItAgreeWhenItCannotBeWritten)
{
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "journal";
    BalanceJournal journal = BalanceJournal::open(path).value();
    const Json undo = {{"kind", "sub_units"}, {"unit", "pair"}, {"count", 10}};
    journal.note("pair", "sub_units", undo).value();
    std::filesystem::rename(path, folder.path() / "kept");
    write(path / "in the way", ""); // a folder where the file should be

    EXPECT_FALSE(journal.forget("pair", "sub_units"));
    EXPECT_EQ(journal.entries().at({"pair", "sub_units"}), undo) << "else nobody puts it back";
    EXPECT_FALSE(journal.mark_asked("pair", "sub_units", {{"times", 1}}));
    EXPECT_EQ(journal.entries().at({"pair", "sub_units"}), undo);
    EXPECT_FALSE(journal.note("pair", "clock", undo));
    EXPECT_EQ(journal.entries().size(), 1U);

    std::filesystem::remove_all(path);
    std::filesystem::rename(folder.path() / "kept", path);
    EXPECT_EQ(BalanceJournal::open(path).value().entries(), journal.entries());
    ASSERT_TRUE(journal.mark_asked("pair", "sub_units", {{"times", 1}}));
    EXPECT_EQ(BalanceJournal::open(path).value().entries(), journal.entries());
    ASSERT_TRUE(journal.forget("pair", "sub_units"));
    EXPECT_TRUE(journal.entries().empty());
    EXPECT_FALSE(is_there(path));
}

TEST(BalanceJournalFile, IsPutBackFromItsEnd)
{
    const TemporaryFolder folder;
    const std::filesystem::path knob = folder.path() / "scaling_max_freq"; // that two units have in common
    const auto note = [&](const char* unit, const char* before, const char* after) {
        BalanceJournal journal = BalanceJournal::open(folder.path() / "journal").value();
        const Json file = {{"path", knob.string()}, {"content", before}};
        journal.note(unit, "clock", {{"kind", "files"}, {"files", Json::array({file})}}).value();
        write(knob, after);
    };
    note("b", "1500000", "1300000");
    note("a", "1300000", "1100000");
    BalanceJournal journal = BalanceJournal::open(folder.path() / "journal").value();
    NoSubUnits none;

    EXPECT_EQ(put_all_back(journal, none, [](const std::string&) { return true; }), 2U);
    EXPECT_EQ(read(knob), "1500000");
    EXPECT_FALSE(is_there(folder.path() / "journal"));
}

TEST(BalanceJournalFile, ThatIsDamagedIsSaidToBe)
{
    const TemporaryFolder folder;
    write(folder.path() / "journal", "{\"unit\": 3}\n");
    EXPECT_THAT(BalanceJournal::open(folder.path() / "journal").error().detail, HasSubstr("is damaged"));
    EXPECT_TRUE(BalanceJournal::open(folder.path() / "none").value().entries().empty());
    NoSubUnits none;
    EXPECT_EQ(put_back(Json{{"kind", "?"}}, none).error().code, Errc::kInvalid);
}

} // namespace
} // namespace fathom::agent
