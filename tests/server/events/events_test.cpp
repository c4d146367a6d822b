#include "server/events/job_event_log.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

class LiveEvents : public JobsFixture {
  protected:
    LiveEvents()
    {
        add_center("alpha");
        events_.subscribe(notifier_);
        notifier_.start();
        events_.start(tasks_);
    }

    struct Listening {
        std::shared_ptr<FakeWriter> writer = std::make_shared<FakeWriter>();
        std::future<void> done;
        ~Listening()
        {
            writer->hang_up();
            if (done.valid()) done.wait_for(std::chrono::seconds(60));
        }
        std::vector<std::int64_t> ids() const
        {
            std::vector<std::int64_t> found;
            const std::string text = writer->text();
            for (std::size_t at = text.find("id: "); at != std::string::npos; at = text.find("\nid: ", at + 1)) {
                const std::size_t begin = text.find(' ', at) + 1;
                found.push_back(std::stoll(text.substr(begin)));
            }
            return found;
        }
    };
    std::unique_ptr<Listening> listen(const std::string& query = "", const net::Headers& headers = {},
                                      const std::string& user = "admin")
    {
        const net::Response response = call(net::Method::kGet, "/events" + query, "", headers, user);
        EXPECT_EQ(response.status, 200) << response.body;
        EXPECT_EQ(response.headers.at("Content-Type"), "text/event-stream");
        auto listening = std::make_unique<Listening>();
        listening->done = io_.spawn(response.stream(listening->writer));
        EXPECT_TRUE(test::eventually([&] { return !listening->writer->text().empty(); }));
        return listening;
    }
};

TEST_F(LiveEvents, ComeInOrderAsTheyHappen)
{
    const auto listening = listen();

    for (int i = 0; i < 20; ++i)
        submit();

    EXPECT_TRUE(test::eventually([&] { return listening->ids().size() == 20; }));
    const std::vector<std::int64_t> ids = listening->ids();
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    EXPECT_THAT(listening->writer->text(), ::testing::HasSubstr("event: job\ndata: {"));
}

TEST_F(LiveEvents, WaitOnceForAllNumbersThatNeverCome)
{
    const auto listening = listen();
    for (int i = 0; i < 50; ++i) {
        sql("SELECT nextval(pg_get_serial_sequence('job_event', 'id'))"); // its transaction was rolled back
        submit();
    }
    const auto submitted = std::chrono::steady_clock::now();

    EXPECT_TRUE(test::eventually([&] { return listening->ids().size() == 50; }));
    EXPECT_LT(std::chrono::steady_clock::now() - submitted, std::chrono::seconds(30)) << "one second, not fifty";
}

TEST_F(LiveEvents, ReachWhoSeesTheJobByAProject)
{
    const Principal bob = add_token("bob", Role::kUser);
    for (const auto& [name, role] : {std::pair{"ada", "lead"}, {"tom", "viewer"}, {"eve", "submitter"}}) {
        add_token(name, Role::kUser);
        const Json body{{"role", role}};
        ASSERT_EQ(call(net::Method::kPut, std::string("/projects/materials/members/") + name, body.dump()).status, 200);
    }
    identity_.forget_known();
    const auto ada = listen("", {}, "ada");
    const auto tom = listen("", {}, "tom");
    const auto eve = listen("", {}, "eve");

    const JobId seen = submit(spec({{"project", "materials"}}), bob);
    const JobId other = submit(spec({{"project", "physics"}}), bob);
    const auto all = listen("", {{"Last-Event-ID", "0"}});

    EXPECT_TRUE(test::eventually([&] { return all->ids().size() == 2; }));
    EXPECT_TRUE(test::eventually([&] { return ada->ids().size() == 1 && tom->ids().size() == 1; }));
    EXPECT_THAT(ada->writer->text(), ::testing::HasSubstr(seen.value));
    EXPECT_THAT(tom->writer->text(), ::testing::HasSubstr(seen.value));
    EXPECT_EQ(eve->ids().size(), 0U) << eve->writer->text() << other.value;
    const auto again = listen("", {{"Last-Event-ID", "0"}}, "tom");
    EXPECT_TRUE(test::eventually([&] { return again->ids().size() == 1; }));
}

TEST_F(LiveEvents, ResumeAfterTheLastOneSeen)
{
    for (int i = 0; i < 10; ++i)
        submit();
    const std::int64_t fourth = std::stoll(sql("SELECT id FROM job_event ORDER BY id OFFSET 3 LIMIT 1"));

    const auto listening = listen("", {{"Last-Event-ID", std::to_string(fourth)}});
    EXPECT_TRUE(test::eventually([&] { return listening->ids().size() == 6; }));
    submit();

    EXPECT_TRUE(test::eventually([&] { return listening->ids().size() == 7; }));
    EXPECT_EQ(listening->ids().front(), fourth + 1);
}

TEST_F(LiveEvents, AreLookedForInSmallPartsWhereFewAreTheListeners)
{
    const Principal ann = add_token("ann", Role::kUser);
    submit(spec(), ann);
    const std::int64_t first = std::stoll(sql("SELECT max(id) FROM job_event"));
    sql("SELECT setval(pg_get_serial_sequence('job_event', 'id'), 100000)");
    for (int i = 0; i < 70; ++i) // more than are looked at for numbers that may still come
        submit();

    const auto listening = listen("", {{"Last-Event-ID", "0"}}, "ann");

    EXPECT_TRUE(test::eventually([&] { return listening->ids() == std::vector<std::int64_t>{first}; }));
    const auto looks = [&] {
        const std::vector<std::chrono::milliseconds> pauses = listening->writer->pauses();
        return std::count(pauses.begin(), pauses.end(), std::chrono::milliseconds(10));
    };
    EXPECT_TRUE(test::eventually([&] { return looks() >= 4; })) << "else one look goes through all that are kept";
    submit(spec(), ann);
    EXPECT_TRUE(test::eventually([&] { return listening->ids().size() == 2; }));
}

TEST_F(LiveEvents, ThatWereMissedAreReadInTheTurnOfTheirReader)
{
    submit();
    const auto line = std::make_shared<TokenLine>(1);
    std::shared_ptr<const void> held = run(line->take("tok_busy"));
    Listening busy;
    Listening other;
    busy.done = io_.spawn(events_.stream(EventFilter{}, 0, busy.writer, {line, "tok_busy"}));
    other.done = io_.spawn(events_.stream(EventFilter{}, 0, other.writer, {line, "tok_other"}));

    EXPECT_TRUE(test::eventually([&] { return other.ids().size() == 1; }));
    EXPECT_TRUE(test::eventually([&] { return !busy.writer->text().empty(); }));
    EXPECT_EQ(busy.ids().size(), 0U) << "it has not had its turn";
    held.reset();

    EXPECT_TRUE(test::eventually([&] { return busy.ids().size() == 1; }));
}

TEST_F(LiveEvents, ShowUsersTheirOwnJobsOnly)
{
    const Principal ann = add_token("ann", Role::kUser);
    const auto listening = listen("", {}, "ann");

    submit();
    const JobId own = submit(spec(), ann);

    EXPECT_TRUE(test::eventually([&] { return listening->ids().size() == 1; }));
    EXPECT_THAT(listening->writer->text(), ::testing::HasSubstr(own.value));
}

TEST_F(LiveEvents, CanBeOfOneJob)
{
    const JobId job = submit();
    const auto listening = listen("?job=" + job.value, {{"Last-Event-ID", "0"}});

    submit();
    call(net::Method::kPost, "/jobs/" + job.value + ":cancel");

    EXPECT_TRUE(test::eventually([&] { return listening->ids().size() == 2; }));
}

TEST_F(LiveEvents, HaveTimesInTheOrderOfTheirNumbers)
{
    const JobId job = submit();
    const auto recording = [&](const char* cause) {
        return [&job, cause](pqxx::work& transaction) -> Result<void> {
            record_job_events(transaction, {{job, JobState::kQueued, cause, Json::object()}});
            return {};
        };
    };
    auto second = recording("of the second transaction");
    auto first = [&](pqxx::work& transaction) -> Result<void> {
        transaction.exec("SELECT now()");
        if (Result<void> recorded = database_.blocking_run(second); !recorded) return recorded;
        return recording("of the first transaction")(transaction);
    };
    ASSERT_TRUE(database_.blocking_run(first));
    sql("UPDATE job_event SET at = now() + interval '1 hour' WHERE cause = 'of the first transaction'");
    auto third = recording("after the clock went back");
    ASSERT_TRUE(database_.blocking_run(third));

    EXPECT_EQ(sql("SELECT count(*) FROM (SELECT at, lag(at) OVER (ORDER BY id) AS before FROM job_event) e "
                  "WHERE at < before"),
              "0")
        << sql("SELECT string_agg(at || ' ' || cause, ', ' ORDER BY id) FROM job_event");
    EXPECT_EQ(sql("SELECT count(*) FROM job_event"), "4");
}

TEST_F(LiveEvents, WaitForANumberThatIsStillBeingWritten)
{
    // A number is waited for for a second: it comes too late where the process stood still meanwhile.
    bool is_in_time = false;
    for (int i = 0; i < 10 && !is_in_time; ++i) {
        const auto listening = listen();
        const JobId job = submit();
        const std::int64_t seen = std::stoll(sql("SELECT max(id) FROM job_event"));
        ASSERT_TRUE(test::eventually([&] { return !listening->ids().empty() && listening->ids().back() == seen; }));
        const auto insert = "INSERT INTO job_event (job_id, state, cause) VALUES ('" + job.value + "', 'queued', 'x')";

        // The first takes its number, and commits after the second.
        const auto began = std::chrono::steady_clock::now();
        auto slow = [&](pqxx::work& transaction) -> Result<void> {
            transaction.exec(insert);
            transaction.exec("SELECT pg_sleep(0.3)");
            return {};
        };
        std::future<void> first =
            std::async(std::launch::async, [this, slow]() mutable { ASSERT_TRUE(database_.blocking_run(slow)); });
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        submit();
        first.get();
        is_in_time = std::chrono::steady_clock::now() - began < std::chrono::milliseconds(900);
        if (!is_in_time) continue;

        const auto after_seen = [&] {
            std::vector<std::int64_t> ids = listening->ids();
            std::erase_if(ids, [&](std::int64_t id) { return id <= seen; });
            return ids;
        };
        EXPECT_TRUE(test::eventually([&] { return after_seen().size() == 2; }));
        const std::vector<std::int64_t> ids = listening->ids();
        EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    }
    EXPECT_TRUE(is_in_time) << "the machine is too slow";
}

TEST_F(LiveEvents, GoOnAfterANumberThatNeverCame)
{
    const auto listening = listen();
    sql("SELECT nextval(pg_get_serial_sequence('job_event', 'id'))");

    submit();

    EXPECT_TRUE(test::eventually([&] { return listening->ids().size() == 1; }));
}

TEST_F(LiveEvents, RefuseOddRequests)
{
    EXPECT_EQ(call(net::Method::kGet, "/events?job=7").status, 400);
    EXPECT_EQ(call(net::Method::kGet, "/events", "", {{"Last-Event-ID", "x"}}).status, 400);
}

TEST(EventRing, SendsThoseWhoFellBehindAway)
{
    EventRing ring(2);
    EXPECT_EQ(ring.after(0, 10).kind, EventRing::View::Kind::kClosed);
    ring.open(10);
    for (std::int64_t id = 11; id <= 14; ++id)
        ring.push({id, "job", "owner", "project", "frame"});

    EXPECT_EQ(ring.after(11, 10).kind, EventRing::View::Kind::kBehind);
    EXPECT_EQ(ring.after(12, 10).events.size(), 2U);
    EXPECT_EQ(ring.after(13, 10).events.size(), 1U);
    EXPECT_EQ(ring.after(14, 10).events.size(), 0U);
}

} // namespace
} // namespace fathom::server
