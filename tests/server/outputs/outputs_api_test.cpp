// GET /jobs/{id}/output.
#include "server/outputs/outputs_api.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <atomic>
#include <chrono>
#include <future>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kMib = 1 << 20U;
constexpr std::int64_t kMaxOutputBytes = 4 * kMib;

/// A job of ann's has stored an output at alpha, whose agent keeps a copy.
class OutputsApi : public JobsFixture {
  protected:
    OutputsApi()
    {
        add_center("alpha");
        sql(R"(UPDATE center SET facts = facts || '{"reads_kept_files": true, "stores_outputs": true}')");
        // Every letter of the alphabet in turn: what comes says which bytes it is.
        answer_with("substring(repeat('abcdefghijklmnopqrstuvwxyz', 200000), (NEW.offset_bytes + 1)::integer, "
                    "NEW.most_bytes)::bytea");
        add_outputs_routes(api_, jobs_, files_, kMaxOutputBytes, [this] { return now_.load(); });
    }

    /// What the agent of every center sends; NULL: nothing.
    void answer_with(const std::string& bytes) const
    {
        sql("CREATE OR REPLACE FUNCTION answer_piece() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.piece := " +
            bytes + "; RETURN NEW; END $$");
        sql("CREATE OR REPLACE TRIGGER answer_piece BEFORE INSERT ON kept_file_question "
            "FOR EACH ROW EXECUTE FUNCTION answer_piece()");
    }
    void refuse_with(const std::string& code, const std::string& reason) const
    {
        sql("CREATE OR REPLACE FUNCTION answer_piece() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.refusal_code "
            ":= '" +
            code + "'; NEW.refusal := '" + reason + "'; RETURN NEW; END $$");
    }
    JobId stored(std::int64_t size_bytes, const std::string& url = "https://h/results/a?secret=1")
    {
        const JobId job =
            submit(spec({{"outputs",
                          Json::array({{{"path", "out/a"}, {"url", url}}, {{"path", "out/b"}, {"url", url + "&b"}}})}}),
                   ann_);
        route();
        orders_for(center_of(job));
        EXPECT_TRUE(report_start(job));
        AttemptEnd end = exited(0);
        end.outputs = {{"out/a", size_bytes, std::string(64, 'a')}};
        EXPECT_TRUE(report_end(job, std::move(end)));
        return job;
    }
    net::Response get(const JobId& job, const std::string& path = "out/a", const net::Headers& headers = {},
                      const std::string& user = "ann")
    {
        return call(net::Method::kGet, "/jobs/" + job.value + "/output?path=" + path, "", headers, user);
    }
    std::string body_of(const net::Response& response)
    {
        const auto writer = std::make_shared<FakeWriter>();
        test::TestIo::get(io_.spawn(response.stream(writer)));
        return writer->text();
    }
    std::string left_questions() const { return sql("SELECT count(*) FROM kept_file_question"); }
    static std::string letters(std::size_t first, std::size_t size)
    {
        std::string text;
        for (std::size_t i = first; i < first + size; ++i)
            text += static_cast<char>('a' + i % 26);
        return text;
    }

    std::atomic<std::chrono::steady_clock::time_point> now_{};  ///< for how fast clients read
    KeptFiles files_{database_, std::chrono::milliseconds(10)}; ///< nothing wakes it: a trigger answers
    const Principal ann_ = add_token("ann", Role::kUser);
    const Principal bob_ = add_token("bob", Role::kUser);
    const Principal olga_ = add_token("olga", Role::kOperator);
};

TEST_F(OutputsApi, GivesAnOutputRangeByRange)
{
    const JobId job = stored(3 * kMib + 5);

    const net::Response response = get(job);

    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.headers.at("Content-Length"), std::to_string(3 * kMib + 5));
    EXPECT_EQ(response.headers.at("ETag"), "\"sha256-" + std::string(64, 'a') + "\"");
    EXPECT_EQ(response.headers.at("Repr-Digest"), "sha-256=:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=:");
    EXPECT_EQ(response.headers.at("Content-Disposition"), "attachment; filename=\"a\"");
    EXPECT_TRUE(body_of(response) == letters(0, 3 * kMib + 5));
    EXPECT_EQ(left_questions(), "0");
}

TEST_F(OutputsApi, GivesAPartOfAnOutput)
{
    const JobId job = stored(1000);

    const net::Response part = get(job, "out/a", {{"Range", "bytes=900-"}});
    ASSERT_EQ(part.status, 206) << part.body;
    EXPECT_EQ(part.headers.at("Content-Range"), "bytes 900-999/1000");
    EXPECT_EQ(part.headers.at("Content-Length"), "100");
    EXPECT_EQ(body_of(part), letters(900, 100));

    const net::Response of_other = get(job, "out/a", {{"Range", "bytes=900-"}, {"If-Range", "\"sha256-b\""}});
    EXPECT_EQ(of_other.status, 200);
    const net::Response behind = get(job, "out/a", {{"Range", "bytes=1000-"}});
    EXPECT_EQ(behind.status, 416);
    EXPECT_EQ(behind.headers.at("Content-Range"), "bytes */1000");
    EXPECT_EQ(Json::parse(behind.body)["status"], 416);
}

TEST_F(OutputsApi, WhatAnEarlierPartOfADividedJobStoredIsNone)
{
    const JobId job = stored(1000);
    const std::string where = " WHERE id = '" + job.value + "'";
    sql("UPDATE job SET state = 'queued', steps = '{}'" + where);

    const net::Response between = get(job);

    EXPECT_EQ(between.status, 404);
    EXPECT_THAT(between.body, HasSubstr("the output is not stored: the job is queued"));
    sql("UPDATE job SET state = 'succeeded'" + where);
    EXPECT_EQ(get(job).status, 200) << "its last part's";
}

TEST_F(OutputsApi, AsksForNothingOfAnEmptyOutput)
{
    answer_with("NULL");

    const net::Response response = get(stored(0));

    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.body, "");
}

TEST_F(OutputsApi, SaysWhereALargeOneLies)
{
    const JobId job = stored(kMaxOutputBytes + 1);

    const net::Response response = get(job);

    EXPECT_EQ(response.status, 413);
    EXPECT_THAT(response.body, HasSubstr("max_fetched_output_mib"));
    EXPECT_THAT(response.body, HasSubstr("https://h/results/a"));
    EXPECT_THAT(response.body, HasSubstr("job:" + job.value + "/out/a"));
    EXPECT_THAT(response.body, Not(HasSubstr("secret")));
}

TEST_F(OutputsApi, SaysWhyThereIsNone)
{
    const JobId job = stored(1000);
    EXPECT_EQ(get(job, "other").status, 404);
    EXPECT_THAT(get(job, "out/b").body, HasSubstr("not stored: the job is succeeded"));
    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + job.value + "/output", "", {}, "ann").status, 400)
        << "path is required";

    refuse_with("not_found", "no copy of it is kept");
    const net::Response gone = get(job);
    EXPECT_EQ(gone.status, 404);
    EXPECT_THAT(gone.body,
                HasSubstr("center alpha: no copy of it is kept; the output was stored at https://h/results/a"));
    refuse_with("unavailable", "its copy cannot be read: Input/output error");
    EXPECT_EQ(get(job).status, 503);
    EXPECT_EQ(left_questions(), "0");

    sql("UPDATE center SET facts = facts - 'reads_kept_files'");
    EXPECT_EQ(get(job).status, 422);
    sql("UPDATE center SET state = 'lost'");
    const net::Response away = get(job);
    EXPECT_EQ(away.status, 503);
    EXPECT_THAT(away.body, HasSubstr("center alpha: it is not connected: lost"));
}

TEST_F(OutputsApi, TakesNoCopyThatIsShorterThanWhatWasStored)
{
    answer_with("'abc'::bytea");

    EXPECT_EQ(get(stored(1000)).status, 404);
}

TEST_F(OutputsApi, CutsAnAnswerOffWhereTheCenterGoesAwayAndStopsAskingWhereTheClientDoes)
{
    const JobId job = stored(3 * kMib);
    const net::Response cut = get(job);
    const net::Response left = get(job);
    const auto writer = std::make_shared<FakeWriter>();
    writer->hang_up();

    test::TestIo::get(io_.spawn(left.stream(writer)));
    sql("UPDATE center SET state = 'suspect'");

    EXPECT_THROW(body_of(cut), std::runtime_error);
    EXPECT_EQ(left_questions(), "0");
}

/// Takes so long for each piece.
class SlowWriter final : public net::BodyWriter {
  public:
    SlowWriter(std::atomic<std::chrono::steady_clock::time_point>& now, std::chrono::milliseconds of_piece)
        : now_(&now), of_piece_(of_piece)
    {
    }
    asio::awaitable<Result<void>> write(std::string chunk) override
    {
        *now_ = now_->load() + of_piece_;
        bytes_ += static_cast<std::int64_t>(chunk.size());
        co_return Result<void>();
    }
    asio::awaitable<Result<void>> sleep(std::chrono::milliseconds /*duration*/) override { co_return Result<void>(); }
    std::int64_t bytes() const { return bytes_; }

  private:
    std::atomic<std::chrono::steady_clock::time_point>* now_;
    std::chrono::milliseconds of_piece_;
    std::atomic<std::int64_t> bytes_{0};
};

TEST_F(OutputsApi, CutsAnAnswerOffThatIsTakenTooSlowlySoThatItsPlaceIsForOthers)
{
    constexpr std::int64_t kPiece = 256 << 10U;
    const JobId job = stored(3 * kMib);
    const auto slow = std::make_shared<SlowWriter>(now_, 5s); // 51 KiB/s
    const auto steady = std::make_shared<SlowWriter>(now_, 3s);

    EXPECT_THROW(test::TestIo::get(io_.spawn(get(job).stream(slow))), std::runtime_error) << "cut off, not ended";
    EXPECT_EQ(slow->bytes(), 6 * kPiece) << "after half a minute";
    EXPECT_EQ(left_questions(), "0");
    test::TestIo::get(io_.spawn(get(job).stream(steady)));
    EXPECT_EQ(steady->bytes(), 3 * kMib);
}

TEST_F(OutputsApi, LeavesRoomForOthersWhereOneTokenFetchesMuch)
{
    const JobId job = stored(10);
    std::vector<net::Response> fetched; // each until it has been written
    for (int i = 0; i < 8; ++i) {
        fetched.push_back(get(job));
        ASSERT_EQ(fetched.back().status, 200) << fetched.back().body;
    }

    const net::Response more = get(job);
    EXPECT_EQ(more.status, 429);
    EXPECT_EQ(more.headers.at("Retry-After"), "5");
    EXPECT_THAT(more.body, HasSubstr("this token fetches 8 outputs already"));
    EXPECT_EQ(get(job, "out/a", {}, "olga").status, 200);

    fetched.clear();
    EXPECT_EQ(get(job).status, 200);
}

TEST_F(OutputsApi, IsForThoseWhoMaySeeTheJob)
{
    const JobId job = stored(10);

    EXPECT_EQ(get(job, "out/a", {}, "bob").status, 404);
    EXPECT_EQ(get(job, "out/a", {}, "olga").status, 200);
    EXPECT_EQ(sql("SELECT actor || ' ' || subject FROM audit_log WHERE action = 'job.read_output'"),
              olga_.token_id.value + " " + job.value);
}

} // namespace
} // namespace fathom::server
