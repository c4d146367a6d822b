#include "core/net/proxy_header.hpp"

#include <gtest/gtest.h>

namespace fathom::net {
namespace {

using namespace std::string_literals;
using State = ProxyHeader::State;

const std::string kSignature = "\r\n\r\n\0\r\nQUIT\n"s;
const std::string kIpv4 = "\xc0\0\2\x07\xc0\0\2\1\xc8\x22\x20\xfb"s; // 192.0.2.7:51234 to 192.0.2.1:8443
const std::string kIpv6 =
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2\xc8\x22\x20\xfb"s;

/// A header of version 2.
std::string header(char command, char family, const std::string& rest)
{
    return kSignature + command + family + static_cast<char>(rest.size() >> 8U) + static_cast<char>(rest.size()) + rest;
}

/// Reads as much as is asked for each time. What is left over is not the proxy's.
ProxyHeader read_as_asked(std::string_view text, std::size_t* left = nullptr)
{
    std::size_t taken = 0;
    ProxyHeader read = read_proxy_header({});
    while (read.state == State::kIncomplete && taken + read.needed <= text.size()) {
        taken += read.needed;
        read = read_proxy_header(text.substr(0, taken));
    }
    if (left != nullptr) *left = text.size() - taken;
    return read;
}

TEST(ProxyHeader, SaysTheClientsAddress)
{
    EXPECT_EQ(read_as_asked(header('\x21', '\x11', kIpv4)).client_address, "192.0.2.7:51234");
    EXPECT_EQ(read_as_asked(header('\x21', '\x21', kIpv6)).client_address, "[2001:db8::1]:51234");
    EXPECT_EQ(read_as_asked(header('\x21', '\x11', kIpv4 + "\x04\0\x04more"s)).client_address, "192.0.2.7:51234");
    EXPECT_EQ(read_as_asked("PROXY TCP4 192.0.2.7 192.0.2.1 51234 8443\r\n").client_address, "192.0.2.7:51234");
    EXPECT_EQ(read_as_asked("PROXY TCP6 2001:db8::1 2001:db8::2 51234 8443\r\n").client_address, "[2001:db8::1]:51234");
}

TEST(ProxyHeader, MaySayNoAddress)
{
    for (const std::string& text : {header('\x20', '\0', ""), header('\x20', '\x11', kIpv4), header('\x21', '\0', ""),
                                    "PROXY UNKNOWN\r\n"s, "PROXY UNKNOWN what ever\r\n"s}) {
        const ProxyHeader read = read_as_asked(text);
        EXPECT_EQ(read.state, State::kComplete) << text;
        EXPECT_EQ(read.client_address, "") << text;
    }
}

TEST(ProxyHeader, EndsWhereTheClientsBytesBegin)
{
    for (const std::string& text : {header('\x20', '\0', ""), header('\x21', '\x11', kIpv4), "PROXY UNKNOWN\r\n"s,
                                    "PROXY TCP4 1.2.3.4 1.2.3.4 1 1\r\n"s}) {
        std::size_t left = 0;
        EXPECT_EQ(read_as_asked(text + "hello", &left).state, State::kComplete) << text;
        EXPECT_EQ(left, 5U) << text;
    }
}

TEST(ProxyHeader, IsRefusedWhenItIsNone)
{
    const std::string long_rest(kMaxProxyHeaderBytes, 'x');
    for (const std::string& text :
         {"\x16\x03\x01\x02\0\1\0\1\xfc\3\3 a hello of TLS"s, "GET / HTTP/1.1\r\n\r\n"s, header('\x11', '\x11', kIpv4),
          header('\x22', '\x11', kIpv4), header('\x21', '\x12', kIpv4), header('\x21', '\x31', std::string(216, 'a')),
          header('\x21', '\x11', kIpv4.substr(1)), header('\x21', '\x21', kIpv4), header('\x21', '\x11', long_rest),
          "PROXY TCP4 192.0.2.7 192.0.2.1 51234\r\n"s, "PROXY TCP4 192.0.2.7 192.0.2.1 65536 8443\r\n"s,
          "PROXY TCP4 192.0.2.7 192.0.2.1 051 8443\r\n"s, "PROXY TCP4 192.0.2.7 192.0.2.1 51234 8443 \r\n"s,
          "PROXY TCP4 2001:db8::1 2001:db8::2 51234 8443\r\n"s, "PROXY TCP6 192.0.2.7 192.0.2.1 51234 8443\r\n"s,
          "PROXY UDP4 192.0.2.7 192.0.2.1 51234 8443\r\n"s, "PROXY TCP4 " + std::string(120, '1')})
        EXPECT_EQ(read_as_asked(text).state, State::kRefused) << text;
}

} // namespace
} // namespace fathom::net
