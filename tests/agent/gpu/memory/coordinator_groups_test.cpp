// What programs tell the memory manager of the communicators that they are in.
#include "agent/gpu/memory/coordinator.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fathom::gpu {
namespace {

constexpr std::int64_t kGroupBytes = 2LL << 20U;

class GpuGroups : public testing::Test {
  protected:
    void connect(ClientId id, const std::string& job, uid_t user = 1000)
    {
        all_.connect(id, 100 + static_cast<std::int64_t>(id), user);
        all_.receive(id, with_text({.type = MessageType::kHello, .second = 1000}, job), now_);
    }
    void join(ClientId id, const std::string& name = "", std::int64_t ranks = 2)
    {
        all_.receive(id, with_text({.type = MessageType::kCommunicator, .first = 1, .second = ranks}, name), now_);
    }
    void use(ClientId id, const std::string& gpu)
    {
        all_.receive(id, with_text({.type = MessageType::kUseGpu, .second = kGroupBytes, .third = kGroupBytes}, gpu),
                     now_);
    }
    void say(ClientId id, MessageType type, std::int64_t first = 0)
    {
        all_.receive(id, {.type = type, .first = first}, now_);
    }
    std::vector<Message> heard_by(ClientId id)
    {
        all_.tick(now_);
        for (const Outgoing& one : all_.take_outgoing())
            heard_[one.to].push_back(one.message);
        return std::exchange(heard_[id], {});
    }
    bool hears(ClientId id, MessageType type)
    {
        const std::vector<Message> heard = heard_by(id);
        return std::any_of(heard.begin(), heard.end(), [&](const Message& one) { return one.type == type; });
    }
    /// Programs 1 and 2 are alone on GPU-1 and GPU-2, then 3 and 4 come to GPU-2 and GPU-1.
    void share(const std::string& job, const std::string& other_job)
    {
        connect(1, job);
        connect(2, job);
        connect(3, other_job);
        connect(4, other_job);
        for (const ClientId id : {1U, 2U, 3U, 4U})
            join(id, "communicator " + std::to_string(id > 2));
        use(1, "GPU-1");
        use(2, "GPU-2");
        use(3, "GPU-2");
        use(4, "GPU-1");
    }

    /// Program 9 wants the GPU always and gives it back at once; who hangs is ended.
    void step()
    {
        say(9, MessageType::kGiveBack);
        say(9, MessageType::kWant);
        for (const ClientId hung : all_.take_hung())
            all_.disconnect(hung, now_);
    }

    static Coordinator make()
    {
        CoordinatorSettings settings;
        settings.gpus = {{"GPU-1", 32 * kGroupBytes}, {"GPU-2", 32 * kGroupBytes}};
        settings.gap_bytes = 0;
        settings.settle_s = 0;
        settings.turns = {.slice_s = 1, .most_slice_s = 2, .most_wait_s = 20, .most_overrun_s = 30};
        return Coordinator::make(settings, 0).value();
    }

    double now_ = 0;
    Coordinator all_ = make();
    std::map<ClientId, std::vector<Message>> heard_;
};

TEST_F(GpuGroups, ThoseOfAJobHaveTheirTurnsTogetherAndEndThemWithIterations)
{
    share("first", "second");
    EXPECT_FALSE(hears(1, MessageType::kEndNow)) << "who was alone goes on";
    EXPECT_FALSE(hears(2, MessageType::kEndNow));
    say(3, MessageType::kWant);
    say(4, MessageType::kWant);
    now_ = 5; // beyond the longest slice
    const std::vector<Message> told = heard_by(1);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told.front().type, MessageType::kEndAfterIteration);
    now_ = 8;
    EXPECT_FALSE(hears(1, MessageType::kEndNow));

    say(1, MessageType::kGiveBack);
    EXPECT_FALSE(hears(4, MessageType::kTurn)) << "GPU-2 is held still";
    say(2, MessageType::kGiveBack);
    EXPECT_TRUE(hears(3, MessageType::kTurn));
    EXPECT_TRUE(hears(4, MessageType::kTurn));
}

TEST_F(GpuGroups, WithoutAJobsNameTheyAreKnownByTheirCommunicator)
{
    share("", "");
    say(3, MessageType::kWant);
    say(1, MessageType::kGiveBack);
    say(4, MessageType::kWant);
    EXPECT_FALSE(hears(4, MessageType::kTurn));
    say(2, MessageType::kGiveBack);
    EXPECT_TRUE(hears(3, MessageType::kTurn));
    EXPECT_TRUE(hears(4, MessageType::kTurn));
}

TEST_F(GpuGroups, WhoGaveItsTurnBackTooEarlyIsToldHowFarToGo)
{
    share("first", "second");
    say(3, MessageType::kWant);
    now_ = 1;
    (void)heard_by(1);
    say(2, MessageType::kCollectives, 5);
    say(2, MessageType::kGiveBack);
    say(2, MessageType::kWant);
    say(1, MessageType::kCollectives, 8);
    now_ = 1.5;

    const std::vector<Message> told = heard_by(2);

    const auto turn =
        std::find_if(told.begin(), told.end(), [](const Message& one) { return one.type == MessageType::kTurn; });
    ASSERT_NE(turn, told.end());
    EXPECT_EQ(turn->first, 8);
}

TEST_F(GpuGroups, OfAnotherUsersJobNobodyIs)
{
    connect(1, "first", 1000);
    connect(2, "first", 1001); // the name is taken
    join(1);
    join(2);
    use(1, "GPU-1");
    use(2, "GPU-2");
    connect(3, "second");
    use(3, "GPU-2");
    say(3, MessageType::kWant);
    say(2, MessageType::kGiveBack);

    EXPECT_TRUE(hears(3, MessageType::kTurn)) << "what is the first user's on GPU-1 is nothing to it";
}

TEST_F(GpuGroups, WhoLeavesItsCommunicatorIsHeldBackBetweenKernelsAgain)
{
    share("first", "second");
    for (const ClientId id : {1U, 2U, 3U, 4U})
        all_.receive(id, {.type = MessageType::kCommunicator, .first = 0, .second = 2}, now_);
    say(4, MessageType::kWant);
    now_ = 1;
    (void)heard_by(1);
    now_ = 2.5;
    EXPECT_TRUE(hears(1, MessageType::kEndNow));
}

/// Messages that make no sense change nothing, and whatever programs say, what the others wait for comes.
RC_GTEST_FIXTURE_PROP(GpuGroups, LiesHoldNobodyUpForEver, ())
{
    connect(9, "honest", 2000);
    use(9, "GPU-1");
    for (const ClientId id : {1U, 2U, 3U})
        connect(id, *rc::gen::element<std::string>("a", "b", ""));
    const int steps = *rc::gen::inRange(1, 200);
    for (int i = 0; i < steps; ++i) {
        const auto id = static_cast<ClientId>(*rc::gen::inRange(1, 4));
        Message message;
        message.type = static_cast<MessageType>(*rc::gen::inRange(2, 14));
        message.first = *rc::gen::element<std::int64_t>(-1, 0, 1, 2, 1'000'000'000'000);
        message.second = *rc::gen::element<std::int64_t>(-1, 0, 1, 2, 3, 1'000'000'000'000);
        message = with_text(message, *rc::gen::element<std::string>("", "GPU-1", "GPU-2", "x", "\xff"));
        all_.receive(id, message, now_);
        now_ += *rc::gen::element(0.0, 0.5, 3.0);
        all_.tick(now_);
        step();
    }
    (void)heard_by(9); // turns of before
    bool has_turn = false;
    for (int i = 0; i < 400 && !has_turn; ++i) {
        has_turn = hears(9, MessageType::kTurn) || all_.report().gpus.at(0).jobs.size() == 1;
        now_ += 1;
        step();
    }
    RC_ASSERT(has_turn);
}

} // namespace
} // namespace fathom::gpu
