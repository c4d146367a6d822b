#include "core/base/file.hpp"
#include "core/base/sha256.hpp"
#include "core/transfer/download.hpp"
#include "tests/agent/support/data_site.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace fathom {
namespace {

using agent::test::DataSite;
using testing::HasSubstr;
using testing::Not;

const std::string kContent = "what a job has left";

/// Of so many bytes, of which only the first are sent.
std::string answer_with(const std::string& status, const std::string& content, std::size_t bytes)
{
    return "HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
           content;
}

class Downloads : public testing::Test {
  protected:
    Downloads()
    {
        std::string name = testing::TempDir() + "download-XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~Downloads() override { std::filesystem::remove_all(folder_); }
    Downloads(const Downloads&) = delete;
    Downloads& operator=(const Downloads&) = delete;

    std::filesystem::path file() const { return folder_ / "out.txt"; }
    Result<void> fetch(const std::string& url)
    {
        Sha256 digest;
        digest.add(kContent);
        const Download wanted{.url = url, .size_bytes = std::ssize(kContent), .sha256 = digest.hex(), .file = file()};
        return download(wanted, {.most = 2, .first_pause = std::chrono::milliseconds(1)},
                        [this](std::int64_t bytes) { told_bytes_ = bytes; });
    }

    std::filesystem::path folder_;
    std::int64_t told_bytes_ = 0;
};

TEST_F(Downloads, BecomeTheFileOnceTheyAreComplete)
{
    const DataSite site([](const std::string&) { return answer_with("200 OK", kContent, kContent.size()); });

    const Result<void> done = fetch(site.url() + "/x");

    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(read_file(file()).value(), kContent);
    EXPECT_EQ(told_bytes_, std::ssize(kContent));
    EXPECT_FALSE(std::filesystem::exists(part_of(file())));
}

TEST_F(Downloads, GoOnWhereAnEarlierOneBrokeOff)
{
    DataSite site([](const std::string& request) {
        const bool is_rest = request.find("Range: bytes=7-") != std::string::npos;
        return is_rest ? answer_with("206 Partial Content", kContent.substr(7), kContent.size() - 7)
                       : answer_with("500 Not now", "", 0);
    });
    write_file(part_of(file()), kContent.substr(0, 7)).value();

    const Result<void> done = fetch(site.url() + "/x");

    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(read_file(file()).value(), kContent);
    EXPECT_EQ(site.requests().size(), 1U);
}

TEST_F(Downloads, BeginAnewWhereWhatIsThereIsOfAnotherFile)
{
    const DataSite site([](const std::string& request) {
        const bool is_rest = request.find("Range: bytes=7-") != std::string::npos;
        return is_rest ? answer_with("206 Partial Content", kContent.substr(7), kContent.size() - 7)
                       : answer_with("200 OK", kContent, kContent.size());
    });
    write_file(part_of(file()), "another").value();

    const Result<void> done = fetch(site.url() + "/x");

    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(read_file(file()).value(), kContent);
}

TEST_F(Downloads, KeepWhatHasComeWhereTheNetworkFails)
{
    const DataSite site([](const std::string& request) {
        return request.find("Range") != std::string::npos ? answer_with("503 Not now", "", 0)
                                                          : answer_with("200 OK", "what a", kContent.size());
    });

    const Result<void> done = fetch(site.url() + "/x?secret=1");

    EXPECT_EQ(done.error().code, Errc::kUnavailable);
    EXPECT_THAT(done.error().detail, Not(HasSubstr("secret")));
    EXPECT_EQ(read_file(part_of(file())).value(), "what a");
    EXPECT_FALSE(std::filesystem::exists(file()));
}

/// As a server does that cuts slow clients off: two bytes of what is missing, each time.
TEST_F(Downloads, GoOnForAsLongAsEachTryBringsMore)
{
    DataSite site([](const std::string& request) {
        const std::size_t range = request.find("Range: bytes=");
        const std::size_t from = range == std::string::npos ? 0 : std::stoul(request.substr(range + 13));
        return answer_with(from == 0 ? "200 OK" : "206 Partial Content", kContent.substr(from, 2),
                           kContent.size() - from);
    });

    const Result<void> done = fetch(site.url() + "/x");

    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(read_file(file()).value(), kContent);
    EXPECT_EQ(site.requests().size(), (kContent.size() + 1) / 2) << "of two tries that it has";
}

TEST_F(Downloads, EndWhereEachTryBringsTheSame)
{
    DataSite site([](const std::string&) { return answer_with("200 OK", "what", kContent.size()); });

    const Result<void> done = fetch(site.url() + "/x");

    EXPECT_EQ(done.error().code, Errc::kUnavailable);
    EXPECT_THAT(done.error().detail, HasSubstr("at the last of 3 tries")) << "the first one brought something";
    EXPECT_EQ(site.requests().size(), 3U);
}

TEST_F(Downloads, TakeNoOtherContent)
{
    const std::string other(kContent.size(), 'x');
    const DataSite site([&](const std::string&) { return answer_with("200 OK", other, other.size()); });

    const Result<void> done = fetch(site.url() + "/x");

    EXPECT_EQ(done.error().code, Errc::kInvalid);
    EXPECT_THAT(done.error().detail, HasSubstr("SHA-256"));
    EXPECT_FALSE(std::filesystem::exists(file()));
    EXPECT_FALSE(std::filesystem::exists(part_of(file())));
}

TEST_F(Downloads, ReplaceNoFileAndFollowNoLink)
{
    const DataSite site([](const std::string&) { return answer_with("200 OK", kContent, kContent.size()); });
    write_file(folder_ / "other", "mine").value();
    std::filesystem::create_symlink(folder_ / "other", part_of(file()));
    EXPECT_EQ(fetch(site.url() + "/x").error().code, Errc::kInvalid);
    std::filesystem::rename(folder_ / "other", file());

    EXPECT_EQ(fetch(site.url() + "/x").error().code, Errc::kConflict);

    EXPECT_EQ(read_file(file()).value(), "mine");
}

} // namespace
} // namespace fathom
