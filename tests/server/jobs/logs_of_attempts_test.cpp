#include "tests/server/jobs/jobs_fixture.hpp"

#include <future>

namespace fathom::server {
namespace {

/// A job that runs a second time, after a node of its first attempt failed.
class LogsOfAttempts : public JobsFixture {
  protected:
    LogsOfAttempts()
    {
        add_center("alpha");
        job_ = submit(spec({{"requeue", true}}));
        route();
        EXPECT_TRUE(run(report(attempts_, center_of(job_), StartAcknowledged{attempt_of(job_)})));
        EXPECT_TRUE(report_start(job_));
        EXPECT_TRUE(write_output(job_, 0, "first"));
        first_ = attempt_of(job_);
        AttemptEnd end = exited(0);
        end.outcome = AttemptOutcome::kNodeFailure;
        end.exit_code = {};
        end.stdout_bytes = 9;
        EXPECT_TRUE(report_end(job_, end));
        route();
        EXPECT_TRUE(report_start(job_));
        EXPECT_TRUE(write_output(job_, 0, "second"));
    }
    std::string read(const std::string& tail)
    {
        const net::Response response = call(net::Method::kGet, "/jobs/" + job_.value + "/logs/" + tail);
        EXPECT_EQ(response.status, 200) << response.body;
        auto writer = std::make_shared<FakeWriter>();
        run(response.stream(writer));
        return writer->text();
    }
    int status(const std::string& tail)
    {
        return call(net::Method::kGet, "/jobs/" + job_.value + "/logs/" + tail).status;
    }

    JobId job_;
    AttemptId first_;
};

TEST_F(LogsOfAttempts, AreGivenByTheirNumberOrTheirId)
{
    ASSERT_NE(attempt_of(job_), first_);

    EXPECT_EQ(read("stdout"), "second");
    EXPECT_EQ(read("stdout?attempt=1"), "first");
    EXPECT_EQ(read("stdout?attempt=" + first_.value), "first");
    EXPECT_EQ(read("stdout?attempt=1&offset_bytes=3"), "st");
    EXPECT_EQ(read("stdout?attempt=2"), "second");
    EXPECT_EQ(status("stdout?attempt=3"), 404);
    EXPECT_EQ(status("stdout?attempt=" + attempt_of(job_in("running")).value), 404) << "it is another job's";
}

TEST_F(LogsOfAttempts, AreFollowedToTheEndOfTheAttemptAlone)
{
    const net::Response response =
        call(net::Method::kGet, "/jobs/" + job_.value + "/logs/stdout?attempt=1&follow=true");
    auto writer = std::make_shared<FakeWriter>();
    std::future<void> done = io_.spawn(response.stream(writer));
    EXPECT_TRUE(test::eventually([&] { return writer->text() == "first"; }));
    EXPECT_EQ(done.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout) << "four bytes are missing";

    sql("UPDATE attempt SET created_at = created_at - interval '2 minutes' WHERE epoch = 2");

    test::TestIo::get(std::move(done));
    EXPECT_EQ(writer->text(), "first") << "the second attempt runs on";
}

TEST_F(LogsOfAttempts, AreGoneOneByOne)
{
    sql("UPDATE attempt SET output_removed_at = now() WHERE id = '" + first_.value + "'");

    EXPECT_EQ(status("stdout?attempt=1"), 404);
    EXPECT_EQ(status("stdout?attempt=2"), 200);
    EXPECT_EQ(status("stdout"), 200);
}

} // namespace
} // namespace fathom::server
