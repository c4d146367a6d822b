// `fathom job outputs`: what is listed, and what is fetched from where it was stored.
#include "core/base/file.hpp"
#include "tests/agent/support/data_site.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

namespace fathom::cli::test {
namespace {

using agent::test::DataSite;
using testing::HasSubstr;
using testing::Not;

// Of "content".
const std::string kDigest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";

net::Response job_with_output(const std::string& url)
{
    return answer(200, R"({"id":"job_1","state":"succeeded","spec":{"outputs":[{"path":"out/x.txt","url":")" + url +
                           R"("},{"path":"lost","url":"https://data.example/lost"}]},"attempt":{"outputs":[)"
                           R"({"path":"out/x.txt","size_bytes":7,"sha256":")" +
                           kDigest + R"("}]}})");
}

class FetchedOutputs : public testing::Test {
  protected:
    FetchedOutputs()
    {
        std::string name = testing::TempDir() + "outputs-XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~FetchedOutputs() override { std::filesystem::remove_all(folder_); }
    FetchedOutputs(const FetchedOutputs&) = delete;
    FetchedOutputs& operator=(const FetchedOutputs&) = delete;

    std::string file() const { return folder_ / "x.txt"; }

    std::filesystem::path folder_;
};

TEST_F(FetchedOutputs, AreFetchedFromWhereTheyWereStored)
{
    DataSite site(
        [](const std::string&) { return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\ncontent"; });
    const FakeServer server({{"GET /api/v1/jobs/job_1", {job_with_output(site.url() + "/x.txt?signature=s")}}});

    const Ran ran = fathom(server, {"job", "outputs", "job_1", "out/x.txt", "--to", file()});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(read_file(file()).value(), "content");
    EXPECT_THAT(ran.out, HasSubstr("x.txt: 7 B"));
    EXPECT_THAT(site.requests().at(0), HasSubstr("GET /x.txt?signature=s"));
    EXPECT_THAT(site.requests().at(0), Not(HasSubstr("uthorization"))) << "the token is for the server alone";
}

TEST_F(FetchedOutputs, AreFetchedFromTheCopyOfTheirCenterWhichGoesOnWhereItBrokeOff)
{
    const FakeServer server({{"GET /api/v1/jobs/job_1", {job_with_output("file:///results/x.txt")}},
                             {"GET /api/v1/jobs/job_1/output", {broken_chunks({"con"}), chunks({"te", "nt"})}}});

    const Ran ran = fathom(server, {"job", "outputs", "job_1", "out/x.txt", "--to", file()});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(read_file(file()).value(), "content");
    EXPECT_THAT(ran.out, HasSubstr("7 B from the copy of its center"));
    ASSERT_EQ(server.requests().size(), 3U);
    EXPECT_EQ(server.requests()[1].query.at("path"), "out/x.txt");
    EXPECT_EQ(server.requests()[1].header("Range"), "");
    EXPECT_EQ(server.requests()[2].header("Range"), "bytes=3-");
}

TEST_F(FetchedOutputs, AreFetchedFromTheCopyWhereTheirUrlCannotBeRead)
{
    const DataSite site(
        [](const std::string&) { return "HTTP/1.1 403 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"; });
    const FakeServer server({{"GET /api/v1/jobs/job_1", {job_with_output(site.url() + "/x.txt?signature=s")}},
                             {"GET /api/v1/jobs/job_1/output", {chunks({"content"})}}});

    const Ran ran = fathom(server, {"job", "outputs", "job_1", "out/x.txt", "--to", file()});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(read_file(file()).value(), "content");
}

TEST_F(FetchedOutputs, AreNotTakenWithOtherContentThanWasStored)
{
    const FakeServer server({{"GET /api/v1/jobs/job_1", {job_with_output("file:///results/x.txt")}},
                             {"GET /api/v1/jobs/job_1/output", {chunks({"changed"})}}});

    const Ran ran = fathom(server, {"job", "outputs", "job_1", "out/x.txt", "--to", file()});

    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("its SHA-256 is "));
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(FetchedOutputs, SayWhyTheyCannotBeFetched)
{
    const DataSite site(
        [](const std::string&) { return "HTTP/1.1 403 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"; });
    const FakeServer server({{"GET /api/v1/jobs/job_1", {job_with_output(site.url() + "/x.txt?signature=s")}}});
    const FakeServer file_server({{"GET /api/v1/jobs/job_1", {job_with_output("file:///results/x.txt")}}});

    const FakeServer large_server(
        {{"GET /api/v1/jobs/job_1", {job_with_output("s3://results/x.txt")}},
         {"GET /api/v1/jobs/job_1/output", {refusal(Errc::kTooLarge, "no output of more than 1 MiB passes through")}}});

    const Ran refused = fathom(server, {"job", "outputs", "job_1", "out/x.txt", "--to", file()});
    const Ran missing = fathom(server, {"job", "outputs", "job_1", "other"});
    const Ran lost = fathom(server, {"job", "outputs", "job_1", "lost"});
    const Ran of_center = fathom(file_server, {"job", "outputs", "job_1", "out/x.txt", "--to", file()});
    const Ran large = fathom(large_server, {"job", "outputs", "job_1", "out/x.txt", "--to", file()});
    const Ran no_path = fathom(server, {"job", "outputs", "job_1", "--to", file()});

    EXPECT_THAT(refused.err,
                testing::AllOf(HasSubstr("signed for PUT"), HasSubstr("403"), Not(HasSubstr("signature"))));
    EXPECT_EQ(missing.code, 5);
    EXPECT_THAT(lost.err, HasSubstr("lost is not stored"));
    EXPECT_EQ(of_center.code, 5);
    EXPECT_THAT(of_center.err, HasSubstr("no such thing")) << "an older server gives no copies";
    EXPECT_THAT(large.err, HasSubstr("no output of more than 1 MiB passes through"));
    EXPECT_EQ(large_server.requests().size(), 2U) << "another try would not help";
    EXPECT_EQ(no_path.code, 2);
    EXPECT_FALSE(std::filesystem::exists(file()));
}

} // namespace
} // namespace fathom::cli::test
