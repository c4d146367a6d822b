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
