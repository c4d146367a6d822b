#include "core/net/address_networks.hpp"
#include "core/net/network.hpp"

#include <gtest/gtest.h>

namespace fathom::net {
namespace {

TEST(AddressNetworks, HoldsAddressesAndNetworksOfBothKinds)
{
    const AddressNetworks networks = AddressNetworks::parse("192.0.2.7, 10.1.0.0/12,2001:db8::/33").value();

    EXPECT_TRUE(networks.contains("192.0.2.7"));
    EXPECT_FALSE(networks.contains("192.0.2.8"));
    EXPECT_TRUE(networks.contains("10.15.255.255"));
    EXPECT_FALSE(networks.contains("10.16.0.0"));
    EXPECT_TRUE(networks.contains("2001:db8:7fff::1"));
    EXPECT_FALSE(networks.contains("2001:db8:8000::1"));
    EXPECT_FALSE(networks.contains("balancer.example"));
}

TEST(AddressNetworks, AMappedAddressIsTheIpv4Address)
{
    EXPECT_TRUE(AddressNetworks::parse("10.0.0.0/8").value().contains("::ffff:10.2.3.4"));
    EXPECT_FALSE(AddressNetworks::parse("0.0.0.0/0").value().contains("2001:db8::1"));
    EXPECT_TRUE(AddressNetworks::parse("::/0").value().contains("10.2.3.4"));
    EXPECT_EQ(network_of("[::ffff:10.2.3.4]:443"), network_of("10.2.3.4:443"));
}

TEST(AddressNetworks, AnInterfaceIsNoPartOfAnAddress)
{
    EXPECT_TRUE(AddressNetworks::parse("fe80::1").value().contains("fe80::1%eth0"));
}

TEST(AddressNetworks, AnEmptyTextIsTheEmptySet)
{
    EXPECT_TRUE(AddressNetworks::parse("").value().is_empty());
    EXPECT_FALSE(AddressNetworks::parse(" ").value().contains("10.0.0.1"));
}

TEST(AddressNetworks, WhatIsNoNetworkIsRefused)
{
    for (const char* const wrong : {"balancer.example", "10.0.0.0/33", "2001:db8::/129", "10.0.0.0/", "10.0.0.0/-1",
                                    "10.0.0.0/8x", "10.0.0.1,", ",", "10.0.0.1 10.0.0.2"})
        EXPECT_FALSE(AddressNetworks::parse(wrong)) << wrong;
}

} // namespace
} // namespace fathom::net
