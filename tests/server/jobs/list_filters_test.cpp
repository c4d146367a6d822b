#include "core/base/ulid_time.hpp"
#include "server/jobs/job_choice.hpp"
#include "server/store/index_order.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

class JobFilters : public JobsFixture {
  protected:
    JobFilters()
    {
        add_center("alpha", 1);
        add_center("beta", 1);
    }

    /// Names of all jobs that such a list has, page by page.
    std::vector<std::string> list(const std::string& query, const std::string& user = "admin")
    {
        std::vector<std::string> names;
        const std::string target = "/jobs?page_size=2&" + query;
        for (std::string token = "first"; !token.empty();) {
            const std::string more = token == "first" ? "" : "&page_token=" + token;
            const net::Response response = call(net::Method::kGet, target + more, "", {}, user);
            EXPECT_EQ(response.status, 200) << response.body;
            const Json page = Json::parse(response.body);
            for (const Json& job : page["items"])
                names.push_back(job["name"].get<std::string>());
            token = page["next_page_token"].is_string() ? page["next_page_token"].get<std::string>() : "";
        }
        return names;
    }
    JobId submit_at(const std::string& name, const std::string& center)
    {
        return submit(spec({{"name", name}, {"units", {{"center", center}}}}));
    }
    using Names = std::vector<std::string>;
};

TEST_F(JobFilters, LeaveJobsOfATypeASubmitterAndAName)
{
    const Principal ann = add_token("ann", Role::kUser);
    submit(spec({{"name", "train-1"}, {"type", "md/water"}}), ann);
    submit(spec({{"name", "train-2"}, {"type", "md/salt"}}));
    submit(spec({{"name", "Train-3"}, {"type", "md/water"}}));
    submit(spec({{"name", "100%_x"}}));
    submit(spec({{"name", "100 x"}}));

    EXPECT_EQ(list("type=md/water"), (Names{"Train-3", "train-1"}));
    EXPECT_EQ(list("type=md/water&submitted_by=" + ann.token_id.value), Names{"train-1"});
    EXPECT_EQ(list("submitted_by=tok_nobody"), Names());
    EXPECT_EQ(list("name=train"), (Names{"train-2", "train-1"}));
    EXPECT_EQ(list("name=train&sort=submitted"), (Names{"train-1", "train-2"}));
    EXPECT_EQ(list("name=train&sort=name"), (Names{"train-1", "train-2"}));
    EXPECT_EQ(list("name=100%_"), Names{"100%_x"}) << "it is no pattern";
    EXPECT_EQ(list("name=train", "ann"), Names{"train-1"}) << "users still see their own jobs only";
    EXPECT_EQ(list("name=train&type=md/salt&state=queued"), Names{"train-2"});
}

TEST_F(JobFilters, LeaveJobsOfAPlace)
{
    const JobId moved = submit_at("moved", "alpha");
    submit_at("at beta", "beta");
    route();
    ASSERT_EQ(state_of(moved), "placed");
    submit_at("waits", "alpha");
    const std::string alpha = center_id("alpha");
    const std::string beta_core = sql("SELECT id FROM unit_type WHERE center_id = '" + center_id("beta") + "'");

    EXPECT_EQ(list("center=alpha"), Names{"moved"});
    EXPECT_EQ(list("center=" + alpha), Names{"moved"});
    EXPECT_EQ(list("unit_type=beta/core"), Names{"at beta"});
    EXPECT_EQ(list("unit_type=" + beta_core), Names{"at beta"});
    EXPECT_EQ(list("center=alpha&unit_type=beta/core"), Names());
    EXPECT_EQ(list("center=gamma"), Names());
    EXPECT_EQ(list("center=alpha&name=mov"), Names{"moved"});
    EXPECT_EQ(list("center=alpha&name=at"), Names());

    sql("UPDATE attempt SET state = 'ended' WHERE job_id = '" + moved.value + "'");
    sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by) SELECT 'att_later', "
        "'" +
        moved.value + "', 2, '" + center_id("beta") + "', '" + beta_core + "', 1, 'rep_1'");
    EXPECT_EQ(list("center=alpha"), Names()) << "the newest attempt counts";
    EXPECT_EQ(list("center=beta"), (Names{"at beta", "moved"}));
    EXPECT_EQ(list("center=beta&sort=submitted"), (Names{"moved", "at beta"}));
    EXPECT_EQ(list("center=beta&sort=-name"), (Names{"moved", "at beta"}));
}

TEST_F(JobFilters, LeaveJobsOfATime)
{
    const auto time_of = [this](const JobId& job) {
        return Json::parse(call(net::Method::kGet, "/jobs/" + job.value).body)["submitted_at"].get<std::string>();
    };
    const JobId first = submit(spec({{"name", "first"}}));
    const std::string second = time_of(submit(spec({{"name", "second"}})));
    submit(spec({{"name", "third"}}));
    sql("UPDATE job SET submitted_at = submitted_at - interval '1 minute' WHERE id = '" + first.value + "'");

    EXPECT_EQ(list("submitted_after=" + second), (Names{"third", "second"})) << "then or later";
    EXPECT_EQ(list("submitted_before=" + second), Names{"first"});
    EXPECT_EQ(list("submitted_before=" + second + "&sort=submitted"), Names{"first"});
    EXPECT_EQ(list("submitted_after=" + second + "&submitted_before=" + second), Names());
    EXPECT_EQ(list("submitted_after=" + time_of(first) + "&submitted_before=" + second + "&name=f"), Names{"first"});
    EXPECT_EQ(call(net::Method::kGet, "/jobs?submitted_after=yesterday").status, 400);
}

TEST_F(JobFilters, AlsoLeaveWhatIsCounted)
{
    submit_at("a", "alpha");
    route();
    submit(spec({{"name", "b"}, {"type", "t"}}));
    const auto counted = [this](const std::string& query) {
        return Json::parse(call(net::Method::kGet, "/job-groups?by=state&" + query).body)["counted"];
    };

    EXPECT_EQ(counted("name=a"), 1);
    EXPECT_EQ(counted("center=alpha"), 1);
    EXPECT_EQ(counted("type=t"), 1);
    EXPECT_EQ(counted("submitted_after=2000-01-01T00:00:00Z"), 2);
    EXPECT_EQ(counted("submitted_before=2000-01-01T00:00:00Z"), 0);
}

/// Ten thousand jobs, a hundred an hour; ten of each thousand are rare in one way each.
class ManyJobs : public JobFilters {
  protected:
    ManyJobs()
    {
        std::string hours;
        for (int hour = 0; hour < 100; ++hour)
            hours += (hour == 0 ? "'" : ",'") + first_ulid_of(kBegin + std::chrono::hours(hour)).substr(0, 10) + "'";
        sql("INSERT INTO job (id, name, project, job_type, spec, state, submitted_at, submitted_by) "
            "SELECT 'job_' || m.time || lpad(n::text, 16, '0'), CASE k % 1000 WHEN 0 THEN 'rare' ELSE 'train-' || k "
            "END, "
            "'p', CASE k % 1000 WHEN 1 THEN 'rare' ELSE 'often' END, '{\"command\": [\"true\"]}', 'succeeded', "
            "timestamptz '" +
            format_rfc3339(kBegin) +
            "' + (m.hour - 1) * interval '1 hour', CASE k % 1000 WHEN 2 THEN 'tok_rare' ELSE 'tok_x' END "
            "FROM unnest(ARRAY[" +
            hours +
            "]) WITH ORDINALITY m (time, hour), generate_series(1, 100) n, "
            "LATERAL (SELECT m.hour * 100 + n AS k) numbered");
        sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, decided_by) "
            "SELECT 'att_' || right(j.id, 26), j.id, 1, u.center_id, u.id, 1, 'ended', 'rep_1' "
            "FROM job j JOIN center c ON c.name = CASE WHEN j.name LIKE 'train-%003' THEN 'beta' ELSE 'alpha' END "
            "JOIN unit_type u ON u.center_id = c.id");
        sql("ANALYZE job, attempt");
    }

    /// How many rows of jobs and attempts a page of fifty reads, as PostgreSQL counts them.
    std::int64_t rows_read(const JobFilter& filter, SortDirection direction = SortDirection::kDescending)
    {
        auto explain = [&](pqxx::work& transaction) -> Result<Json> {
            const JobChoice choice(transaction, filter);
            Parameters parameters;
            const std::string sql = choice.sql({.direction = direction, .most = 51}, parameters);
            if (choice.walks_in_order()) prefer_index_order(transaction);
            const pqxx::result plan = parameters.run(transaction, "EXPLAIN (ANALYZE, FORMAT JSON) " + sql);
            return Json::parse(plan[0][0].as<std::string>());
        };
        const Result<Json> plan = database_.blocking_run(explain);
        EXPECT_TRUE(plan) << plan.error().detail;
        return plan ? rows_of((*plan)[0]["Plan"]) : 0;
    }

    static constexpr Timestamp kBegin{std::chrono::sys_days(std::chrono::year(2026) / 11 / 1)};

  private:
    static std::int64_t rows_of(const Json& node)
    {
        double rows = 0;
        if (node.contains("Relation Name"))
            rows = (node["Actual Rows"].get<double>() + node.value("Rows Removed by Filter", 0.0)) *
                   node["Actual Loops"].get<double>();
        auto all = static_cast<std::int64_t>(rows);
        for (const Json& part : node.value("Plans", Json::array()))
            all += rows_of(part);
        return all;
    }
};

TEST_F(ManyJobs, AreNotAllReadForAPageOfAFew)
{
    constexpr std::int64_t kFew = 1000;
    JobFilter by_type;
    by_type.job_type = "rare";
    JobFilter by_submitter;
    by_submitter.submitted_by = "tok_rare";
    JobFilter by_name;
    by_name.name_prefix = "rar";
    JobFilter by_center;
    by_center.center = "beta";
    JobFilter by_time;
    by_time.submitted_after = kBegin + 50h;
    by_time.submitted_before = kBegin + 51h;
    JobFilter of_a_rare_type_at_the_usual_place = by_type;
    of_a_rare_type_at_the_usual_place.center = "alpha";
    JobFilter own_at_the_usual_place;
    own_at_the_usual_place.center = "alpha";
    own_at_the_usual_place.scope.owner = "tok_rare";
    JobFilter running_at_the_usual_place;
    running_at_the_usual_place.center = "alpha";
    running_at_the_usual_place.state = "running";
    for (const JobFilter& filter :
         {by_type, by_submitter, by_name, by_center, by_time, of_a_rare_type_at_the_usual_place, own_at_the_usual_place,
          running_at_the_usual_place}) {
        SCOPED_TRACE(filter.job_type + filter.submitted_by + filter.name_prefix + filter.center);
        EXPECT_LT(rows_read(filter), kFew);
        EXPECT_LT(rows_read(filter, SortDirection::kAscending), kFew);
    }
    JobFilter by_common_name;
    by_common_name.name_prefix = "train";
    JobFilter at_the_usual_place;
    at_the_usual_place.unit_type = "alpha/core";
    for (const JobFilter& filter : {by_common_name, at_the_usual_place})
        EXPECT_LT(rows_read(filter), kFew) << "a page is full long before all are seen";
}

TEST_F(ManyJobs, AreAllListedThatFit)
{
    EXPECT_EQ(list("type=rare").size(), 10U);
    EXPECT_EQ(list("submitted_by=tok_rare").size(), 10U);
    EXPECT_EQ(list("name=rar").size(), 10U);
    EXPECT_EQ(list("center=beta").size(), 10U);
    EXPECT_EQ(list("center=alpha&type=rare").size(), 10U);
    EXPECT_EQ(list("center=beta&type=rare").size(), 0U);
    EXPECT_EQ(list("submitted_after=2026-11-03T02:00:00Z&submitted_before=2026-11-03T03:00:00Z").size(), 100U);
}

} // namespace
} // namespace fathom::server
