// Programs on several GPUs that are alone no longer.
#include "agent/gpu/memory/coordinator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace fathom::gpu {
namespace {

constexpr std::int64_t kSomeBytes = 2LL << 20U;

class TwoGpus {
  public:
    void use(ClientId id, const std::string& gpu)
    {
        if (known_.insert(id).second) {
            all_.connect(id, 100 + static_cast<std::int64_t>(id));
            all_.receive(id, {.type = MessageType::kHello, .second = 1000}, 0);
        }
        all_.receive(id, with_text({.type = MessageType::kUseGpu, .second = kSomeBytes, .third = kSomeBytes}, gpu), 0);
    }
    std::vector<Message> heard_by(ClientId id)
    {
        std::vector<Message> heard;
        for (const Outgoing& one : all_.take_outgoing()) {
            if (one.to == id) heard.push_back(one.message);
        }
        return heard;
    }

  private:
    static Coordinator make()
    {
        CoordinatorSettings settings;
        settings.gpus = {{"GPU-1", 32 * kSomeBytes}, {"GPU-2", 32 * kSomeBytes}};
        settings.gap_bytes = 0;
        settings.settle_s = 0;
        return Coordinator::make(settings, 0).value();
    }

    Coordinator all_ = make();
    std::set<ClientId> known_;
};

/// A program takes its memory away only where it knows that it has the turn.
void expect_to_end_its_turn(const std::vector<Message>& heard)
{
    ASSERT_GE(heard.size(), 2U);
    EXPECT_EQ(heard[0].type, MessageType::kShared);
    EXPECT_EQ(heard[0].first, 1);
    EXPECT_EQ(heard[0].second, 1);
    EXPECT_EQ(heard[1].type, MessageType::kEndNow);
}

TEST(GpuCoordinator, WhoWasAloneAndComesBesideOthersOnAnotherGpuGivesBackWhatItHas)
{
    TwoGpus all;
    all.use(1, "GPU-1");
    all.use(2, "GPU-2");
    (void)all.heard_by(1);

    all.use(1, "GPU-2");

    expect_to_end_its_turn(all.heard_by(1));
}

/// The newcomer has the turn on its other GPU.
TEST(GpuCoordinator, WhoWasAloneAndMayNotKeepTheTurnGivesBackWhatItHas)
{
    TwoGpus all;
    all.use(1, "GPU-1");
    all.use(2, "GPU-2");
    all.use(3, "GPU-1"); // the first is alone no longer, and goes on
    (void)all.heard_by(2);

    all.use(1, "GPU-2");

    expect_to_end_its_turn(all.heard_by(2));
}

TEST(GpuCoordinator, WhoComesWithNothingHasNothingToGiveBack)
{
    TwoGpus all;
    all.use(1, "GPU-1");
    all.use(2, "GPU-1");

    const std::vector<Message> heard = all.heard_by(2);
    ASSERT_EQ(heard.size(), 2U);
    EXPECT_EQ(heard[0].type, MessageType::kShared);
    EXPECT_EQ(heard[0].second, 0);
    EXPECT_EQ(heard[1].type, MessageType::kPlace);
}

} // namespace
} // namespace fathom::gpu
