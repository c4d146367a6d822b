#include "server/centers/sessions/sent_orders.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

const AttemptId kFirst{"att_1"};
const AttemptId kSecond{"att_2"};

TEST(SentOrders, AStartIsSentOnceUntilItIsForgotten)
{
    SentOrders orders;
    EXPECT_TRUE(orders.begin_start(kFirst));
    orders.add_start(MessageId{"msg_1"}, kFirst, 100);
    EXPECT_FALSE(orders.begin_start(kFirst));
    EXPECT_TRUE(orders.begin_start(kSecond));
    orders.add_start(MessageId{"msg_2"}, kSecond, 50);
    ASSERT_NE(orders.find_start(MessageId{"msg_1"}), nullptr);
    EXPECT_EQ(*orders.find_start(MessageId{"msg_1"}), kFirst);
    EXPECT_EQ(orders.starting(), (std::vector<std::string>{"att_1", "att_2"}));

    orders.forget_start(MessageId{"msg_1"}, kFirst);

    EXPECT_EQ(orders.find_start(MessageId{"msg_1"}), nullptr);
    EXPECT_EQ(orders.starting(), std::vector<std::string>{"att_2"});
    EXPECT_TRUE(orders.begin_start(kFirst));
}

TEST(SentOrders, RoomForStartsIsWhatThoseOnTheirWayLeave)
{
    SentOrders orders;
    const std::int64_t all = orders.room_for_starts();
    orders.add_start(MessageId{"msg_1"}, kFirst, 1000);
    EXPECT_EQ(orders.room_for_starts(), all - 1000);
    orders.add_start(MessageId{"msg_2"}, kSecond, static_cast<std::size_t>(all));
    EXPECT_EQ(orders.room_for_starts(), 0) << "not below";

    orders.forget_start(MessageId{"msg_2"}, kSecond);
    orders.forget_start(MessageId{"msg_2"}, kSecond);

    EXPECT_EQ(orders.room_for_starts(), all - 1000) << "it is given back once";
}

TEST(SentOrders, AnAttemptIsToldToEndAndToComeBackOnce)
{
    SentOrders orders;
    EXPECT_TRUE(orders.add_cancel(kFirst));
    EXPECT_FALSE(orders.add_cancel(kFirst));
    EXPECT_TRUE(orders.add_recall(kFirst));
    EXPECT_FALSE(orders.add_recall(kFirst));

    orders.note_end(kFirst);

    EXPECT_TRUE(orders.add_cancel(kFirst));
    EXPECT_FALSE(orders.add_recall(kFirst));
}

} // namespace
} // namespace fathom::server
