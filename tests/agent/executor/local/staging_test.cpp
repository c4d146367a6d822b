#include "agent/config/staging_order.hpp"
#include "agent/executor/local/cached_inputs.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/data_site.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace fathom::agent {
namespace {

using test::LocalExecutorTest;
using test::shell_order;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(LocalExecutorTest, StagesInputsBeforeTheCommandStarts)
{
    std::filesystem::create_directory(folder_.path() / "shared");
    write_file(folder_.path() / "shared" / "a", "content").value();
    options_.staging.folders = {folder_.path() / "shared"};
    AttemptOrder job = shell_order("cat in/a");
    job.inputs = {{"file://" + (folder_.path() / "shared" / "a").string(), "in/a", "", 7}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
    EXPECT_EQ(end.exit_code, 0) << output(end.attempt_id, OutputStream::kStderr);
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "content");
    ASSERT_TRUE(end.staging);
    EXPECT_EQ(end.staging->in_bytes, 7);
    EXPECT_GT(end.staging->in_s, 0);
    EXPECT_EQ(end.staging->out_s, 0);
    EXPECT_LT(end.staging->both_s(), end.run_s);
}

TEST_F(LocalExecutorTest, TakesNoLongerStagingFromAJobThanTheJobTook)
{
    std::filesystem::create_directory(folder_.path() / "shared");
    write_file(folder_.path() / "shared" / "a", "content").value();
    options_.staging.folders = {folder_.path() / "shared"};
    AttemptOrder job =
        shell_order("echo '{\"seconds\": 1e8, \"bytes\": 5, \"cached_bytes\": 6}' > .fathom-inputs.json");
    job.inputs = {{"file://" + (folder_.path() / "shared" / "a").string(), "a", "", std::nullopt}};

    const AttemptEnd end = run(job);

    ASSERT_TRUE(end.staging);
    EXPECT_EQ(end.staging->in_s, end.run_s);
    EXPECT_EQ(end.staging->in_cached_bytes, 5) << "no more than there are";
}

TEST_F(LocalExecutorTest, AJobWithoutInputsAndOutputsHasNoStaging)
{
    const AttemptEnd end = run(shell_order("echo '{\"seconds\": 0.001, \"bytes\": 5}' > .fathom-inputs.json"));

    EXPECT_EQ(end.exit_code, 0);
    EXPECT_FALSE(end.staging);
}

TEST_F(LocalExecutorTest, TellsStagingThatFailedFromTheJobsOwnFailure)
{
    AttemptOrder job = shell_order("echo ran; exit 1");
    job.inputs = {{"http://127.0.0.1:1/x?signature=geheim", "x", "", std::nullopt}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_EQ(end.exit_code, std::nullopt);
    EXPECT_EQ(end.cause, AttemptCause::kStagingFailed);
    EXPECT_THAT(end.detail, StartsWith("staging failed: http://127.0.0.1:1/x: "));
    ASSERT_TRUE(end.staging);
    EXPECT_EQ(end.staging->in_bytes, 0);
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "");
}

/// Keeps inputs, of which a web site has one.
class CachedInputsTest : public LocalExecutorTest {
  protected:
    CachedInputsTest()
    {
        options_.staging.takes_http = true;
        options_.input_cache = {folder_.path() / "input-cache", 1 << 20};
    }

    std::filesystem::path cached() const { return options_.input_cache.folder / kSha256; }
    static AttemptOrder job(const std::string& url, const std::string& command)
    {
        AttemptOrder order = shell_order(command);
        order.inputs = {{url + "/x", "in/x", kSha256, std::nullopt}};
        return order;
    }

    static constexpr const char* kSha256 = // of "content"
        "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";
    static constexpr const char* kNowhere = "http://127.0.0.1:1";
    test::DataSite site_{[](const std::string&) {
        return std::string("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\ncontent");
    }};
};

TEST_F(CachedInputsTest, AreKeptForLaterJobsThatNameThem)
{
    const AttemptEnd first = run(job(site_.url(), "cat in/x"));
    ASSERT_EQ(first.exit_code, 0) << first.detail;
    EXPECT_EQ(first.staging.value().in_cached_bytes, 0);
    test::wait_until([&] { return std::filesystem::exists(cached()); }, "the copy");

    const AttemptEnd second = run(job(kNowhere, "cat in/x; ls -l /proc/self/fd"));

    ASSERT_EQ(second.exit_code, 0) << second.detail;
    EXPECT_EQ(second.staging.value().in_cached_bytes, 7);
    const std::string told = output(second.attempt_id, OutputStream::kStdout);
    EXPECT_THAT(told, StartsWith("content"));
    EXPECT_THAT(told, Not(HasSubstr("input-cache"))) << "the command has no file of the cache open";
    EXPECT_EQ(read_file(cached()).value(), "content");
}

TEST_F(CachedInputsTest, AreTheAgentsWhereJobsHaveUsersOfTheirOwn)
{
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    options_.user_ids = UserIds{200000, 265535};
    ASSERT_EQ(run(job(site_.url(), "cat in/x")).exit_code, 0);
    test::wait_until([&] { return std::filesystem::exists(cached()); }, "the copy");

    const AttemptEnd end = run(job(kNowhere, "cat in/x; echo forged >> in/x; cat " + cached().string()));

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "content");
    EXPECT_EQ(end.exit_code, 1) << "the file is not the job's to open";
    EXPECT_EQ(end.staging.value().in_cached_bytes, 7);
    EXPECT_EQ(read_file(cached()).value(), "content");
}

TEST_F(CachedInputsTest, AreNotKeptWhereTheJobHasChangedThem)
{
    ASSERT_EQ(run(job(site_.url(), "echo forged > in/x")).exit_code, 0);
    ASSERT_EQ(run(job(site_.url(), "rm in/x; ln -s /etc/passwd in/x")).exit_code, 0);
    ASSERT_EQ(run(job(site_.url(), "cat in/x")).exit_code, 0);
    test::wait_until([&] { return std::filesystem::exists(cached()); }, "the copy");

    EXPECT_EQ(read_file(cached()).value(), "content");
}

TEST_F(CachedInputsTest, OfAJobThatHasChangedOneAreNotReadFurther)
{
    const std::filesystem::path work = folder_.path() / "work";
    std::filesystem::create_directory(work);
    write_file(work / "changed", "forged").value();
    write_file(work / "whole", "content").value();
    const InputCache cache = std::move(InputCache::open(options_.input_cache)).value();

    ASSERT_TRUE(keep_staged(cache, {{"changed", std::string(64, 'a')}, {"whole", kSha256}}, work, ::geteuid()));
    EXPECT_FALSE(std::filesystem::exists(cached()));

    ASSERT_TRUE(keep_staged(cache, {{"whole", kSha256}}, work, ::geteuid(), {.most_bytes = 6}));
    EXPECT_FALSE(std::filesystem::exists(cached())) << "it has more bytes than are read";

    ASSERT_TRUE(keep_staged(cache, {{"whole", kSha256}}, work, ::geteuid(), {.most_bytes = 7}));
    EXPECT_TRUE(std::filesystem::exists(cached()));
}

TEST_F(CachedInputsTest, AreFetchedAgainWhereTheCacheIsSpoiled)
{
    ASSERT_EQ(run(job(site_.url(), "true")).exit_code, 0);
    test::wait_until([&] { return std::filesystem::exists(cached()); }, "the copy");
    std::filesystem::permissions(cached(), std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
    write_file(cached(), "CONTENT").value();

    const AttemptEnd end = run(job(site_.url(), "cat in/x"));

    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "content");
    EXPECT_EQ(end.staging.value().in_cached_bytes, 0);
    test::wait_until(
        [&] {
            const Result<std::string> content = read_file(cached());
            return content && *content == "content";
        },
        "the new copy");
}

TEST_F(CachedInputsTest, AreNotKeptWhereTheCenterKeepsNone)
{
    options_.input_cache.limit_bytes = 0;

    ASSERT_EQ(run(job(site_.url(), "cat in/x")).exit_code, 0);

    EXPECT_FALSE(std::filesystem::exists(options_.input_cache.folder));
}

TEST_F(CachedInputsTest, AreOutputsOfEarlierJobsThatWereKept)
{
    const std::filesystem::path results = folder_.path() / "results";
    std::filesystem::create_directory(results);
    options_.staging.output_folders = {results};
    const std::string url = "file://" + (results / "x").string();
    AttemptOrder first = shell_order("printf content > x");
    first.outputs = {{"x", url}};
    ASSERT_EQ(run(first).exit_code, 0);
    test::wait_until([&] { return std::filesystem::exists(cached()); }, "the copy");
    std::filesystem::remove_all(results);

    AttemptOrder later = shell_order("cat in/x");
    later.inputs = {{url, "in/x", kSha256, 7, "job:" + first.job_id.value + "/x", {}}};
    const AttemptEnd end = run(later);

    ASSERT_EQ(end.exit_code, 0) << end.detail;
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "content");
    EXPECT_EQ(end.staging.value().in_cached_bytes, 7);
}

TEST_F(LocalExecutorTest, StoresOutputsOnceTheCommandHasSucceeded)
{
    std::filesystem::create_directory(folder_.path() / "results");
    options_.staging.output_folders = {folder_.path() / "results"};
    const std::filesystem::path result = folder_.path() / "results" / "sum";
    AttemptOrder job = shell_order("mkdir out; printf 42 > out/sum");
    job.outputs = {{"out/sum", "file://" + result.string()}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
    EXPECT_EQ(end.exit_code, 0) << output(end.attempt_id, OutputStream::kStderr);
    EXPECT_EQ(read_file(result).value(), "42");
    ASSERT_EQ(end.outputs.size(), 1U);
    EXPECT_EQ(end.outputs[0].path, "out/sum");
    EXPECT_EQ(end.outputs[0].size_bytes, 2);
    ASSERT_TRUE(end.staging);
    EXPECT_EQ(end.staging->in_s, 0);
    EXPECT_EQ(end.staging->out_bytes, 2);
    EXPECT_GT(end.staging->out_s, 0);

    job = shell_order("mkdir out; printf 43 > out/sum; exit 3");
    job.outputs = {{"out/sum", "file://" + result.string()}};
    EXPECT_EQ(run(job).exit_code, 3);
    EXPECT_EQ(read_file(result).value(), "42") << "a command that fails has no outputs";
}

TEST_F(LocalExecutorTest, TellsOutputsThatCouldNotBeStoredFromTheJobsOwnFailure)
{
    AttemptOrder job = shell_order("echo done");
    job.outputs = {{"sum", "https://127.0.0.1:1/sum?signature=geheim"}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kExited);
    EXPECT_EQ(end.exit_code, std::nullopt);
    EXPECT_EQ(end.cause, AttemptCause::kOutputsFailed);
    EXPECT_THAT(end.detail,
                StartsWith("outputs could not be stored: sum to https://127.0.0.1:1/sum: it cannot be opened"));
    EXPECT_EQ(output(end.attempt_id, OutputStream::kStdout), "done\n");
    EXPECT_TRUE(end.outputs.empty());
}

TEST(StageProgram, TakesWhatWasSignedAnewBesideItsFolder)
{
    const test::DataSite site(
        [](const std::string&) { return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\ncontent"; });
    const std::string key = s3_grant_key("GET", "s3://sets/x");
    StagingOrder order;
    order.inputs = {{"s3://sets/x", "x", "", 7}};
    order.rule.takes_http = true;
    order.rule.s3 = {{key, {"", "what was signed is over"}}};
    StagingRule renewed;
    renewed.s3 = {{key, {site.url() + "/x?signature=s", ""}}};
    const auto fetched = [&](const std::string& signed_anew) {
        const test::TemporaryFolder attempt;
        const std::filesystem::path work = attempt.path() / "work";
        std::filesystem::create_directory(work);
        write_file(work / kStagingOrderName, encode(order)).value();
        write_file(attempt.path() / kRenewedName, signed_anew).value();
        const std::string program = (test::agent_program().parent_path() / "fathom-stage").string();
        const std::string line = "cd '" + work.string() + "' && '" + program + "' 2>/dev/null";
        const int code = std::system(line.c_str()); // NOLINT(concurrency-mt-unsafe): of this test alone
        return code == 0 ? read_file(work / "x").value() : "";
    };

    EXPECT_EQ(fetched(""), "");
    EXPECT_EQ(fetched(to_json(renewed).dump()), "content");
}

TEST_F(LocalExecutorTest, AJobWithOutputsEndsByTheSignalThatItsCommandEndedBy)
{
    AttemptOrder job = shell_order("kill -SEGV $$");
    job.outputs = {{"sum", "https://127.0.0.1:1/sum"}};

    const AttemptEnd end = run(job);

    EXPECT_EQ(end.outcome, AttemptOutcome::kSignalled) << end.detail;
    EXPECT_EQ(end.signal, SIGSEGV);
}

} // namespace
} // namespace fathom::agent
