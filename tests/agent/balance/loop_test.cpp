#include "agent/balance/balance_service.hpp"
#include "agent/balance/precision_hook.hpp"
#include "agent/balance/processor_clock.hpp"
#include "agent/balance/put_back.hpp"
#include "agent/balance/sub_unit_actuator.hpp"
#include "agent/balance/trace_reader.hpp"
#include "agent/executor/local/attempt_folder.hpp"
#include "tests/agent/balance/loop_fixture.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

using namespace test;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// A clock that the driver refuses.
class RefusedClock final : public Actuator {
  public:
    ActuatorKind kind() const override { return ActuatorKind::kClock; }
    Result<void> look(UnitPosition& position) override
    {
        position.clock = ClockPosition{1500, 1000, 3000};
        return {};
    }
    Json undo() const override { return {{"kind", "files"}, {"files", Json::array()}}; }
    Result<void> act(const BalanceActions&, std::optional<std::int64_t>) override
    {
        ++asked;
        return Error{Errc::kForbidden, "refused: not root"};
    }

    int asked = 0;
};

/// A clock that can be set, and not put back.
class StuckClock final : public Actuator {
  public:
    ActuatorKind kind() const override { return ActuatorKind::kClock; }
    Result<void> look(UnitPosition& position) override
    {
        position.clock = ClockPosition{1500, 1000, 3000};
        return {};
    }
    Json undo() const override { return {{"kind", "of a later agent"}}; }
    void was_put_back() override { is_put_back = true; }
    Result<void> act(const BalanceActions&, std::optional<std::int64_t>) override { return {}; }

    bool is_put_back = false;
};

TEST_F(BalanceLoop, ActsInOrderWithTheJournalOnDiskFirst)
{
    UnitLoop loop = make(clock_and_sub_units());
    const TraceStep step = loop.step(Timestamp(), {host_.run_job()}).value();

    EXPECT_EQ(step.step.outcome, StepOutcome::kActed) << step.step.reason;
    EXPECT_GT(step.step.actions.sub_units, 0);
    ASSERT_EQ(sub_units_.requests.size(), 1U);
    EXPECT_EQ(sub_units_.requests[0].wanted, 50) << "10 times 1.0 / 0.2";
    EXPECT_EQ(limit(), std::to_string((1500 + step.step.actions.clock_mhz) * 1000));
    const BalanceJournal on_disk = BalanceJournal::open(host_.journal()).value();
    EXPECT_EQ(on_disk.entries().size(), 2U);
    EXPECT_EQ(on_disk.entries().at({"pair", "clock"})["files"][0]["content"], "1500000");
}

TEST_F(BalanceLoop, PutsEverythingBackWhenTheJobEnds)
{
    UnitLoop loop = make(clock_and_sub_units());
    const UnitJob job = host_.run_job();
    for (int i = 0; i < 3; ++i)
        loop.step(Timestamp(), {job});
    ASSERT_NE(limit(), "1500000");

    EXPECT_FALSE(loop.step(Timestamp(), {})) << "without a job there is nothing to say";
    EXPECT_EQ(limit(), "1500000");
    EXPECT_EQ(sub_units_.held("pair").value(), 10);
    EXPECT_FALSE(is_there(host_.journal()));
}

TEST_F(BalanceLoop, GivesBackAfterAKillWhatIsGrantedLate)
{
    SlowSubUnits broker;
    SubUnitActuator actuator("pair", broker);
    UnitPosition position;
    actuator.look(position).value();
    journal_.note("pair", "sub-units", actuator.undo()).value();
    const auto put_back_once = [&] { // as a start after a kill
        BalanceJournal journal = BalanceJournal::open(host_.journal()).value();
        return put_all_back(journal, broker, [](const std::string&) { return true; });
    };

    EXPECT_EQ(put_back_once(), 0U);
    ASSERT_EQ(broker.requests.size(), 1U);
    EXPECT_EQ(broker.requests[0].change, 0) << "what was asked for is withdrawn";
    EXPECT_TRUE(is_there(host_.journal())) << "it may be granted before it is withdrawn";
    broker.count = 50;
    EXPECT_EQ(put_back_once(), 0U);
    ASSERT_EQ(broker.requests.size(), 2U);
    EXPECT_EQ(broker.requests[1].change, -40);
    EXPECT_TRUE(is_there(host_.journal())) << "it may be refused";
    broker.count = 10;
    EXPECT_EQ(put_back_once(), 1U);
    EXPECT_EQ(broker.requests.size(), 2U);
    EXPECT_FALSE(is_there(host_.journal()));
}

TEST_F(BalanceLoop, GivesBackWhatIsGrantedAfterTheJobHasEnded)
{
    SlowSubUnits broker;
    std::vector<std::unique_ptr<Actuator>> actuators;
    actuators.push_back(std::make_unique<SubUnitActuator>("pair", broker));
    RegulatorSettings regulator;
    regulator.pause_periods = 0;
    UnitLoop loop({.unit = "pair", .dry_run = false, .regulator = regulator},
                  std::make_unique<FakeSensor>(occupancies_), std::move(actuators), journal_, broker);
    loop.step(Timestamp(), {host_.run_job()});
    loop.step(Timestamp(), {});
    ASSERT_EQ(broker.requests.size(), 2U) << "the gain, and its withdrawal";
    broker.count = 50;
    for (int i = 0; i < 30; ++i)
        loop.step(Timestamp(), {});
    ASSERT_EQ(broker.requests.size(), 3U);
    EXPECT_EQ(broker.requests[2].change, -40);
    broker.refuse("a job holds them");
    for (int i = 0; i < 30; ++i)
        loop.step(Timestamp(), {});
    ASSERT_EQ(broker.requests.size(), 4U) << "asked for again";
    EXPECT_EQ(broker.requests[3].change, -40);
    EXPECT_TRUE(is_there(host_.journal()));
    broker.count = 10;
    for (int i = 0; i < 60; ++i)
        loop.step(Timestamp(), {});
    EXPECT_EQ(broker.requests.size(), 4U);
    EXPECT_FALSE(is_there(host_.journal()));
}

TEST_F(BalanceLoop, SaysOnceThatTheBrokerHasRefusedAndGoesOnWithTheClock)
{
    SlowSubUnits broker;
    std::vector<std::unique_ptr<Actuator>> actuators;
    actuators.push_back(std::make_unique<SubUnitActuator>("pair", broker));
    actuators.push_back(std::make_unique<ProcessorClock>(host_.unit(), host_.files()));
    RegulatorSettings regulator;
    regulator.pause_periods = 0;
    UnitLoop loop({.unit = "pair", .dry_run = false, .regulator = regulator},
                  std::make_unique<FakeSensor>(occupancies_), std::move(actuators), journal_, broker);
    const UnitJob job = host_.run_job();
    loop.step(Timestamp(), {job});
    ASSERT_EQ(broker.requests.size(), 1U);
    broker.refuse("the center has only 3 sub-units");

    const TraceStep refused = loop.step(Timestamp(), {job}).value();
    EXPECT_EQ(refused.step.outcome, StepOutcome::kActed) << refused.step.reason;
    EXPECT_THAT(refused.faults, Contains("sub_units: refused: the center has only 3 sub-units"));
    const std::string clock = limit();
    const TraceStep next = loop.step(Timestamp(), {job}).value();
    EXPECT_THAT(next.faults, Contains("sub_units: refused: the center has only 3 sub-units"));
    EXPECT_EQ(next.step.actions.sub_units, 0);
    EXPECT_NE(limit(), clock) << "the others go on";
    EXPECT_EQ(broker.requests.size(), 1U) << "it is left alone for a while";
    for (int i = 0; i < 30; ++i)
        loop.step(Timestamp(), {job});
    EXPECT_GT(broker.requests.size(), 1U) << "and asked again then";
}

TEST_F(BalanceLoop, WithdrawsWhatIsAskedForAnewAfterAnEarlierWithdrawal)
{
    SlowSubUnits broker;
    const Json undo = {{"kind", "sub_units"}, {"unit", "pair"}, {"count", 10}};
    const auto put_all = [&] { put_all_back(journal_, broker, [](const std::string&) { return true; }); };
    journal_.note("pair", "sub-units", undo).value();
    put_all();
    journal_.note("pair", "sub-units", undo).value();
    put_all();
    EXPECT_EQ(broker.requests.size(), 2U);
    EXPECT_TRUE(is_there(host_.journal()));
    put_all();
    EXPECT_EQ(broker.requests.size(), 2U) << "nothing was granted";
    EXPECT_FALSE(is_there(host_.journal()));
}

TEST_F(BalanceLoop, PutsEverythingBackWhenItEnds)
{
    UnitLoop loop = make(clock_and_sub_units());
    loop.step(Timestamp(), {host_.run_job()});
    loop.end();
    EXPECT_EQ(limit(), "1500000");
    EXPECT_EQ(sub_units_.held("pair").value(), 10);
}

TEST_F(BalanceLoop, OnlySaysWhatItWouldDoInADryRun)
{
    UnitLoop loop = make(clock_and_sub_units(), true);
    const TraceStep step = loop.step(Timestamp(), {host_.run_job()}).value();

    EXPECT_EQ(step.step.outcome, StepOutcome::kActed);
    EXPECT_TRUE(step.step.actions.any());
    EXPECT_TRUE(step.is_dry_run);
    EXPECT_EQ(limit(), "1500000");
    EXPECT_THAT(sub_units_.requests, IsEmpty());
    EXPECT_FALSE(is_there(host_.journal()));
}

TEST_F(BalanceLoop, GoesOnWithOthersWhereAnActuatorIsMissingOrRefused)
{
    std::vector<std::unique_ptr<Actuator>> actuators;
    actuators.push_back(std::make_unique<SubUnitActuator>("pair", sub_units_));
    auto refused = std::make_unique<RefusedClock>();
    const RefusedClock& clock = *refused;
    actuators.push_back(std::move(refused));
    UnitLoop loop = make(std::move(actuators));
    const UnitJob job = host_.run_job();

    const TraceStep first = loop.step(Timestamp(), {job}).value();
    EXPECT_THAT(first.faults, Contains("precision: absent"));
    EXPECT_THAT(first.faults, Contains("clock: refused: not root"));
    const TraceStep second = loop.step(Timestamp(), {job}).value();
    EXPECT_THAT(second.faults, Contains("clock: refused: not root"));
    EXPECT_EQ(second.step.actions.clock_mhz, 0);
    EXPECT_EQ(clock.asked, 1) << "it is left alone for a while";
    loop.step(Timestamp(), {job});
    EXPECT_EQ(clock.asked, 1);
    EXPECT_EQ(sub_units_.requests.size(), 2U);
}

TEST_F(BalanceLoop, DoesNotActOnAPeriodInWhichSubUnitsCameOrWent)
{
    SlowSubUnits broker;
    broker.count = 100;
    std::vector<std::unique_ptr<Actuator>> actuators;
    actuators.push_back(std::make_unique<SubUnitActuator>("pair", broker));
    RegulatorSettings regulator;
    regulator.pause_periods = 0;
    UnitLoop loop({.unit = "pair", .dry_run = false, .regulator = regulator},
                  std::make_unique<FakeSensor>(occupancies_), std::move(actuators), journal_, broker);
    const UnitJob job = host_.run_job();
    occupancies_ = Occupancies{1.0, 0.5};
    loop.step(Timestamp(), {job});
    ASSERT_EQ(broker.requests.size(), 1U);
    EXPECT_EQ(broker.requests[0].wanted, 50);

    broker.count = 50;
    occupancies_ = Occupancies{1.0, 0.75}; // half the period had 100, the other half 50
    const TraceStep mixed = loop.step(Timestamp(), {job}).value();
    EXPECT_EQ(mixed.step.outcome, StepOutcome::kNoSample);
    EXPECT_THAT(mixed.step.reason, HasSubstr("sub-units came or went in this period"));
    EXPECT_EQ(broker.requests.size(), 1U) << "else it would give up what it needs";
    occupancies_ = Occupancies{1.0, 1.0};
    EXPECT_EQ(loop.step(Timestamp(), {job})->step.outcome, StepOutcome::kInBand);
    EXPECT_EQ(broker.requests.size(), 1U);
}

TEST_F(BalanceLoop, ChangesNothingThatItCannotNoteBefore)
{
    std::filesystem::create_directories(host_.journal() / "in the way"); // a folder where the file should be
    UnitLoop loop = make(clock_and_sub_units());
    const TraceStep step = loop.step(Timestamp(), {host_.run_job()}).value();
    EXPECT_EQ(limit(), "1500000");
    EXPECT_THAT(sub_units_.requests, IsEmpty());
    EXPECT_EQ(step.faults.size(), 3U);
}

TEST_F(BalanceLoop, DoesNothingWithoutASampleAndSaysWhy)
{
    occupancies_ = Error{Errc::kUnavailable, "absent: counters of what is moved"};
    UnitLoop loop = make(clock_and_sub_units());
    const TraceStep step = loop.step(Timestamp(), {host_.run_job()}).value();
    EXPECT_EQ(step.step.outcome, StepOutcome::kNoSample);
    EXPECT_EQ(step.step.reason, "no sample: absent: counters of what is moved");
    EXPECT_TRUE(to_json(step)["P_p"].is_null()) << "never zero";
}

TEST_F(BalanceLoop, DoesNotActOnAPeriodThatBeganTooLongAgo)
{
    RegulatorSettings regulator;
    regulator.pause_periods = 0;
    regulator.most_sample_age_s = 0.01;
    UnitLoop loop({.unit = "pair", .dry_run = false, .regulator = regulator, .period_s = 0.01},
                  std::make_unique<FakeSensor>(occupancies_), clock_and_sub_units(), journal_, sub_units_);
    const UnitJob job = host_.run_job();
    ASSERT_EQ(loop.step(Timestamp(), {job})->step.outcome, StepOutcome::kActed);
    const std::size_t asked = sub_units_.requests.size();
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // as a process that was stopped
    const TraceStep step = loop.step(Timestamp(), {job}).value();

    EXPECT_EQ(step.step.outcome, StepOutcome::kNoSample);
    EXPECT_THAT(step.step.reason, HasSubstr("instead of 0.01 s: what was counted is too old"));
    EXPECT_EQ(sub_units_.requests.size(), asked);
}

TEST_F(BalanceLoop, DoesNotTakeForPutBackWhatCouldNotBe)
{
    auto stuck = std::make_unique<StuckClock>();
    const StuckClock& clock = *stuck;
    std::vector<std::unique_ptr<Actuator>> actuators;
    actuators.push_back(std::move(stuck));
    UnitLoop loop = make(std::move(actuators));
    loop.step(Timestamp(), {host_.run_job()});
    ASSERT_EQ(journal_.entries().size(), 1U);
    loop.end();

    EXPECT_EQ(journal_.entries().size(), 1U);
    EXPECT_FALSE(clock.is_put_back) << "it stands where it was set";
}

TEST_F(BalanceLoop, AsksAJobForAnotherPrecisionWithinItsRange)
{
    const UnitJob job = host_.run_job({{"FATHOM_PRECISION_RANGE", "int8..fp32"}});
    UnitJobs jobs(host_.attempts());
    jobs.refresh();
    const std::vector<UnitJob> on_unit = jobs.on(host_.unit());
    ASSERT_EQ(on_unit.size(), 1U);
    ASSERT_EQ(on_unit[0].precision, (PrecisionRange{Precision::kInt8, Precision::kFp32}));
    UnitLoop loop = make({});
    occupancies_ = Occupancies{0.1, 1.0};

    const TraceStep before = loop.step(Timestamp(), on_unit).value();
    EXPECT_THAT(before.faults, Contains("precision: absent: the job has not said which precision it computes in"));
    write(job.work / kPrecisionAckFile, "fp32\n");
    const TraceStep step = loop.step(Timestamp(), on_unit).value();
    EXPECT_EQ(step.step.actions.precision_steps, -2);
    EXPECT_EQ(read(job.work / kPrecisionFile), "int8\n");
    EXPECT_THAT(loop.step(Timestamp(), on_unit)->faults, Contains("precision: the job has not acknowledged yet: int8"));
    write(job.work / kPrecisionAckFile, "int8");
    EXPECT_THAT(loop.step(Timestamp(), on_unit)->faults, testing::Not(Contains(StartsWith("precision"))));
    loop.end();
    EXPECT_EQ(read(job.work / kPrecisionFile), "fp32\n") << "put back while the job runs on";
}

TEST_F(BalanceLoop, WritesNothingThroughALinkThatAJobHasLaid)
{
    const UnitJob job = host_.run_job();
    write(host_.traces() / "precious", "keep me");
    std::filesystem::create_symlink(host_.traces() / "precious", job.work / kPrecisionFile);
    std::filesystem::create_symlink(host_.traces() / "precious", job.work / ".fathom-precision-new");
    ASSERT_TRUE(write_precision(job.work, job.uid, "fp16"));
    EXPECT_EQ(read(host_.traces() / "precious"), "keep me");
    EXPECT_EQ(read(job.work / kPrecisionFile), "fp16\n");
}

TEST_F(BalanceLoop, KnowsWhichJobsRunOnAUnit)
{
    UnitJobs jobs(host_.attempts());
    const UnitJob job = host_.run_job();
    BalancedUnit other = host_.unit();
    other.cpus = {1};
    jobs.refresh();
    EXPECT_EQ(jobs.on(host_.unit()).size(), 1U);
    EXPECT_THAT(jobs.on(other), IsEmpty()) << "it has processor 0";
    host_.end_job(job);
    jobs.refresh();
    EXPECT_THAT(jobs.on(host_.unit()), IsEmpty());
}

} // namespace
} // namespace fathom::agent
