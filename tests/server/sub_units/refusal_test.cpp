// How an agent hears that what it has asked for was refused.
#include "server/store/notifier.hpp"
#include "tests/server/sub_units/broker_fixture.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace fathom::server {
namespace {

using fathom::test::eventually;
using test::BrokerFixture;

/// What a center's agent asks for; the message's id.
MessageId ask_as_agent(BrokerFixture& fixture, const CenterId& center, const std::string& action, std::int64_t count)
{
    MessageId message = MessageId::make();
    const link::SubUnitRequest request{"vgpu", action, count, ""};
    const Result<void> taken = fixture.io.run(fixture.service.take_request(Reporter(center), message, request));
    EXPECT_TRUE(taken) << describe(taken.error());
    return message;
}

TEST(SubUnitRefusal, IsToldToTheAgentUntilItAsksAnew)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    EXPECT_FALSE(fixture.target(one).refusal) << "it has asked for nothing";
    const MessageId asked = ask_as_agent(fixture, one, "release", 4);
    EXPECT_FALSE(fixture.target(one).refusal) << "it is under way";
    fixture.follow(one);
    fixture.refuse(one, "the driver is busy");

    const std::optional<link::SubUnitRefusal> refusal = fixture.target(one).refusal;
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->request, asked);
    EXPECT_EQ(refusal->reason, "the driver is busy");
    fixture.settle();
    EXPECT_TRUE(fixture.target(one).refusal) << "said again in each connection";

    ask_as_agent(fixture, one, "gain", 1);
    EXPECT_FALSE(fixture.target(one).refusal);
}

TEST(SubUnitRefusal, OfAGrantThatItsCenterCannotTakeIsToldToo)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    const CenterId two = fixture.add("II", 0);
    const MessageId asked = ask_as_agent(fixture, two, "gain", 4);
    fixture.ask("I", "release", 4).value();
    while (fixture.grants().empty())
        fixture.follow(one);
    fixture.refuse(two, "no free slot");

    const std::optional<link::SubUnitRefusal> refusal = fixture.target(two).refusal;
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->request, asked);
    EXPECT_EQ(refusal->reason, "no free slot");
    EXPECT_FALSE(fixture.target(one).refusal);
}

TEST(SubUnitRefusal, OfWhatAPersonHasAskedForIsNotTheAgents)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    fixture.ask("I", "release", 4).value();
    fixture.follow(one);
    fixture.refuse(one, "the driver is busy");

    EXPECT_FALSE(fixture.target(one).refusal);
}

TEST(SubUnitRefusal, WakesTheAgentsSessionAlthoughTheTargetStays)
{
    BrokerFixture fixture;
    const CenterId one = fixture.add("I", 10);
    std::atomic<bool> listens = false;
    std::atomic<int> woken = 0;
    Notifier notifier(fixture.store.url());
    notifier.subscribe("test", [&](const std::string&) { listens = true; });
    notifier.subscribe("sub_unit", [&](const std::string& center) { woken += center == one.value ? 1 : 0; });
    notifier.start();
    EXPECT_TRUE(eventually([&] {
        fixture.store.sql("SELECT pg_notify('fathom', 'test x')");
        return listens.load();
    }));
    fixture.share(one, 15);
    const MessageId asked = ask_as_agent(fixture, one, "release", 12); // waits: the center is told of its new total
    fixture.share(one, 3);
    const std::int64_t version = fixture.target(one).version;
    EXPECT_TRUE(eventually([&] { return woken == 2; })) << "by two targets";

    fixture.follow(one);

    EXPECT_EQ(fixture.target(one).version, version);
    const std::optional<link::SubUnitRefusal> refusal = fixture.target(one).refusal;
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->request, asked);
    EXPECT_EQ(refusal->reason, "the center has only 3 sub-units");
    EXPECT_TRUE(eventually([&] { return woken == 3; }));
    notifier.stop();
}

} // namespace
} // namespace fathom::server
