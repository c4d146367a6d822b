// Orders to a slurmrestd that is a socket with prepared answers.

#include "agent/executor/slurm/rest_orders.hpp"
#include "core/base/file.hpp"
#include "core/base/open_file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A request for each answer, one connection after another.
class StandInRest {
  public:
    StandInRest(const std::filesystem::path& socket, std::vector<std::string> answers)
        : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as the system has it
        if (::bind(listener_.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(listener_.number(), 8) != 0)
            throw std::runtime_error("no socket at " + socket.string());
        thread_ = std::jthread([this, prepared = std::move(answers)] {
            for (const std::string& body : prepared)
                answer(body);
        });
    }
    /// What it was asked, once all answers are given.
    const std::vector<std::string>& requests()
    {
        thread_.join();
        return requests_;
    }

  private:
    void answer(const std::string& body)
    {
        const OpenFile peer(::accept(listener_.number(), nullptr, nullptr));
        std::string request;
        std::array<char, 4096> part{};
        while (!is_whole(request)) {
            const ssize_t size = ::read(peer.number(), part.data(), part.size());
            if (size <= 0) return;
            request.append(part.data(), static_cast<std::size_t>(size));
        }
        requests_.push_back(request);
        const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                                   "\r\nContent-Type: application/json\r\n\r\n" + body;
        static_cast<void>(!::write(peer.number(), answer.data(), answer.size()));
    }
    static bool is_whole(const std::string& request)
    {
        constexpr std::string_view kLength = "Content-Length: ";
        const std::size_t end = request.find("\r\n\r\n");
        if (end == std::string::npos) return false;
        const std::size_t length = request.find(kLength);
        const std::size_t body_bytes =
            length < end ? std::stoul(request.substr(length + kLength.size())) : std::size_t{0};
        return request.size() >= end + 4 + body_bytes;
    }

    OpenFile listener_;
    std::vector<std::string> requests_;
    std::jthread thread_;
};

class SlurmRestOrders : public testing::Test {
  protected:
    SlurmRestOrders() { write_file(token_, "SLURM_JWT=secret", 0600).value(); }

    SlurmConfig config() const
    {
        SlurmConfig config;
        config.rest = "unix:" + socket_.string();
        config.token_file = token_;
        return config;
    }
    std::filesystem::path script() const
    {
        const std::filesystem::path path = folder_.path() / "job.sh";
        write_file(path, "#!/bin/bash\n#SBATCH --job-name=att\n\ntrue\n").value();
        return path;
    }

    test::TemporaryFolder folder_;
    std::filesystem::path socket_ = folder_.path() / "s";
    std::filesystem::path token_ = folder_.path() / "token";
};

TEST_F(SlurmRestOrders, AJobIsSubmittedForItsUser)
{
    StandInRest rest(socket_, {R"({"errors":[],"job_id":17})"});

    EXPECT_EQ(RestOrders(config()).submit(script(), JobUser{"ann", 2000, 2001}).value(), "17");

    const std::string request = rest.requests().at(0);
    EXPECT_THAT(request, StartsWith("POST /slurm/v0.0.38/job/submit HTTP/1.1\r\n"));
    EXPECT_THAT(request, HasSubstr("X-SLURM-USER-NAME: ann\r\n"));
    EXPECT_THAT(request, HasSubstr("X-SLURM-USER-TOKEN: secret\r\n"));
    EXPECT_THAT(request, HasSubstr(R"("name":"att")"));
}

TEST_F(SlurmRestOrders, TheTokenIsReadForEachRequest)
{
    StandInRest rest(socket_, {R"({"errors":[],"jobs":[]})", R"({"errors":[],"jobs":[]})"});
    RestOrders orders(config());
    ASSERT_TRUE(orders.queue({2000}));
    write_file(token_, "SLURM_JWT=renewed", 0600).value();
    ASSERT_TRUE(orders.queue({2000}));

    EXPECT_THAT(rest.requests(), ElementsAre(HasSubstr("TOKEN: secret\r\n"), HasSubstr("TOKEN: renewed\r\n")));
}

TEST_F(SlurmRestOrders, OneQuestionIsForTheAccountsOfAllJobs)
{
    StandInRest rest(socket_, {R"({"errors":[],"jobs":[]})"});

    ASSERT_TRUE(RestOrders(config()).accounts({"7", "8;rm", "9"}));

    EXPECT_THAT(rest.requests().at(0), StartsWith("GET /slurmdb/v0.0.38/jobs?step=7%2C9 HTTP/1.1\r\n"));
}

TEST_F(SlurmRestOrders, EachJobIsEndedAsItsUser)
{
    const std::string unknown = R"({"errors":[{"error_number":2017,"error":"Invalid job id specified"}]})";
    StandInRest rest(socket_, {unknown, R"({"errors":[]})"});

    ASSERT_TRUE(RestOrders(config()).cancel({"7", "../jobs", "8"}, JobUser{"ann", 2000, 2001}));

    EXPECT_THAT(rest.requests(), ElementsAre(StartsWith("DELETE /slurm/v0.0.38/job/7 HTTP/1.1\r\n"),
                                             StartsWith("DELETE /slurm/v0.0.38/job/8 HTTP/1.1\r\n")));
}

TEST_F(SlurmRestOrders, WhatKeepsThemBackIsTold)
{
    RestOrders orders(config());

    Result<std::vector<SlurmJob>> jobs = orders.queue({2000});
    ASSERT_FALSE(jobs);
    EXPECT_EQ(jobs.error().code, Errc::kUnavailable);
    EXPECT_THAT(jobs.error().detail, HasSubstr("slurmrestd at unix:" + socket_.string() + " does not answer"));

    write_file(token_, "secret", 0644).value();
    jobs = orders.queue({2000});
    ASSERT_FALSE(jobs);
    EXPECT_EQ(jobs.error().code, Errc::kUnavailable);
    EXPECT_THAT(jobs.error().detail, HasSubstr("chmod 600"));
}

} // namespace
} // namespace fathom::agent
