// How those who balance units hear that a request of sub-units was refused.
#include "agent/app/shared_sub_units.hpp"
#include "agent/app/sub_unit_keeper.hpp"
#include "agent/app/sub_unit_request.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/fake_executor.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

SubUnitRule part_rule()
{
    return {.kind = "vgpu", .unit_type = "part", .total = 100};
}

bool holds_nothing(const std::string&, std::int64_t)
{
    return false;
}

TEST(SubUnitRefusals, OfThisCentersTargetsOutliveARestart)
{
    SubUnits before = SubUnits::make({part_rule()}, "").value();
    before.take({"vgpu", 1, 100, 100});
    before.done(before.next(holds_nothing).value());
    before.take({"vgpu", 2, 150, 150});
    before.refuse(before.next(holds_nothing).value(), "no slot");

    SubUnits after = SubUnits::make({part_rule()}, before.stored()).value();

    EXPECT_FALSE(after.next(holds_nothing)) << "others may have by now what the target named";
    EXPECT_EQ(after.state().holdings.at(0).refused_version, 2);
    EXPECT_EQ(after.state().holdings.at(0).refusal, "no slot");
    after.take({"vgpu", 3, 100, 100});
    EXPECT_TRUE(after.next(holds_nothing).value().moves) << "what the failed program has done is not known";
}

TEST(SubUnitRefusals, OfRequestsAreNewOnceAndOutliveARestart)
{
    SubUnits sub_units = SubUnits::make({part_rule()}, "").value();
    link::SubUnitTarget target{"vgpu", 1, 100, 100};
    EXPECT_FALSE(sub_units.hear_refusal(target)) << "there is none";
    EXPECT_FALSE(sub_units.last_refusal("vgpu"));
    target.refusal = link::SubUnitRefusal{MessageId::make(), "the driver is busy"};
    EXPECT_TRUE(sub_units.hear_refusal(target));
    EXPECT_FALSE(sub_units.hear_refusal(target));

    SubUnits after = SubUnits::make({part_rule()}, sub_units.stored()).value();
    EXPECT_FALSE(after.hear_refusal(target)) << "said again in a new connection";
    EXPECT_EQ(after.last_refusal("vgpu").value().reason, "the driver is busy");
    EXPECT_EQ(after.last_refusal("vgpu").value().request, target.refusal->request);

    const link::SubUnitRefusal untaken{MessageId::make(), std::string(5000, 'x')};
    EXPECT_TRUE(after.note_refusal("vgpu", untaken));
    EXPECT_FALSE(after.hear_refusal(target)) << "it is older";
    EXPECT_EQ(after.last_refusal("vgpu").value().request, untaken.request);
    EXPECT_EQ(after.last_refusal("vgpu").value().reason.size(), 1000U);
    EXPECT_FALSE(after.note_refusal("mig", untaken));
    target.kind = "mig";
    EXPECT_FALSE(after.hear_refusal(target));
    EXPECT_TRUE(SubUnits::make({part_rule()}, after.stored()));
}

/// An agent's sub-units in a folder of their own, a loop that asks for some, and a metascheduler that is played.
class RefusedRequest : public testing::Test {
  protected:
    void SetUp() override
    {
        ASSERT_TRUE(keeper_.load({part_rule()}));
        keeper_.serve(book_, conversation_, [] {});
        conversation_.connected({[this](std::string text) {
                                     said_.push_back(std::get<link::Message>(link::decode(text)));
                                     return true;
                                 },
                                 [](const std::string&) {}});
        hear(link::Welcome());
        hear(link::SubUnitTarget{"vgpu", 1, 100, 100});
        ASSERT_EQ(loop_.held("part").value(), 100);
    }
    void hear(link::Body body)
    {
        conversation_.receive(link::make_message(std::move(body)));
        io_.restart();
        io_.poll(); // what the keeper does with it
    }
    /// What the loop asks for, as far as it is passed on. @return what it is answered
    Result<void> ask()
    {
        const Result<void> asked = loop_.ask({.unit = "part", .held = 100, .change = 4, .wanted = 120});
        if (const std::optional<Result<link::SubUnitRequest>> request = file_.find()) {
            conversation_.request_sub_units(request->value()).value();
            file_.remove();
        }
        return asked;
    }
    /// Ids of the requests that the metascheduler has heard.
    std::vector<MessageId> requests() const
    {
        std::vector<MessageId> ids;
        for (const link::Message& message : said_) {
            if (std::holds_alternative<link::SubUnitRequest>(message.body)) ids.push_back(message.id);
        }
        return ids;
    }

    SystemClock clock_;
    test::TemporaryFolder folder_;
    boost::asio::io_context io_;
    Spool spool_ = Spool::open(folder_.path() / "spool.db").value();
    test::FakeExecutor executor_;
    AttemptBook book_{spool_, executor_, clock_, test::core_plan(1), BookOptions()};
    Conversation conversation_{spool_, book_, Catalog()};
    SubUnitKeeper keeper_{io_.get_executor(), io_.get_executor(), folder_.path() / "sub-units.json"};
    SubUnitRequestFile file_{folder_.path()};
    SharedSubUnits loop_{OpenFile(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                         ::geteuid(),
                         ::getegid(),
                         {part_rule()}};
    std::vector<link::Message> said_;
};

TEST_F(RefusedRequest, ThatWasNotTakenIsSaidOnceToWhoAsked)
{
    ASSERT_TRUE(ask());
    ASSERT_EQ(requests().size(), 1U);
    hear(link::Ack{requests()[0], Error{Errc::kInvalid, "conflict: center I has only 3 sub-units"}});

    const Result<void> refused = ask();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kForbidden);
    EXPECT_EQ(refused.error().detail, "refused: conflict: center I has only 3 sub-units");
    EXPECT_EQ(requests().size(), 1U) << "this one is not passed on";
    EXPECT_TRUE(ask());
    EXPECT_EQ(requests().size(), 2U);
    hear(link::Ack{requests()[1], std::nullopt});
    EXPECT_TRUE(ask()) << "it was taken";
}

TEST_F(RefusedRequest, ThatWasTakenIsSaidOnceHoweverOftenItIsTold)
{
    ASSERT_TRUE(ask());
    hear(link::Ack{requests().at(0), std::nullopt});
    link::SubUnitTarget target{"vgpu", 1, 100, 100};
    target.refusal = link::SubUnitRefusal{requests()[0], "the driver is busy"};
    hear(target);

    EXPECT_EQ(ask().error().detail, "refused: the driver is busy");
    EXPECT_TRUE(ask());
    hear(target);
    EXPECT_TRUE(ask());
    EXPECT_EQ(loop_.held("part").value(), 100);
}

TEST_F(RefusedRequest, OfSomebodyElseOrOfAnEarlierTimeIsNotTheLoops)
{
    link::SubUnitTarget target{"vgpu", 1, 100, 100};
    target.refusal = link::SubUnitRefusal{MessageId::make(), "the driver is busy"};
    hear(target);

    ASSERT_TRUE(loop_.last_refusal("part"));
    EXPECT_EQ(loop_.last_refusal("part")->reason, "the driver is busy");
    EXPECT_FALSE(loop_.last_refusal("core"));
    EXPECT_TRUE(ask()) << "it has asked for nothing yet";
    EXPECT_TRUE(ask());
}

TEST_F(RefusedRequest, IsOnlyOfSubUnits)
{
    conversation_.request_probes("memory replaced").value();
    hear(link::Ack{said_.back().id, Error{Errc::kInvalid, "no"}});

    EXPECT_FALSE(loop_.last_refusal("part"));
}

} // namespace
} // namespace fathom::agent
