#include "agent/executor/local/staging_report.hpp"
#include "agent/stage/run_command.hpp"
#include "agent/stage/store_outputs.hpp"
#include "core/base/file.hpp"
#include "core/base/sha256.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/data_site.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using test::DataSite;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string answer(const std::string& status)
{
    return "HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
}

std::string sha256_of(const std::string& content)
{
    Sha256 digest;
    digest.add(content);
    return digest.hex();
}

class StoreOutputs : public testing::Test {
  protected:
    StoreOutputs()
    {
        std::filesystem::create_directories(work() / "out");
        std::filesystem::create_directory(results());
        write_file(work() / "out" / "x", "content").value();
        write_file(work() / "y", "").value();
    }

    std::filesystem::path work() const { return folder_.path() / "work"; }
    std::filesystem::path results() const { return folder_.path() / "results"; }
    std::string file_url(const std::string& name) const { return "file://" + (results() / name).string(); }
    Result<void> store(const std::vector<JobOutput>& outputs, const StagingRule& rule = {.sends_http = true})
    {
        stored_.clear();
        return store_outputs(outputs, rule, work(), stored_, {.most = 3, .first_pause = std::chrono::milliseconds(1)});
    }
    Result<void> store_in_folder(const std::string& path, const std::string& url)
    {
        return store({{path, url}}, {.output_folders = {results()}});
    }

    test::TemporaryFolder folder_;
    std::vector<StoredOutput> stored_;
};

TEST_F(StoreOutputs, SendsThemByPutAndTellsWhatWasSent)
{
    DataSite site([](const std::string&) { return answer("201 Created"); });

    const Result<void> done = store({{"out/x", site.url() + "/a/x?signature=1"}, {"y", site.url() + "/y"}});

    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_THAT(stored_,
                ElementsAre(StoredOutput{"out/x", 7, sha256_of("content")}, StoredOutput{"y", 0, sha256_of("")}));
    ASSERT_EQ(site.requests().size(), 2U);
    EXPECT_THAT(site.requests()[0], StartsWith("PUT /a/x?signature=1 HTTP/1.1\r\n"));
    EXPECT_THAT(site.requests()[0], EndsWith("\r\n\r\ncontent"));
    EXPECT_THAT(site.requests()[0], Not(HasSubstr("Expect:"))) << "it would wait for an answer";
    EXPECT_THAT(site.requests()[1], HasSubstr("Content-Length: 0\r\n"));
}

TEST_F(StoreOutputs, SendsAgainFromTheBeginningWhatMayPass)
{
    int asked = 0;
    DataSite site([&](const std::string&) { return answer(++asked < 3 ? "503 Busy" : "200 OK"); });

    ASSERT_TRUE(store({{"out/x", site.url() + "/x"}}));

    EXPECT_THAT(stored_, ElementsAre(StoredOutput{"out/x", 7, sha256_of("content")}));
    ASSERT_EQ(site.requests().size(), 3U);
    EXPECT_THAT(site.requests()[2], EndsWith("\r\n\r\ncontent"));
}

TEST_F(StoreOutputs, TellsWhatFailedAndKeepsWhatWasStoredBefore)
{
    DataSite site(
        [](const std::string& request) { return answer(request.starts_with("PUT /y") ? "403 Forbidden" : "200 OK"); });

    const Error refused = store({{"out/x", site.url() + "/x"}, {"y", site.url() + "/y?signature=geheim"}}).error();

    EXPECT_EQ(refused.code, Errc::kInvalid);
    EXPECT_EQ(refused.detail, "y to " + site.url() + "/y: the server answered 403");
    EXPECT_THAT(stored_, ElementsAre(StoredOutput{"out/x", 7, sha256_of("content")}));
    EXPECT_EQ(site.requests().size(), 2U) << "another try would end as this one";
}

TEST_F(StoreOutputs, DoesNotSendToWhereAServerRedirects)
{
    DataSite other([](const std::string&) { return answer("200 OK"); });
    const DataSite site([&](const std::string&) {
        return "HTTP/1.1 307 Elsewhere\r\nConnection: close\r\nContent-Length: 0\r\nLocation: " + other.url() +
               "/x\r\n\r\n";
    });

    EXPECT_THAT(store({{"out/x", site.url() + "/x"}}).error().detail, EndsWith("the server answered 307"));
    EXPECT_THAT(other.requests(), IsEmpty());
}

TEST_F(StoreOutputs, SendsByHttpOnlyWhereTheCenterAllowsIt)
{
    DataSite site([](const std::string&) { return answer("200 OK"); });

    EXPECT_THAT(store({{"out/x", site.url()}}, {.takes_http = true}).error().detail, HasSubstr("output_http"));
    EXPECT_THAT(site.requests(), IsEmpty());
}

TEST_F(StoreOutputs, SaysBeforeTheCommandWhichObjectsItMayNotWrite)
{
    const StagingRule rule{.s3 = {{s3_grant_key("PUT", "s3://b/x"), {.url = "https://s3.example/b/x?signed"}},
                                  {s3_grant_key("PUT", "s3://b/y"), {.refusal = "the job may not"}}}};

    EXPECT_TRUE(check_grants({{"x", "s3://b/x"}, {"z", "https://h/z"}}, rule));
    const Error refusal = check_grants({{"x", "s3://b/x"}, {"y", "s3://b/y"}}, rule).error();
    EXPECT_EQ(refusal.code, Errc::kInvalid);
    EXPECT_EQ(refusal.detail, "y to s3://b/y: the job may not");
}

TEST_F(StoreOutputs, WantsAFile)
{
    EXPECT_THAT(store({{"none", "https://127.0.0.1:1/x"}}).error().detail, HasSubstr("No such file"));
    EXPECT_THAT(store({{"out", "https://127.0.0.1:1/x"}}).error().detail, HasSubstr("not a plain file"));
    ASSERT_EQ(::mkfifo((work() / "pipe").c_str(), 0600), 0);
    EXPECT_THAT(store({{"pipe", "https://127.0.0.1:1/x"}}).error().detail, HasSubstr("not a plain file"));
}

TEST_F(StoreOutputs, WritesFilesOfTheFoldersThatTheCenterNames)
{
    ASSERT_TRUE(store_in_folder("out/x", file_url("run/1/x")));
    EXPECT_EQ(read_file(results() / "run" / "1" / "x").value(), "content");
    EXPECT_EQ(std::filesystem::status(results() / "run" / "1" / "x").permissions(), std::filesystem::perms(0644));

    ASSERT_TRUE(store_in_folder("y", file_url("run/1/x"))) << "the newer one takes the older one's place";
    EXPECT_EQ(read_file(results() / "run" / "1" / "x").value(), "");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(results() / "run" / "1"), {}), 1)
        << "no parts are left";
}

TEST_F(StoreOutputs, WritesNowhereElse)
{
    const std::filesystem::path outside = folder_.path() / "outside";
    std::filesystem::create_directory(outside);
    std::filesystem::create_directory_symlink(outside, results() / "link");

    EXPECT_THAT(store_in_folder("out/x", "file://" + (outside / "x").string()).error().detail,
                HasSubstr("output_folders"));
    EXPECT_THAT(store_in_folder("out/x", "file://" + (folder_.path() / "new" / "x").string()).error().detail,
                HasSubstr("output_folders"));
    EXPECT_THAT(store_in_folder("out/x", file_url("link/x")).error().detail, HasSubstr("output_folders"));
    EXPECT_FALSE(store_in_folder("out/x", file_url("link/new/x")));
    EXPECT_TRUE(std::filesystem::is_empty(outside));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "new"));
}

TEST_F(StoreOutputs, DoesNotTakeTheLinkForTheFile)
{
    write_file(folder_.path() / "precious", "old").value();
    std::filesystem::create_symlink(folder_.path() / "precious", results() / "x");

    ASSERT_TRUE(store_in_folder("out/x", file_url("x")));

    EXPECT_EQ(read_file(folder_.path() / "precious").value(), "old");
    EXPECT_EQ(read_file(results() / "x").value(), "content");
}

/// The exit code of run_command(), in a process of its own.
int exit_code_of(const std::string& line)
{
    std::string shell = "/bin/sh";
    std::string option = "-c";
    std::string text = line;
    const std::array<char*, 4> command{shell.data(), option.data(), text.data(), nullptr};
    return run_command(command.data());
}

TEST(RunCommand, EndsAsTheCommandEnds)
{
    EXPECT_EQ(exit_code_of("exit 0"), 0);
    EXPECT_EQ(exit_code_of("exit 3"), 3);
    std::string missing = "/no/such/program";
    const std::array<char*, 2> command{missing.data(), nullptr};
    EXPECT_EQ(run_command(command.data()), 127);
    EXPECT_EXIT(std::exit(exit_code_of("kill -KILL $$")), testing::KilledBySignal(SIGKILL), "");
    EXPECT_EXIT(std::exit(exit_code_of("kill -TERM $PPID; exit 5")), testing::ExitedWithCode(5), "")
        << "the command decides what a request to end means";
}

TEST(StagingReports, AreTakenFromAnOlderProgramThatNamesNoTime)
{
    const test::TemporaryFolder work;
    const StoredOutput stored{"x", 2, std::string(64, 'a')};
    write_file(work.path() / kStoredOutputsName, Json{{"outputs", to_json(std::vector{stored})}}.dump()).value();
    AttemptEnd end;
    end.outcome = AttemptOutcome::kExited;
    end.exit_code = 0;
    end.run_s = 1;

    note_outputs(end, work.path(), ::geteuid());

    EXPECT_THAT(end.outputs, ElementsAre(stored));
    EXPECT_EQ(end.staging.value().out_bytes, 2);
    EXPECT_EQ(end.staging.value().out_s, 0);
}

} // namespace
} // namespace fathom::agent
