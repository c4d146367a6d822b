#include "server/app/certificate_names.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fathom::server {
namespace {

std::string text_of(const sockaddr& address)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (address.sa_family == AF_INET) {
        sockaddr_in v4{};
        std::copy_n(reinterpret_cast<const char*>(&address), sizeof v4, reinterpret_cast<char*>(&v4));
        inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    } else if (address.sa_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::copy_n(reinterpret_cast<const char*>(&address), sizeof v6, reinterpret_cast<char*>(&v6));
        // Link-local addresses mean nothing without the interface, which a certificate cannot name.
        if (!IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    }
    return text;
}

std::vector<std::string> own_addresses()
{
    std::vector<std::string> addresses;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return addresses;
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next)
        if (one->ifa_addr != nullptr) addresses.push_back(text_of(*one->ifa_addr));
    return addresses;
}

} // namespace

std::string host_name()
{
    char host[256] = "";
    return gethostname(host, sizeof host - 1) == 0 ? host : "";
}

std::vector<std::string> certificate_names(const ServerSettings& settings)
{
    std::vector<std::string> all{"localhost", "127.0.0.1", "::1"};
    all.push_back(host_name());
    for (const std::string& listen : {settings.listen.host, settings.agent_listen.host}) {
        if (listen != "0.0.0.0" && listen != "::") {
            all.push_back(listen);
            continue;
        }
        for (std::string& address : own_addresses())
            all.push_back(std::move(address));
    }
    all.insert(all.end(), settings.public_names.begin(), settings.public_names.end());
    std::vector<std::string> distinct;
    for (const std::string& name : all)
        if (!name.empty() && std::find(distinct.begin(), distinct.end(), name) == distinct.end())
            distinct.push_back(name);
    return distinct;
}

} // namespace fathom::server
