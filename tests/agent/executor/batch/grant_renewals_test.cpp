#include "agent/executor/batch/grant_renewals.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kInput = "s3://sets/x";
constexpr const char* kOutput = "s3://results/climate/y";

AttemptOrder order_with_objects()
{
    AttemptOrder order = test::shell_order("true");
    order.owner.project = "climate";
    order.inputs = {{kInput, "x", "", std::nullopt}, {"https://h/z", "z", "", std::nullopt}};
    order.outputs = {{"y", kOutput}};
    return order;
}

class GrantRenewalsTest : public testing::Test {
  protected:
    GrantRenewalsTest()
    {
        store_.access = {.endpoint = "https://s3.example",
                         .region = "r",
                         .access_key = "key",
                         .secret_key = "not-told",
                         .ca_file = {}};
        store_.rules = {{"climate", {"s3://sets"}, {"s3://results/climate"}}};
    }

    BatchFolder folder_of(const AttemptOrder& order) const { return {folder_.path() / order.attempt_id.value}; }
    void begin(const AttemptOrder& order) const
    {
        std::filesystem::create_directories(folder_of(order).report());
        note_signed(order, folder_of(order), std::nullopt).value();
    }
    /// What was signed anew; empty: nothing was.
    std::string renewed(const AttemptOrder& order) const
    {
        const Result<std::string> text = read_file(folder_of(order).path / kRenewedName);
        return text ? *text : "";
    }

    test::TemporaryFolder folder_;
    S3Store store_;
    const Timestamp start_ = SystemClock().now();
};

TEST_F(GrantRenewalsTest, SignADayLaterWhatAJobMayStillNeed)
{
    const AttemptOrder order = order_with_objects();
    begin(order);
    GrantRenewals renewals(folder_.path(), store_);

    renewals.look(start_ + 23h);
    EXPECT_THAT(renewed(order), IsEmpty());
    renewals.look(start_ + 25h);

    StagingRule rule{.s3 = {{"GET s3://sets/x", {"https://over", ""}}, {"PUT s3://other", {"https://stays", ""}}}};
    take_grants(rule, renewed(order));
    EXPECT_THAT(rule.s3.at(s3_grant_key("GET", kInput)).url, HasSubstr("X-Amz-Expires=604800&"));
    EXPECT_THAT(rule.s3.at(s3_grant_key("PUT", kOutput)).url, HasSubstr("https://s3.example/results/climate/y?"));
    EXPECT_EQ(rule.s3.at("PUT s3://other").url, "https://stays");
    EXPECT_FALSE(rule.s3.contains("GET https://h/z"));
    EXPECT_THAT(renewed(order), testing::Not(HasSubstr("not-told")));
    struct stat facts{};
    ASSERT_EQ(::stat((folder_of(order).path / kRenewedName).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0400U) << "whoever reads it has the object";
}

TEST_F(GrantRenewalsTest, SignAgainEachDayAndLookOnceAnHour)
{
    const AttemptOrder order = order_with_objects();
    begin(order);
    GrantRenewals renewals(folder_.path(), store_);
    renewals.look(start_ + 25h);
    std::filesystem::remove(folder_of(order).path / kRenewedName);

    renewals.look(start_ + 25h + 59min);
    EXPECT_THAT(renewed(order), IsEmpty());
    renewals.look(start_ + 26h);
    const std::string first = renewed(order);
    EXPECT_NE(first, "");
    // Its file is of now, and this look of two days later.
    renewals.look(start_ + 48h);
    EXPECT_NE(renewed(order), first);
}

TEST_F(GrantRenewalsTest, LeaveOutWhatHasEndedAndWhatNamesNoObjects)
{
    const AttemptOrder ended = order_with_objects();
    begin(ended);
    write_file(folder_of(ended).report() / "ended", "0").value();
    AttemptOrder plain = test::shell_order("true");
    plain.inputs = {{"https://h/z", "z", "", std::nullopt}};
    begin(plain);

    GrantRenewals(folder_.path(), store_).look(start_ + 25h);
    GrantRenewals(folder_.path() / "none", store_).look(start_ + 25h);

    EXPECT_THAT(renewed(ended), IsEmpty());
    EXPECT_THAT(renewed(plain), IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(folder_of(plain).signed_urls()));
}

TEST_F(GrantRenewalsTest, TakeBackWhatAProjectMayDoNoMore)
{
    const AttemptOrder order = order_with_objects();
    begin(order);
    store_.rules = {{"climate", {"s3://sets"}, {}}};

    GrantRenewals(folder_.path(), store_).look(start_ + 25h);

    StagingRule rule{.s3 = {{s3_grant_key("PUT", kOutput), {"https://earlier", ""}}}};
    take_grants(rule, renewed(order));
    EXPECT_EQ(rule.s3.at(s3_grant_key("PUT", kOutput)).url, "");
    EXPECT_THAT(rule.s3.at(s3_grant_key("PUT", kOutput)).refusal, HasSubstr("no such access"));
}

TEST(StagingRules, TakeNoGrantsFromWhatIsNone)
{
    StagingRule rule{.s3 = {{"GET s3://sets/x", {"https://stays", ""}}}};

    for (const char* damaged : {"", "[]", "{\"takes_http\": 7}", "{", "null"})
        take_grants(rule, damaged);

    EXPECT_EQ(rule.s3.at("GET s3://sets/x").url, "https://stays");
}

} // namespace
} // namespace fathom::agent
