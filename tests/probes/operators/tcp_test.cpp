#include "probes/operators/reduction/truth.hpp"
#include "probes/tcp/connection.hpp"
#include "probes/tcp/handshake.hpp"
#include "probes/tcp/ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fcntl.h>
#include <sys/socket.h>
#include <thread>

namespace fathom::probes {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

Deadline in_a_minute()
{
    return std::chrono::steady_clock::now() + std::chrono::minutes(1);
}

Deadline at_once()
{
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
}

TEST(TcpAddresses, AreReadAsTheyAreWritten)
{
    const std::string text = to_text({{"10.1.0.7", 4711}, {"fd00::7", 1}});

    EXPECT_EQ(text, "10.1.0.7 4711,fd00::7 1");
    const std::vector<TcpAddress> read = parse_addresses(text);
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[1].host, "fd00::7");
    EXPECT_EQ(read[1].port, 1);
}

TEST(TcpAddresses, ThatAreNoneAreNotTaken)
{
    std::string many = "10.0.0.1 1";
    for (int i = 0; i < 8; ++i)
        many += ",10.0.0.1 1";
    for (const std::string& text : {std::string(), std::string("10.0.0.1"), std::string(" 1"), std::string("a 0"),
                                    std::string("a 65536"), std::string("a 1,"), many, std::string(2000, 'a') + " 1"})
        EXPECT_TRUE(parse_addresses(text).empty()) << text;
}

TEST(TcpAddresses, AreThoseOfTheInterfaceThatIsNamed)
{
    EXPECT_THAT(own_addresses("lo"), Contains("127.0.0.1"));
    EXPECT_THAT(own_addresses(""), testing::Not(Contains("127.0.0.1")));
    EXPECT_TRUE(own_addresses("no-such-interface").empty());
}

TEST(TcpConnection, IsAtTheOneAddressAndAPortOfTheSystem)
{
    const Result<TcpListener> one = listen_at("127.0.0.2");
    const Result<TcpListener> other = listen_at("127.0.0.2");

    ASSERT_TRUE(one) << describe(one.error());
    ASSERT_TRUE(other);
    EXPECT_EQ(one->address.host, "127.0.0.2");
    EXPECT_NE(one->address.port, other->address.port);
    EXPECT_TRUE(connect_to(one->address, in_a_minute()));
    EXPECT_FALSE(connect_to({"127.0.0.3", one->address.port}, in_a_minute()));
    EXPECT_THAT(connect_to({"localhost", 1}, in_a_minute()).error().detail, HasSubstr("is no address"));
}

/// Two ends of a connection.
struct Ends {
    OpenFile one;
    OpenFile other;
};

Ends connected()
{
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    return {OpenFile(ends[0]), OpenFile(ends[1])};
}

/// What both sides make of each other.
std::pair<Result<void>, Result<std::uint32_t>> meet(std::string_view introduced, std::string_view admitting)
{
    Ends ends = connected();
    Result<void> first = Error{Errc::kInvalid, "not called"};
    std::thread introducing([&] {
        first = introduce(ends.one.number(), introduced, 7, in_a_minute());
        ends.one = OpenFile(); // as a process does that is not admitted
    });
    const Result<std::uint32_t> second = admit(ends.other.number(), admitting, in_a_minute());
    ends.other = OpenFile();
    introducing.join();
    return {first, second};
}

TEST(TcpHandshake, AdmitsWhoHasTheSecret)
{
    const auto [introduced, admitted] = meet("secret", "secret");

    EXPECT_TRUE(introduced);
    ASSERT_TRUE(admitted);
    EXPECT_EQ(*admitted, 7U);
}

TEST(TcpHandshake, LeavesWhoHasAnother)
{
    const auto [introduced, admitted] = meet("guess", "secret");

    EXPECT_FALSE(introduced);
    ASSERT_FALSE(admitted);
    EXPECT_THAT(admitted.error().detail, HasSubstr("does not belong to this measurement"));
}

/// One that sends back what it gets has no proof.
TEST(TcpHandshake, IsNotDeceivedByAMirror)
{
    const Ends ends = connected();
    std::thread mirror([&] {
        std::array<std::byte, 16> nonce{};
        if (!receive_all(ends.one.number(), nonce, in_a_minute())) return;
        const std::array<std::byte, 52> answer{};
        const Result<void> ignored = send_all(ends.one.number(), answer, in_a_minute());
        static_cast<void>(ignored);
    });

    EXPECT_FALSE(admit(ends.other.number(), "secret", in_a_minute()));
    mirror.join();
}

TEST(TcpHandshake, DoesNotWaitForTheSilent)
{
    const Ends ends = connected();

    EXPECT_FALSE(admit(ends.other.number(), "secret", at_once()));
    EXPECT_FALSE(introduce(ends.one.number(), "secret", 0, at_once()).has_value());
}

/// A port scan, a health check, another team: the right one is admitted all the same.
TEST(TcpHandshake, PassesStrangersByForTheOneThatIsMeant)
{
    std::vector<TcpListener> listeners;
    listeners.push_back(listen_at("127.0.0.1").value());
    const TcpAddress address = listeners[0].address;
    std::thread others([&] {
        const Result<OpenFile> scan = connect_to(address, in_a_minute());
        const Result<OpenFile> guess = connect_to(address, in_a_minute());
        EXPECT_FALSE(introduce(guess->number(), "guess", 3, in_a_minute()).has_value());
        const Result<OpenFile> wrong_place = connect_to(address, in_a_minute());
        EXPECT_TRUE(introduce(wrong_place->number(), "secret", 2, in_a_minute()).has_value());
        const Result<OpenFile> meant = connect_to(address, in_a_minute());
        EXPECT_TRUE(introduce(meant->number(), "secret", 3, in_a_minute()).has_value());
        EXPECT_TRUE(send_message(meant->number(), 42, in_a_minute()).has_value());
    });

    const Result<OpenFile> found = accept_member(listeners, "secret", 3, in_a_minute());

    ASSERT_TRUE(found) << describe(found.error());
    EXPECT_EQ(receive_message<int>(found->number(), in_a_minute()).value(), 42);
    others.join();
    EXPECT_FALSE(accept_member(listeners, "secret", 3, at_once()));
}

/// Whether who has connected in time, and proves it 0.2 s later, is admitted.
bool is_admitted_late()
{
    std::vector<TcpListener> listeners;
    listeners.push_back(listen_at("127.0.0.1").value());
    const Result<OpenFile> slow = connect_to(listeners[0].address, in_a_minute());
    bool is_introduced = false;
    std::thread late([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        is_introduced = introduce(slow->number(), "secret", 3, in_a_minute()).has_value();
    });
    const bool is_admitted = accept_member(listeners, "secret", 3, at_once()).has_value();
    listeners.clear();
    late.join();
    return is_admitted && is_introduced;
}

/// A process that connects at the last moment on a busy host answers after it.
TEST(TcpHandshake, AdmitsWhoHasConnectedInTimeAndProvesItLater)
{
    bool is_admitted = is_admitted_late();
    for (int i = 0; i < 4 && !is_admitted; ++i) // the process stood still for seconds
        is_admitted = is_admitted_late();

    EXPECT_TRUE(is_admitted);
}

/// Rings of `size` in threads: each result of an all-reduce of `elements`, one after the other.
std::vector<double> reduced(std::size_t size, std::size_t elements, std::uint64_t seed)
{
    std::vector<OpenFile> to_next(size);
    std::vector<OpenFile> from_previous(size);
    for (std::size_t rank = 0; rank < size; ++rank) {
        Ends ends = connected();
        to_next[rank] = std::move(ends.one);
        from_previous[(rank + 1) % size] = std::move(ends.other);
    }
    std::vector<double> sums(size * elements, std::nan(""));
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < size; ++rank) {
        threads.emplace_back([&, rank] {
            Ring ring(rank, size, std::move(to_next[rank]), std::move(from_previous[rank]));
            std::vector<double> own(elements);
            for (std::size_t i = 0; i < elements; ++i)
                own[i] = reduction_input(seed, rank, size, i);
            EXPECT_TRUE(ring.meet().has_value());
            for (int i = 0; i < 2; ++i)
                EXPECT_TRUE(ring.allreduce(own, std::span(sums).subspan(rank * elements, elements)).has_value());
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    return sums;
}

TEST(TcpRing, GivesEachProcessTheSumToTheLastBit)
{
    for (const std::size_t size : {2U, 3U, 4U, 7U}) {
        for (const std::size_t elements :
             {1U, 2U, 3U, 10U, 1000U, 100'003U}) // fewer than processes, and parts that differ
            EXPECT_EQ(reduction_error(reduced(size, elements, 7), elements, 7), 0) << size << " × " << elements;
    }
}

TEST(TcpRing, GivesTheSameDigestHoweverManyTheyAre)
{
    const std::string two = reduction_checksum(reduced(2, 1000, 7), 1000);

    EXPECT_EQ(two, reduction_checksum(reduced(5, 1000, 7), 1000));
    EXPECT_NE(two, reduction_checksum(reduced(2, 1000, 8), 1000));
}

TEST(TcpRing, SumsPlainNumbers)
{
    Ends forth = connected();
    Ends back = connected();
    std::vector<double> other(3);
    std::thread second([&] {
        Ring ring(1, 2, std::move(back.one), std::move(forth.other));
        EXPECT_TRUE(ring.allreduce(std::vector<double>{10, 20, 30}, other).has_value());
    });
    Ring ring(0, 2, std::move(forth.one), std::move(back.other));
    std::vector<double> sum(3);

    EXPECT_TRUE(ring.allreduce(std::vector<double>{1, 2, 3}, sum).has_value());
    second.join();
    EXPECT_THAT(sum, ElementsAre(11, 22, 33));
    EXPECT_EQ(other, sum);
}

TEST(TcpRing, EndsWithANeighbour)
{
    Ends forth = connected();
    Ends back = connected();
    Ring ring(0, 2, std::move(forth.one), std::move(back.other));
    back.one = OpenFile();
    forth.other = OpenFile();
    std::vector<double> sum(3);

    EXPECT_FALSE(ring.allreduce(std::vector<double>{1, 2, 3}, sum).has_value());
}

TEST(TcpRing, DoesNotWaitForeverForASilentNeighbour)
{
    Ends forth = connected();
    Ends back = connected();
    Ring ring(0, 2, std::move(forth.one), std::move(back.other), std::chrono::milliseconds(20));

    const Result<void> met = ring.meet();

    ASSERT_FALSE(met);
    EXPECT_THAT(met.error().detail, HasSubstr("does not answer"));
}

} // namespace
} // namespace fathom::probes
