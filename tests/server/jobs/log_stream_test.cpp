#include "server/jobs/log_stream.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <future>

namespace fathom::server {
namespace {

class Logs : public JobsFixture {
  protected:
    Logs() { add_center("alpha"); }

    std::string read(const JobId& job, const std::string& tail)
    {
        const net::Response response = call(net::Method::kGet, "/jobs/" + job.value + "/logs/" + tail);
        EXPECT_EQ(response.status, 200) << response.body;
        auto writer = std::make_shared<FakeWriter>();
        run(response.stream(writer));
        return writer->text();
    }
    void end(const JobId& job, std::int64_t stdout_bytes = 0)
    {
        AttemptEnd ended = exited(0);
        ended.stdout_bytes = stdout_bytes;
        ASSERT_TRUE(report_end(job, ended));
    }
};

TEST_F(Logs, AreTheBytesThatTheJobWrote)
{
    const JobId job = job_in("running");
    std::string bytes;
    for (int i = 0; i < 256; ++i)
        bytes += static_cast<char>(i);
    ASSERT_TRUE(write_output(job, 0, bytes));
    ASSERT_TRUE(write_output(job, 256, "tail"));
    ASSERT_TRUE(write_output(job, 0, "error", "stderr"));

    EXPECT_EQ(read(job, "stdout"), bytes + "tail");
    EXPECT_EQ(read(job, "stderr"), "error");
    EXPECT_EQ(read(job, "stdout?offset_bytes=250"), bytes.substr(250) + "tail");
    EXPECT_EQ(read(job, "stdout?offset_bytes=258"), "il");
    EXPECT_EQ(read(job, "stdout?offset_bytes=1000"), "");
}

TEST_F(Logs, HoldEachByteOnceHoweverOftenItCame)
{
    const JobId job = job_in("running");

    ASSERT_TRUE(write_output(job, 0, "abc"));
    ASSERT_TRUE(write_output(job, 0, "abc"));
    ASSERT_TRUE(write_output(job, 0, "abcdef"));
    ASSERT_TRUE(write_output(job, 3, "def"));
    ASSERT_TRUE(write_output(job, 6, "g"));

    EXPECT_EQ(read(job, "stdout"), "abcdefg");
}

TEST_F(Logs, FindBytesInAPieceThatBeginsEarlierThanAnother)
{
    // As of an agent that was restarted and has cut its output anew.
    const JobId job = job_in("running");
    ASSERT_TRUE(write_output(job, 0, "ab"));
    ASSERT_TRUE(write_output(job, 4, "ef"));
    ASSERT_TRUE(write_output(job, 2, "cdefghij"));

    EXPECT_EQ(read(job, "stdout"), "abcdefghij");
    EXPECT_EQ(read(job, "stdout?offset_bytes=6"), "ghij");
}

TEST_F(Logs, AreReadInTheTurnOfTheirReader)
{
    const JobId job = job_in("running");
    ASSERT_TRUE(write_output(job, 0, "abc"));
    const auto line = std::make_shared<TokenLine>(1);
    std::shared_ptr<const void> held = run(line->take("tok_busy"));
    const LogRequest log{.job = job, .stream = "stdout", .turns = {line, "tok_busy"}};
    auto writer = std::make_shared<FakeWriter>();
    std::future<void> done = io_.spawn(stream_log(database_, log, writer));

    EXPECT_EQ(done.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
    EXPECT_EQ(writer->text(), "");
    held.reset();

    test::TestIo::get(std::move(done));
    EXPECT_EQ(writer->text(), "abc");
    EXPECT_TRUE(run(line->take("tok_busy"))) << "it has come back";
}

TEST_F(Logs, ShowNothingBehindAGapThatMayBeFilled)
{
    const JobId job = submit();
    route();
    ASSERT_TRUE(write_output(job, 0, "ab"));
    ASSERT_TRUE(write_output(job, 4, "ef"));
    end(job, 6);
    EXPECT_EQ(read(job, "stdout"), "ab");
    const net::Response response = call(net::Method::kGet, "/jobs/" + job.value + "/logs/stdout?follow=true");
    auto writer = std::make_shared<FakeWriter>();
    std::future<void> done = io_.spawn(response.stream(writer));
    EXPECT_TRUE(test::eventually([&] { return writer->text() == "ab"; }));

    ASSERT_TRUE(write_output(job, 2, "cd"));

    test::TestIo::get(std::move(done));
    EXPECT_EQ(writer->text(), "abcdef");
}

TEST_F(Logs, LeaveOutWhatHasNotComeWithinAMinute)
{
    const JobId job = submit();
    route();
    ASSERT_TRUE(write_output(job, 0, "ab"));
    ASSERT_TRUE(write_output(job, 4, "ef"));
    end(job, 6);
    sql("UPDATE job SET state_changed_at = state_changed_at - interval '2 minutes'");

    EXPECT_EQ(read(job, "stdout"), "abef");
}

TEST_F(Logs, WaitForWhatTheCenterTellsAfterTheEnd)
{
    const JobId job = submit();
    route();
    ASSERT_TRUE(write_output(job, 0, "one "));
    end(job, 7);
    const net::Response response = call(net::Method::kGet, "/jobs/" + job.value + "/logs/stdout?follow=true");
    auto writer = std::make_shared<FakeWriter>();
    std::future<void> done = io_.spawn(response.stream(writer));
    EXPECT_TRUE(test::eventually([&] { return writer->text() == "one "; }));

    ASSERT_TRUE(write_output(job, 4, "two"));

    test::TestIo::get(std::move(done));
    EXPECT_EQ(writer->text(), "one two");
    const net::Response errors = call(net::Method::kGet, "/jobs/" + job.value + "/logs/stderr?follow=true");
    auto nothing = std::make_shared<FakeWriter>();
    test::TestIo::get(io_.spawn(errors.stream(nothing)));
    EXPECT_EQ(nothing->text(), "") << "it wrote nothing there, and nobody waits for it";
}

TEST_F(Logs, WaitNoLongerThanAMinuteForWhatIsMissing)
{
    const JobId job = submit();
    route();
    end(job, 7);
    sql("UPDATE job SET state_changed_at = state_changed_at - interval '2 minutes'");

    const net::Response response = call(net::Method::kGet, "/jobs/" + job.value + "/logs/stdout?follow=true");
    auto writer = std::make_shared<FakeWriter>();
    test::TestIo::get(io_.spawn(response.stream(writer)));

    EXPECT_EQ(writer->text(), "");
}

TEST_F(Logs, FollowTheJobToItsEnd)
{
    const JobId job = submit();
    const net::Response response = call(net::Method::kGet, "/jobs/" + job.value + "/logs/stdout?follow=true");
    auto writer = std::make_shared<FakeWriter>();
    std::future<void> done = io_.spawn(response.stream(writer));

    route();
    ASSERT_TRUE(write_output(job, 0, "one "));
    EXPECT_TRUE(test::eventually([&] { return writer->text() == "one "; }));
    ASSERT_TRUE(write_output(job, 4, "two"));
    end(job);

    test::TestIo::get(std::move(done));
    EXPECT_EQ(writer->text(), "one two");
}

TEST_F(Logs, AreEmptyBeforeAnAttempt)
{
    EXPECT_EQ(read(submit(), "stdout"), "");
}

TEST_F(Logs, RefuseOddRequests)
{
    const JobId job = submit();

    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + job.value + "/logs/stdall").status, 404);
    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + job.value + "/logs/stdout?offset_bytes=-1").status, 400);
    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + job.value + "/logs/stdout?follow=maybe").status, 400);
}

} // namespace
} // namespace fathom::server
