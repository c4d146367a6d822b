#include "agent/stage/stage_inputs.hpp"
#include "core/base/file.hpp"
#include "core/base/open_file.hpp"
#include "core/base/sha256.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/data_site.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>

namespace fathom::agent {
namespace {

using test::DataSite;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Of so many bytes, of which only the first are sent.
std::string response(const std::string& status, const std::string& content, std::size_t bytes)
{
    return "HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
           content;
}

std::string good(const std::string& content)
{
    return response("200 OK", content, content.size());
}

std::string digest_of(const std::string& content)
{
    Sha256 digest;
    digest.add(content);
    return digest.hex();
}

class StageInputs : public testing::Test {
  protected:
    StageInputs() { std::filesystem::create_directory(work()); }

    std::filesystem::path work() const { return folder_.path() / "work"; }
    Result<void> stage(const JobInput& input, const StagingRule& rule = {.takes_http = true})
    {
        result_ = {};
        const StagingOrder order{
            .inputs = {input}, .outputs = {}, .rule = rule, .cached = cached_, .cache_folder = cache_folder_};
        return stage_inputs(order, work(), result_,
                            {.tries = {.most = 3, .first_pause = std::chrono::milliseconds(1)}, .progress = progress_});
    }
    /// As the supervisor does with a file of the center's cache.
    void have_cached(const std::string& sha256, const std::string& content)
    {
        write_file(folder_.path() / "cached", content).value();
        open_ = OpenFile(::open((folder_.path() / "cached").c_str(), O_RDONLY | O_CLOEXEC));
        cached_ = {{sha256, open_.number()}};
    }
    std::string staged(const std::string& path) const { return read_file(work() / path).value(); }

    test::TemporaryFolder folder_;
    StagedInputs result_;
    OpenFile open_;
    std::map<std::string, int> cached_;
    std::filesystem::path cache_folder_;
    StagingProgress* progress_ = nullptr;
};

TEST_F(StageInputs, PutsWhatItFetchesWhereItIsToBe)
{
    const DataSite site([](const std::string&) { return good("content"); });

    const Result<void> done = stage({site.url() + "/x?key=1", "in/deep/x.bin", digest_of("content"), 7});

    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(staged("in/deep/x.bin"), "content");
    EXPECT_EQ(result_.bytes, 7);
    EXPECT_EQ(result_.cached_bytes, 0);
}

TEST_F(StageInputs, TellsHowFarItIsWhereItTakesLong)
{
    const DataSite site([](const std::string&) { return good("content"); });
    std::vector<std::string> told;
    const auto begin = std::chrono::steady_clock::now() - std::chrono::seconds(60);
    StagingProgress progress({{"", "a", "", 3'000'000}, {"", "b", "", 1'000'000}}, begin,
                             [&](const std::string& line) { told.push_back(line); });
    progress_ = &progress;

    ASSERT_TRUE(stage({site.url() + "/x", "x", "", 7}));
    ASSERT_TRUE(stage({site.url() + "/x", "y", "", 7}));

    EXPECT_THAT(told, ElementsAre(StartsWith("0 of 2 inputs are staged, 0 MB of 4 MB in "),
                                  StartsWith("2 of 2 inputs are staged, 0 MB of 4 MB in ")))
        << "once, not so soon again, and when all are there";
}

TEST_F(StageInputs, CopiesWhatTheCenterHasAlready)
{
    DataSite site([](const std::string&) { return good("content"); });
    have_cached(digest_of("content"), "content");

    ASSERT_TRUE(stage({site.url() + "/x", "a", digest_of("content"), 7}));
    ASSERT_TRUE(stage({site.url() + "/x", "b", digest_of("content"), std::nullopt})) << "of one open file";

    EXPECT_EQ(staged("a"), "content");
    EXPECT_EQ(staged("b"), "content");
    EXPECT_EQ(result_.bytes, 7);
    EXPECT_EQ(result_.cached_bytes, 7);
    EXPECT_THAT(result_.spoiled, IsEmpty());
    EXPECT_THAT(site.requests(), IsEmpty());
}

TEST_F(StageInputs, FetchesWhatTheCenterHasWithOtherContent)
{
    for (const std::string had : {"CONTENT", "content that is too long", ""}) {
        SCOPED_TRACE(had);
        DataSite site([](const std::string&) { return good("content"); });
        have_cached(digest_of("content"), had);

        const Result<void> done = stage({site.url() + "/x", "x" + had, digest_of("content"), 7});

        ASSERT_TRUE(done) << done.error().detail;
        EXPECT_EQ(staged("x" + had), "content");
        EXPECT_EQ(result_.cached_bytes, 0);
        EXPECT_THAT(result_.spoiled, ElementsAre(digest_of("content")));
        EXPECT_EQ(site.requests().size(), 1U);
    }
}

TEST_F(StageInputs, CopiesWhatTheCenterHasUnderItsNameOnly)
{
    DataSite site([](const std::string&) { return good("content"); });
    cache_folder_ = folder_.path() / "cache";
    std::filesystem::create_directory(cache_folder_);
    write_file(cache_folder_ / digest_of("content"), "content").value();

    ASSERT_TRUE(stage({site.url() + "/x", "named", digest_of("content"), 7}));
    EXPECT_EQ(staged("named"), "content");
    EXPECT_EQ(result_.cached_bytes, 7);

    ASSERT_TRUE(stage({site.url() + "/x", "unnamed", "", 7}));
    EXPECT_EQ(result_.cached_bytes, 0) << "what nobody can check is fetched";
    EXPECT_EQ(site.requests().size(), 1U) << "none for the other";
}

TEST_F(StageInputs, FetchesWhatIsDamagedWhereTheCenterHasIt)
{
    cache_folder_ = folder_.path() / "cache";
    std::filesystem::create_directory(cache_folder_);
    for (const std::string had : {"CONTENT", "cont", ""}) {
        SCOPED_TRACE(had);
        DataSite site([](const std::string&) { return good("content"); });
        write_file(cache_folder_ / digest_of("content"), had).value();

        ASSERT_TRUE(stage({site.url() + "/x", "x" + had, digest_of("content"), std::nullopt}));

        EXPECT_EQ(staged("x" + had), "content");
        EXPECT_EQ(result_.cached_bytes, 0);
        EXPECT_THAT(result_.spoiled, ElementsAre(digest_of("content")));
        EXPECT_EQ(site.requests().size(), 1U);
    }
    DataSite site([](const std::string&) { return good("content"); });
    std::filesystem::remove(cache_folder_ / digest_of("content"));
    std::filesystem::create_directory(cache_folder_ / digest_of("content"));
    ASSERT_TRUE(stage({site.url() + "/x", "no file", digest_of("content"), std::nullopt}));
    EXPECT_EQ(staged("no file"), "content");
    EXPECT_THAT(result_.spoiled, IsEmpty());
}

TEST_F(StageInputs, TakesNothingFromTheCenterThatIsNotAllowed)
{
    have_cached(digest_of("content"), "content");

    EXPECT_THAT(
        stage({"file://" + (folder_.path() / "cached").string(), "y", digest_of("content"), 7}, {}).error().detail,
        HasSubstr("input_folders"));
    EXPECT_THAT(stage({"http://127.0.0.1:1/x", "x", digest_of("content"), 7}, {}).error().detail,
                HasSubstr("input_http"));
}

TEST_F(StageInputs, TakesAJobsOutputFromTheCenterWhereverItWasStored)
{
    have_cached(digest_of("content"), "content");

    for (const std::string& url :
         {"file://" + (folder_.path() / "gone").string(), std::string("http://127.0.0.1:1/x")}) {
        SCOPED_TRACE(url);
        const Result<void> done = stage({url, url.substr(0, 4), digest_of("content"), 7, "job:job_1/x", {}}, {});

        ASSERT_TRUE(done) << done.error().detail;
        EXPECT_EQ(staged(url.substr(0, 4)), "content");
        EXPECT_EQ(result_.cached_bytes, 7);
    }
}

TEST_F(StageInputs, SaysThatAJobsOutputIsGoneEverywhere)
{
    const DataSite site([](const std::string&) { return response("404 Not Found", "", 0); });
    const std::string url = site.url() + "/x";

    const Result<void> done = stage({url + "?signature=geheim", "x", digest_of("content"), 7, "job:job_1/x", {}});

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().detail,
              "job:job_1/x: this center keeps no copy of it, and " + url + ": the server answered 404");
    EXPECT_THAT(stage({url, "y", digest_of("content"), 7, "job:job_1/x", {}}, {}).error().detail,
                HasSubstr("input_http"));

    have_cached(digest_of("content"), "CONTENT");
    EXPECT_EQ(stage({url, "z", digest_of("content"), 7, "job:job_1/x", {}}).error().detail,
              "job:job_1/x: the copy that this center kept of it was damaged, and " + url +
                  ": the server answered 404");
}

TEST_F(StageInputs, GoesOnWhereATransferBrokeOff)
{
    DataSite site([](const std::string& request) {
        if (request.find("Range: bytes=3-\r\n") == std::string::npos) return response("200 OK", "con", 7);
        return response("206 Partial Content", "tent", 4);
    });

    const Result<void> done = stage({site.url() + "/x", "x", digest_of("content"), std::nullopt});

    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(staged("x"), "content");
    EXPECT_EQ(site.requests().size(), 2U);
}

TEST_F(StageInputs, BeginsAnewWhereTheServerDoesOrNoChecksumTells)
{
    int requests = 0;
    DataSite site(
        [&](const std::string&) { return ++requests % 2 == 1 ? response("200 OK", "con", 7) : good("content"); });
    ASSERT_TRUE(stage({site.url() + "/x", "with", digest_of("content"), std::nullopt}));
    ASSERT_TRUE(stage({site.url() + "/x", "without", "", std::nullopt}));

    EXPECT_EQ(staged("with"), "content");
    EXPECT_EQ(staged("without"), "content");
    ASSERT_EQ(site.requests().size(), 4U);
    EXPECT_THAT(site.requests()[1], HasSubstr("Range: bytes=3-"));
    EXPECT_THAT(site.requests()[3], Not(HasSubstr("Range:")));
}

TEST_F(StageInputs, TriesAgainWhatMayPassAndNothingElse)
{
    DataSite busy([](const std::string&) { return response("503 Busy", "", 0); });
    const Error late = stage({busy.url() + "/x?signature=geheim", "x", "", std::nullopt}).error();
    EXPECT_EQ(late.code, Errc::kUnavailable);
    EXPECT_EQ(late.detail, busy.url() + "/x: the server answered 503, at the last of 3 tries");
    EXPECT_EQ(busy.requests().size(), 3U);

    DataSite empty([](const std::string&) { return response("404 Not Found", "none", 4); });
    const Error missing = stage({empty.url() + "/x?signature=geheim", "y", "", std::nullopt}).error();
    EXPECT_EQ(missing.code, Errc::kInvalid);
    EXPECT_EQ(missing.detail, empty.url() + "/x: the server answered 404");
    EXPECT_EQ(empty.requests().size(), 1U);
}

TEST_F(StageInputs, TakesNoOtherContentThanDeclared)
{
    const DataSite site([](const std::string&) { return good("content"); });
    EXPECT_THAT(stage({site.url(), "a", digest_of("other"), std::nullopt}).error().detail,
                AllOf(HasSubstr(digest_of("content")), HasSubstr(digest_of("other"))));
    EXPECT_THAT(stage({site.url(), "b", "", 6}).error().detail, HasSubstr("more bytes than the 6"));
    EXPECT_THAT(stage({site.url(), "c", "", 8}).error().detail, HasSubstr("has 7 bytes, and 8 were declared"));
}

TEST_F(StageInputs, TakesHttpOnlyWhereTheCenterDoes)
{
    DataSite site([](const std::string&) { return good("content"); });

    EXPECT_THAT(stage({site.url(), "a", "", std::nullopt}, {}).error().detail, HasSubstr("input_http"));
    EXPECT_TRUE(site.requests().empty());
}

TEST_F(StageInputs, FollowsNoLinkOutOfTheWorkingFolderAndReplacesNothing)
{
    const DataSite site([](const std::string&) { return good("content"); });
    const std::filesystem::path outside = folder_.path() / "outside";
    std::filesystem::create_directory(outside);
    std::filesystem::create_directory_symlink(outside, work() / "link");
    std::filesystem::create_symlink(outside / "new", work() / "file");
    write_file(work() / "there", "old").value();

    EXPECT_FALSE(stage({site.url(), "link/x", "", std::nullopt}));
    EXPECT_FALSE(stage({site.url(), "file", "", std::nullopt}));
    EXPECT_FALSE(stage({site.url(), "there", "", std::nullopt}));

    EXPECT_TRUE(std::filesystem::is_empty(outside));
    EXPECT_EQ(staged("there"), "old");
}

TEST_F(StageInputs, CopiesFilesOfTheFoldersThatTheCenterNames)
{
    const std::filesystem::path shared = folder_.path() / "shared";
    std::filesystem::create_directories(shared / "sets");
    write_file(shared / "sets" / "a", "content").value();
    write_file(folder_.path() / "private", "geheim").value();
    std::filesystem::create_symlink(folder_.path() / "private", shared / "link");
    const StagingRule rule{.folders = {shared}};
    const std::string url = "file://" + shared.string();

    ASSERT_TRUE(stage({url + "/sets/a", "a", digest_of("content"), 7}, rule));
    EXPECT_EQ(staged("a"), "content");
    EXPECT_THAT(stage({url + "/link", "b", "", std::nullopt}, rule).error().detail, HasSubstr("input_folders"));
    EXPECT_THAT(stage({"file://" + (folder_.path() / "private").string(), "c", "", std::nullopt}, rule).error().detail,
                HasSubstr("input_folders"));
    EXPECT_THAT(stage({url + "/sets", "d", "", std::nullopt}, rule).error().detail, HasSubstr("not a plain file"));
    EXPECT_THAT(stage({url + "/none", "e", "", std::nullopt}, rule).error().detail, StartsWith(url + "/none: "));
}

TEST_F(StageInputs, AreFetchedByWhatIsSignedForThem)
{
    DataSite site([](const std::string&) { return good("content"); });
    const std::string url = "s3://bucket/x";
    const StagingRule rule{.takes_http = true, .s3 = {{"GET " + url, {site.url() + "/bucket/x?signature=s", ""}}}};

    const Result<void> done = stage({url, "x", digest_of("content"), 7}, rule);

    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(staged("x"), "content");
    EXPECT_THAT(site.requests().at(0), StartsWith("GET /bucket/x?signature=s "));
}

TEST_F(StageInputs, OfAnObjectStoreAreRefusedWithTheReason)
{
    const std::string url = "s3://bucket/x";
    have_cached(digest_of("content"), "content");

    const Result<void> refused =
        stage({url, "a", digest_of("content"), 7}, {.takes_http = true, .s3 = {{"GET " + url, {"", "not theirs"}}}});
    const Result<void> to_write_only =
        stage({url, "b", "", 7}, {.takes_http = true, .s3 = {{"PUT " + url, {"http://h/x", ""}}}});

    EXPECT_THAT(refused.error().detail, HasSubstr("s3://bucket/x: not theirs")) << "although the center has a copy";
    EXPECT_EQ(to_write_only.error().code, Errc::kInvalid);
}

TEST(StagingOrders, AreReadAsTheyWereWritten)
{
    const StagingOrder order{{{"https://h/x", "x", "", 3}},
                             {{"out/y", "https://h/y"}},
                             {.takes_http = true, .folders = {"/shared"}, .output_folders = {"/results"}},
                             {{digest_of("content"), 5}},
                             "/scratch/input-cache"};

    const StagingOrder again = decode_staging_order(encode(order)).value();

    EXPECT_EQ(again.inputs, order.inputs);
    EXPECT_EQ(again.outputs, order.outputs);
    EXPECT_EQ(again.cached, order.cached);
    EXPECT_EQ(again.cache_folder, order.cache_folder);
    EXPECT_TRUE(again.rule.takes_http);
    EXPECT_THAT(again.rule.folders, ElementsAre("/shared"));
    EXPECT_FALSE(again.rule.sends_http);
    EXPECT_THAT(again.rule.output_folders, ElementsAre("/results"));
    EXPECT_FALSE(decode_staging_order("{}"));
    EXPECT_FALSE(decode_staging_order("[]"));
    EXPECT_FALSE(decode_staging_order(R"({"rule": {}, "inputs": []})"));
}

} // namespace
} // namespace fathom::agent
