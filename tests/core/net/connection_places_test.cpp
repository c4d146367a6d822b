#include "core/net/connection_places.hpp"

#include <gtest/gtest.h>

#include <array>

namespace fathom::net {
namespace {

using namespace std::chrono_literals;
using Answer = ConnectionPlaces::Answer;

/// Peers, by where they are in memory.
constexpr std::array<int, 8> kPeers{};

ConnectionPlaces::Id peer(std::size_t number)
{
    return &kPeers.at(number);
}

const ConnectionPlaces::Time kStart{};

TEST(ConnectionPlaces, ManyPeersAtOnceWaitAndNoneIsEndedHalfDone)
{
    ConnectionPlaces places({.connections = 100, .of_one_network = 100, .for_certificates = 50, .handshakes = 2});
    EXPECT_EQ(places.take(peer(0), "a", kStart).answer, Answer::kTaken);
    EXPECT_EQ(places.take(peer(1), "a", kStart).answer, Answer::kTaken);

    EXPECT_EQ(places.take(peer(2), "b", kStart + 1s).answer, Answer::kManyHandshakes);

    places.know(peer(0));
    const auto admission = places.take(peer(2), "b", kStart + 1s);
    EXPECT_EQ(admission.answer, Answer::kTaken);
    EXPECT_EQ(admission.gave_way, nullptr) << "a place was free";
}

TEST(ConnectionPlaces, APeerThatSaysNothingKeepsNobodyOutForLong)
{
    ConnectionPlaces places({.connections = 100, .of_one_network = 100, .handshakes = 2});
    static_cast<void>(places.take(peer(0), "a", kStart));
    static_cast<void>(places.take(peer(1), "a", kStart + 1s));

    const auto admission = places.take(peer(2), "b", kStart + 2s);

    EXPECT_EQ(admission.answer, Answer::kTaken);
    EXPECT_EQ(admission.gave_way, peer(0)) << "the oldest";
    EXPECT_EQ(places.take(peer(3), "b", kStart + 2s).answer, Answer::kManyHandshakes) << "the next oldest is young";
    EXPECT_FALSE(places.keep_stranger(peer(0))) << "it holds no place any more";
}

TEST(ConnectionPlaces, ANetworkWhoseHandshakesWereEndedDoesNotStandInLineBeforeOthers)
{
    ConnectionPlaces places({.connections = 100, .of_one_network = 100, .handshakes = 2});
    static_cast<void>(places.take(peer(0), "silent", kStart));
    static_cast<void>(places.take(peer(1), "silent", kStart));
    static_cast<void>(places.take(peer(2), "agents", kStart + 2s));

    EXPECT_EQ(places.take(peer(3), "silent", kStart + 3s).answer, Answer::kNetworkFull) << "closed, and not waited for";
    EXPECT_EQ(places.take(peer(3), "agents", kStart + 3s).answer, Answer::kTaken);
    EXPECT_EQ(places.take(peer(4), "", kStart + 3s).answer, Answer::kManyHandshakes);

    places.know(peer(2));
    EXPECT_EQ(places.take(peer(4), "silent", kStart + 3s).answer, Answer::kTaken) << "there is room";
    EXPECT_FALSE(places.set_network(peer(3), "silent", kStart + 4s)) << "by the PROXY protocol";
    places.know(peer(3));
    EXPECT_EQ(places.take(peer(5), "silent", kStart + 20s).answer, Answer::kTaken) << "long ago";
}

TEST(ConnectionPlaces, WhoIsKnownCountsNeitherAsAHandshakeNorForItsNetwork)
{
    ConnectionPlaces places({.connections = 4, .of_one_network = 1, .handshakes = 1});
    for (std::size_t number = 0; number < 4; ++number) {
        ASSERT_EQ(places.take(peer(number), "a", kStart).answer, Answer::kTaken) << number;
        EXPECT_EQ(places.take(peer(7), "a", kStart).answer, Answer::kNetworkFull);
        places.know(peer(number));
    }
    EXPECT_EQ(places.take(peer(7), "a", kStart).answer, Answer::kServerFull);
    places.give_back(peer(2));
    EXPECT_EQ(places.take(peer(7), "a", kStart).answer, Answer::kTaken);
}

} // namespace
} // namespace fathom::net
