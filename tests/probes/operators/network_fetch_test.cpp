#include "probes/operators/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <functional>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace fathom::probes {
namespace {

using testing::HasSubstr;

/// What a data site answers: complete HTTP responses to requests.
using Site = std::function<std::string(const std::string& request)>;

/// A web server on the loopback device: one connection after the other, kept open.
class DataSite {
  public:
    explicit DataSite(Site site) : site_(std::move(site)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        EXPECT_EQ(listen(listener_, 8), 0);
        url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
        thread_ = std::thread([this] { serve(); });
    }
    ~DataSite()
    {
        shutdown(listener_, SHUT_RDWR); // ends accept
        thread_.join();
        close(listener_);
    }
    DataSite(const DataSite&) = delete;
    DataSite& operator=(const DataSite&) = delete;

    const std::string& url() const { return url_; }

  private:
    void serve()
    {
        for (int connection = accept(listener_, nullptr, nullptr); connection >= 0;
             connection = accept(listener_, nullptr, nullptr)) {
            for (std::string request = read_request(connection); !request.empty(); request = read_request(connection)) {
                const std::string response = site_(request);
                for (std::size_t sent = 0; sent < response.size();) {
                    const ssize_t more = send(connection, response.data() + sent, response.size() - sent, MSG_NOSIGNAL);
                    if (more <= 0) break;
                    sent += static_cast<std::size_t>(more);
                }
            }
            close(connection);
        }
    }

    static std::string read_request(int connection)
    {
        std::string text;
        char one = 0;
        while (!text.ends_with("\r\n\r\n")) {
            if (recv(connection, &one, 1, 0) != 1) return "";
            text += one;
        }
        return text;
    }

    Site site_;
    int listener_;
    std::string url_;
    std::thread thread_;
};

std::uint64_t query_value(const std::string& request, const std::string& name)
{
    return std::stoull(request.substr(request.find(name + "=") + name.size() + 1));
}

std::string body(std::uint64_t bytes, std::uint64_t seed)
{
    std::string text(bytes, '\0');
    for (std::uint64_t i = 0; i < bytes; ++i)
        text[i] = static_cast<char>((i * 131 + (i >> 8U) * 31 + seed) & 0xffU);
    return text;
}

std::string response(const std::string& content, const std::string& status = "200 OK")
{
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

std::string honest(const std::string& request)
{
    return response(body(query_value(request, "bytes"), query_value(request, "seed")));
}

class NetworkFetch : public testing::Test {
  protected:
    ~NetworkFetch() override { unsetenv("FATHOM_FETCH_URL"); }

    static std::unique_ptr<ProbeOperator> make(std::int64_t bytes)
    {
        return find_operator("network_fetch")->make({{"bytes", bytes}}, 1);
    }

    static std::string problem_with(const Site& site)
    {
        const DataSite server(site);
        setenv("FATHOM_FETCH_URL", server.url().c_str(), 1);
        const std::unique_ptr<ProbeOperator> made = make(1000);
        const Result<void> prepared = made->prepare(7);
        if (prepared) return "";
        EXPECT_EQ(prepared.error().code, Errc::kUnavailable);
        return prepared.error().detail;
    }
};

TEST_F(NetworkFetch, FetchesAndChecksEveryByte)
{
    std::vector<std::string> requests;
    const DataSite server([&](const std::string& request) {
        requests.push_back(request);
        return honest(request);
    });
    setenv("FATHOM_FETCH_URL", server.url().c_str(), 1);
    EXPECT_TRUE(find_operator("network_fetch")->available());
    std::unique_ptr<ProbeOperator> made = make(300000);

    const Result<void> prepared = made->prepare(20261120);
    ASSERT_TRUE(prepared) << describe(prepared.error());
    made->execute();

    EXPECT_EQ(made->error(), 0);
    EXPECT_EQ(made->output().size(), 300000U);
    EXPECT_THAT(made->library(), testing::StartsWith("libcurl "));
    const std::string right = made->checksum();
    made->output()[299999] ^= std::byte{1};
    EXPECT_GT(made->error(), 1e-6);
    EXPECT_NE(made->checksum(), right);
    made->execute();
    EXPECT_EQ(made->error(), 0);
    EXPECT_EQ(made->checksum(), right);
    made.reset(); // closes the connection
    EXPECT_THAT(requests[0], HasSubstr("GET /api/v1/fetch-test?bytes=300000&seed=20261120 HTTP/1.1"));
}

TEST_F(NetworkFetch, AsksADataSiteUnderItsOwnPath)
{
    std::string asked;
    const DataSite server([&](const std::string& request) {
        asked = request;
        return honest(request);
    });
    setenv("FATHOM_FETCH_URL", (server.url() + "/data/pattern?site=3").c_str(), 1);
    std::unique_ptr<ProbeOperator> made = make(10);

    EXPECT_TRUE(made->prepare(7));

    made.reset();
    EXPECT_THAT(asked, HasSubstr("GET /data/pattern?site=3&bytes=10&seed=7 HTTP/1.1"));
}

TEST_F(NetworkFetch, NoticesAWrongByte)
{
    const DataSite server([](const std::string& request) {
        std::string answer = honest(request);
        answer.back() = static_cast<char>(answer.back() ^ 1);
        return answer;
    });
    setenv("FATHOM_FETCH_URL", server.url().c_str(), 1);
    std::unique_ptr<ProbeOperator> made = make(1000);
    ASSERT_TRUE(made->prepare(7));

    made->execute();

    EXPECT_DOUBLE_EQ(made->error(), 1e-3);
    made.reset();
}

TEST_F(NetworkFetch, SaysWhatIsWrongWithTheAnswer)
{
    EXPECT_THAT(problem_with([](const std::string&) { return response("no", "404 Not Found"); }),
                HasSubstr("status 404"));
    EXPECT_THAT(problem_with([](const std::string&) { return response("short"); }), HasSubstr("5 bytes only"));
    EXPECT_THAT(problem_with([](const std::string&) { return response(std::string(5000, 'x')); }),
                HasSubstr("more bytes than asked for"));
    EXPECT_THAT(problem_with([](const std::string&) { return std::string("nonsense\r\n\r\n"); }),
                HasSubstr("cannot fetch http://127.0.0.1:"));
}

TEST_F(NetworkFetch, SaysThatNobodyAnswers)
{
    setenv("FATHOM_FETCH_URL", "http://127.0.0.1:1/", 1); // a port that nobody listens on

    const Result<void> prepared = make(10)->prepare(7);

    ASSERT_FALSE(prepared);
    EXPECT_THAT(prepared.error().detail,
                HasSubstr("cannot fetch http://127.0.0.1:1/api/v1/fetch-test?bytes=10&seed=7"));
}

TEST_F(NetworkFetch, ReadsNoLocalFiles)
{
    setenv("FATHOM_FETCH_URL", "file:///etc/passwd", 1);

    EXPECT_FALSE(make(10)->prepare(7));
}

TEST_F(NetworkFetch, IsNotAvailableWithoutADataSite)
{
    unsetenv("FATHOM_FETCH_URL");

    const Result<void> available = find_operator("network_fetch")->available();

    ASSERT_FALSE(available);
    EXPECT_EQ(available.error().code, Errc::kUnavailable);
    EXPECT_THAT(available.error().detail, HasSubstr("FATHOM_FETCH_URL"));
    EXPECT_EQ(make(10)->prepare(7).error().detail, available.error().detail);
}

} // namespace
} // namespace fathom::probes
