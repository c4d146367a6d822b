#include "server/balance/balance_service.hpp"
#include "server/retention/retention_task.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <limits>
#include <mutex>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using fathom::test::eventually;
using fathom::test::TestIo;
using test::TestStore;
using testing::ElementsAre;
using testing::HasSubstr;

const Timestamp kBegin = parse_rfc3339("2026-11-20T11:00:00Z").value();

BalanceStep step_at(std::int64_t second, const std::string& unit = "gpu0", const std::string& attempt = "")
{
    BalanceStep step{.at = kBegin + std::chrono::seconds(second), .unit = unit, .attempt = attempt};
    step.outcome = "acted";
    step.band = 0.05;
    step.figures = BalanceFigures{.error = 0.5, .output = 0.25};
    step.reason = "second " + std::to_string(second);
    return step;
}

/// Keeps what is written to a follower.
class FollowerWriter final : public net::BodyWriter {
  public:
    asio::awaitable<Result<void>> write(std::string chunk) override
    {
        const std::scoped_lock lock(mutex_);
        if (gone_) co_return Error{Errc::kUnavailable, "gone"};
        text_ += chunk;
        co_return Result<void>();
    }
    asio::awaitable<Result<void>> sleep(std::chrono::milliseconds duration) override
    {
        const auto until = std::chrono::steady_clock::now() + duration;
        while (std::chrono::steady_clock::now() < until && !gone_)
            co_await net::TaskGroup::sleep(5ms);
        if (gone_) co_return Error{Errc::kUnavailable, "gone"};
        co_return Result<void>();
    }
    void hang_up() { gone_ = true; }
    std::string text() const
    {
        const std::scoped_lock lock(mutex_);
        return text_;
    }

  private:
    mutable std::mutex mutex_;
    std::string text_;
    std::atomic<bool> gone_{false};
};

class BalanceTrace : public testing::Test {
  protected:
    BalanceTrace() : service_(store_.database(), metrics_, {.steps_of_unit = 50, .units_of_center = 3})
    {
        Catalog catalog;
        catalog.unit_types = {test::unit_type("core", 2, {})};
        center_ = test::add_center(store_, "alpha", catalog);
    }
    ~BalanceTrace() override { store_.database().stop(); }

    Result<void> tell(std::vector<BalanceStep> steps, std::int64_t dropped_count = 0)
    {
        return io_.run(service_.take_steps(Reporter(center_), BalanceSteps{std::move(steps), dropped_count}));
    }
    Result<Page<BalanceStepRecord>> history(std::int64_t size = 100, std::optional<Timestamp> since = std::nullopt,
                                            std::int64_t before = std::numeric_limits<std::int64_t>::max(),
                                            const JobScope& scope = {}, const std::string& unit = "gpu0")
    {
        return io_.run(service_.history({{"alpha", unit}, since, before, size, scope}));
    }
    std::vector<std::string> reasons(std::int64_t size = 100, std::optional<Timestamp> since = std::nullopt)
    {
        std::vector<std::string> found;
        const Page<BalanceStepRecord> page = history(size, since).value();
        for (const BalanceStepRecord& record : page.items)
            found.push_back(record.step["reason"].get<std::string>());
        return found;
    }

    TestStore store_;
    TestIo io_;
    Metrics metrics_;
    BalanceService service_;
    CenterId center_;
};

TEST_F(BalanceTrace, KeepsStepsOnceNewestFirst)
{
    ASSERT_TRUE(tell({step_at(1), step_at(2), step_at(3)}));
    ASSERT_TRUE(tell({step_at(2), step_at(3), step_at(4)})) << "the message came again, with one more";
    EXPECT_THAT(reasons(), ElementsAre("second 4", "second 3", "second 2", "second 1"));
    EXPECT_THAT(reasons(2), ElementsAre("second 4", "second 3"));
    EXPECT_THAT(reasons(100, kBegin + 3s), ElementsAre("second 4", "second 3"));
    const Page<BalanceStepRecord> first = history(3).value();
    const Page<BalanceStepRecord> second = history(3, std::nullopt, std::stoll(first.next_after)).value();
    ASSERT_EQ(second.items.size(), 1U);
    EXPECT_EQ(second.items[0].step["reason"], "second 1");
    EXPECT_EQ(second.next_after, "");
    const Json json = to_json(first.items[0]);
    EXPECT_EQ(json["error"], 0.5);
    EXPECT_EQ(json["at"], "2026-11-20T11:00:04.000000Z");
    EXPECT_TRUE(json["job_id"].is_null());
    EXPECT_FALSE(json.contains("attempt"));
    EXPECT_EQ(history(1, std::nullopt, 9, {}, "gpu1").error().code, Errc::kNotFound);
}

TEST_F(BalanceTrace, KeepsSoManyStepsOfAUnitAndSoManyUnitsOfACenter)
{
    for (int i = 0; i < 7; ++i) {
        std::vector<BalanceStep> steps;
        for (int j = 0; j < 10; ++j)
            steps.push_back(step_at(10 * i + j));
        ASSERT_TRUE(tell(std::move(steps)));
    }
    EXPECT_EQ(store_.sql("SELECT count(*) || ' ' || min(number) FROM balance_step"), "50 21");
    ASSERT_TRUE(tell({step_at(1, "gpu1"), step_at(1, "gpu2"), step_at(1, "gpu3"), step_at(1, "gpu4")}, 5));
    EXPECT_EQ(store_.sql("SELECT string_agg(name || dropped_count, ' ' ORDER BY name) FROM balanced_unit"),
              "gpu00 gpu15 gpu25");
}

TEST_F(BalanceTrace, TakesNothingFromASessionThatIsOverAndNoNulCharacters)
{
    store_.sql("UPDATE center SET session_epoch = 7");
    const auto tell_as = [&](std::int64_t epoch) {
        return io_.run(service_.take_steps(Reporter(center_, epoch), BalanceSteps{{step_at(epoch)}, 0}));
    };
    EXPECT_EQ(tell_as(6).error().code, Errc::kUnavailable);
    EXPECT_TRUE(tell_as(7));
    BalanceStep wrong = step_at(9);
    wrong.faults = {std::string("a\0b", 3)};
    EXPECT_EQ(tell({wrong}).error().code, Errc::kInvalid);
    EXPECT_THAT(reasons(), ElementsAre("second 7"));
}

TEST_F(BalanceTrace, NamesAJobToWhoMayReadItOnly)
{
    store_.sql("INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('job_1', 'j', 'p', '{}', 'tok_a')");
    store_.sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, decided_by) "
               "SELECT 'att_1', 'job_1', 1, center_id, id, 1, 'running', 'r' FROM unit_type");
    ASSERT_TRUE(tell({step_at(1, "gpu0", "att_1")}));
    const auto job_for = [&](const JobScope& scope) {
        return history(1, std::nullopt, std::numeric_limits<std::int64_t>::max(), scope).value().items.at(0).job_id;
    };
    EXPECT_EQ(job_for({}), "job_1");
    EXPECT_EQ(job_for({"tok_a"}), "job_1");
    EXPECT_EQ(job_for({"tok_b"}), "");
    EXPECT_EQ(job_for({"tok_b", {"q", "p"}}), "job_1") << "of a project that it views";
    const auto listed_for = [&](const JobScope& scope) {
        return io_.run(service_.units("", 10, "", scope)).value().items.at(0).last->job_id;
    };
    EXPECT_EQ(listed_for({"tok_a"}), "job_1");
    EXPECT_EQ(listed_for({"tok_b"}), "");
    EXPECT_EQ(listed_for({"tok_b", {"p"}}), "job_1");
}

TEST_F(BalanceTrace, ListsUnitsWithTheirNewestStepPageByPage)
{
    ASSERT_TRUE(tell({step_at(1), step_at(2), step_at(5, "gpu1/b")}));
    const Page<BalancedUnitRecord> first = io_.run(service_.units("", 1, "", {})).value();
    ASSERT_EQ(first.items.size(), 1U);
    EXPECT_EQ(to_json(first.items[0])["last"]["reason"], "second 2");
    const Page<BalancedUnitRecord> second = io_.run(service_.units("alpha", 1, first.next_after, {})).value();
    ASSERT_EQ(second.items.size(), 1U);
    EXPECT_EQ(second.items[0].unit, "gpu1/b");
    EXPECT_EQ(second.next_after, "");
    EXPECT_TRUE(io_.run(service_.units("beta", 9, "", {})).value().items.empty());
}

TEST_F(BalanceTrace, AFollowerGetsWhatCameAfterAndWhatComes)
{
    ASSERT_TRUE(tell({step_at(1), step_at(2)}));
    BalanceFollowers followers(store_.database(), metrics_, {.look = 10ms, .most_followers = 1});
    const auto writer = std::make_shared<FollowerWriter>();
    auto place = followers.take_place();
    ASSERT_TRUE(place);
    EXPECT_EQ(followers.take_place().error().code, Errc::kTooMany);
    auto done = io_.spawn(followers.stream({{"alpha", "gpu0"}, 1, {}}, std::move(*place), writer));
    EXPECT_TRUE(eventually([&] { return writer->text().find("second 2") != std::string::npos; }));
    EXPECT_EQ(writer->text().find("second 1"), std::string::npos);

    // Another replica takes what the agent tells: all that they share is the database.
    BalanceService other(store_.database(), metrics_);
    ASSERT_TRUE(io_.run(other.take_steps(Reporter(center_), BalanceSteps{{step_at(3)}, 0})));
    EXPECT_TRUE(eventually([&] { return writer->text().find("second 3") != std::string::npos; }));
    EXPECT_THAT(writer->text(), HasSubstr("id: 3\nevent: balance\ndata: {"));

    store_.sql("DELETE FROM balance_step");
    store_.sql("DELETE FROM balanced_unit");
    EXPECT_NO_THROW(TestIo::get(std::move(done))) << "it ends with its unit";
    EXPECT_TRUE(followers.take_place());
}

/// The clock of a day to come.
class BalanceClock final : public Clock {
  public:
    explicit BalanceClock(std::chrono::days later) : later_(later) {}
    Timestamp now() const override { return SystemClock().now() + later_; }

  private:
    std::chrono::days later_;
};

TEST_F(BalanceTrace, GoesWhenItIsOldByOurOwnClock)
{
    ASSERT_TRUE(tell({step_at(1), step_at(2), step_at(3), step_at(400'000'000)}));
    const auto turn_after = [&](int days) {
        const BalanceClock clock{std::chrono::days(days)};
        RetentionTask task(store_.database(), clock, metrics_, {}, {.pause = 0ms, .rows = 2});
        return io_.run(task.turn()).value().balance_steps;
    };
    EXPECT_EQ(turn_after(6), 0);
    EXPECT_EQ(turn_after(8), 4) << "the center's clock does not count";
    EXPECT_EQ(store_.sql("SELECT count(*) FROM balanced_unit"), "0");
}

} // namespace
} // namespace fathom::server
