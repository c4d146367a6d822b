// A server behind a balancer that speaks the PROXY protocol.
#include "support.hpp"

#include <gmock/gmock.h>

namespace fathom::net::test {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kGet = "GET /whoami HTTP/1.1\r\nHost: localhost\r\n\r\n";

Router whoami_router()
{
    Router router;
    router.add(Method::kGet, "/whoami",
               answer_with([](Request& request) { return json_response(200, '"' + request.remote_address + '"'); }));
    return router;
}

ServerLimits behind(const std::string& proxies)
{
    ServerLimits limits;
    limits.proxies = AddressNetworks::parse(proxies).value();
    return limits;
}

std::string header_for(const std::string& client)
{
    return "PROXY TCP4 " + client + " 192.0.2.1 51234 8443\r\n";
}

std::string ask(const TestServer& server, const std::string& header)
{
    RawClient client(server.endpoint(), nullptr, header);
    client.send(kGet);
    return client.read_answer();
}

TEST(Proxy, ItsClientsAddressIsTheRequests)
{
    const TestServer server(whoami_router(), behind("127.0.0.0/8"));

    EXPECT_THAT(ask(server, header_for("192.0.2.7")), EndsWith("\"192.0.2.7:51234\""));
}

TEST(Proxy, SpeaksForItselfToCheckHealth)
{
    const TestServer server(whoami_router(), behind("127.0.0.1"));

    EXPECT_THAT(ask(server, "PROXY UNKNOWN\r\n"), HasSubstr("\"127.0.0.1:"));
}

TEST(Proxy, OnlyItMayAndMustSendAHeader)
{
    const TestServer behind_other(whoami_router(), behind("192.0.2.0/24"));
    const TestServer behind_proxy(whoami_router(), behind("127.0.0.1"));

    EXPECT_THROW(RawClient(behind_other.endpoint(), nullptr, header_for("192.0.2.7")), std::exception);
    EXPECT_THAT(ask(behind_other, ""), HasSubstr("\"127.0.0.1:"));
    EXPECT_THROW(RawClient(behind_proxy.endpoint()), std::exception);
}

TEST(Proxy, EachClientsNetworkHasItsShareOfConnections)
{
    ServerLimits limits = behind("127.0.0.1");
    limits.connections_of_one_network = 2;
    const TestServer server(whoami_router(), limits);
    const RawClient first(server.endpoint(), nullptr, header_for("192.0.2.7"));
    const RawClient second(server.endpoint(), nullptr, header_for("192.0.2.7"));

    EXPECT_THROW(RawClient(server.endpoint(), nullptr, header_for("192.0.2.7")), std::exception);
    EXPECT_THAT(ask(server, header_for("192.0.2.8")), EndsWith("\"192.0.2.8:51234\""));
}

TEST(Proxy, AHeaderThatDoesNotEndIsDroppedInTheHandshakesTime)
{
    ServerLimits limits = behind("127.0.0.1");
    limits.handshake_time = 1s;
    limits.request_time = limits.idle_time = 120s;
    const TestServer server(whoami_router(), limits);
    const auto began = std::chrono::steady_clock::now();

    EXPECT_EQ(exchange_plain_text(server.endpoint(), "PROXY TCP4 192.0"), "");

    EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
}

} // namespace
} // namespace fathom::net::test
