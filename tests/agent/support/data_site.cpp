#include "tests/agent/support/data_site.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fathom::agent::test {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

/// Bytes of the body, as its head declares them.
std::size_t length_of_body(const std::string& head)
{
    constexpr std::string_view kField = "Content-Length: ";
    const std::size_t field = head.find(kField);
    return field == std::string::npos ? 0 : std::stoul(head.substr(field + kField.size()));
}

std::string receive(int connection)
{
    std::string request;
    char one = 0;
    while (!request.ends_with(kHeadEnd) && ::recv(connection, &one, 1, 0) == 1)
        request += one;
    for (std::size_t left = length_of_body(request); left > 0 && ::recv(connection, &one, 1, 0) == 1; --left)
        request += one;
    return request;
}

void send(int connection, const std::string& response)
{
    for (std::size_t sent = 0; sent < response.size();) {
        const ssize_t more = ::send(connection, response.data() + sent, response.size() - sent, MSG_NOSIGNAL);
        if (more <= 0) return;
        sent += static_cast<std::size_t>(more);
    }
}

} // namespace

DataSite::DataSite(Answer answer)
    : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
}

DataSite::~DataSite()
{
    stop();
}

const std::vector<std::string>& DataSite::requests()
{
    stop();
    return requests_;
}

void DataSite::serve()
{
    for (int connection = ::accept(listener_, nullptr, nullptr); connection >= 0;
         connection = ::accept(listener_, nullptr, nullptr)) {
        requests_.push_back(receive(connection));
        send(connection, answer_(requests_.back()));
        ::close(connection);
    }
}

void DataSite::stop()
{
    if (!thread_.joinable()) return;
    ::shutdown(listener_, SHUT_RDWR); // ends accept
    thread_.join();
    ::close(listener_);
}

} // namespace fathom::agent::test
