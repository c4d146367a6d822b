#include "tests/server/jobs/jobs_fixture.hpp"
#include "tests/server/jobs/locked_table.hpp"

#include <future>
#include <set>

namespace fathom::server {
namespace {

class Listing : public JobsFixture {
  protected:
    Listing() { add_center("alpha"); }

    Json get(const std::string& target, const std::string& user = "admin")
    {
        return Json::parse(call(net::Method::kGet, target, "", {}, user).body);
    }
    static std::vector<std::string> names(const Json& page)
    {
        std::vector<std::string> found;
        for (const Json& job : page["items"])
            found.push_back(job["name"].get<std::string>());
        return found;
    }
};

TEST_F(Listing, GivesPagesNewestFirst)
{
    for (const std::string name : {"a", "b", "c", "d", "e"})
        submit(spec({{"name", name}}));

    const Json first = get("/jobs?page_size=2");
    const Json second = get("/jobs?page_size=2&page_token=" + first["next_page_token"].get<std::string>());
    const Json third = get("/jobs?page_size=2&page_token=" + second["next_page_token"].get<std::string>());

    EXPECT_EQ(names(first), (std::vector<std::string>{"e", "d"}));
    EXPECT_EQ(names(second), (std::vector<std::string>{"c", "b"}));
    EXPECT_EQ(names(third), std::vector<std::string>{"a"});
    EXPECT_EQ(third["next_page_token"], nullptr);
}

TEST_F(Listing, IsSortedPageByPageAsItIsAskedFor)
{
    for (const std::string name : {"b", "a b", "c", "b"})
        submit(spec({{"name", name}, {"project", "p-" + name}}));
    const auto sorted = [&](const std::string& order) {
        std::vector<std::string> found;
        std::string target = "/jobs?page_size=2&sort=" + order;
        for (std::string token = "first"; !token.empty();) {
            const Json page = get(token == "first" ? target : target + "&page_token=" + token);
            for (const std::string& name : names(page))
                found.push_back(name);
            token = page["next_page_token"].is_string() ? page["next_page_token"].get<std::string>() : "";
        }
        return found;
    };

    EXPECT_EQ(sorted("submitted"), (std::vector<std::string>{"b", "a b", "c", "b"}));
    EXPECT_EQ(sorted("-submitted"), (std::vector<std::string>{"b", "c", "a b", "b"}));
    EXPECT_EQ(sorted("name"), (std::vector<std::string>{"a b", "b", "b", "c"}));
    EXPECT_EQ(sorted("-name"), (std::vector<std::string>{"c", "b", "b", "a b"}));
    EXPECT_EQ(sorted("-project"), (std::vector<std::string>{"c", "b", "b", "a b"}));
    EXPECT_EQ(get("/jobs?sort=colour")["status"], 400);
}

TEST_F(Listing, RefusesAPageTokenOfAnotherOrder)
{
    for (int i = 0; i < 3; ++i)
        submit();
    const auto token = get("/jobs?page_size=1")["next_page_token"].get<std::string>();

    EXPECT_EQ(get("/jobs?page_size=1&sort=name&page_token=" + token)["status"], 400);
}

TEST_F(Listing, CountsJobsByGroup)
{
    const Principal ann = add_token("ann", Role::kUser);
    submit(spec({{"name", "a"}, {"project", "x"}, {"type", "t"}}));
    route();
    submit(spec({{"name", "b"}, {"project", "x"}}), ann);
    submit(spec({{"name", "c"}, {"project", "y"}, {"type", "t"}}));

    const Json projects = get("/job-groups?by=project");
    EXPECT_EQ(projects["counted"], 3);
    EXPECT_EQ(projects["group_count"], 2);
    EXPECT_EQ(projects["is_cut"], false);
    EXPECT_EQ(projects["groups"][0], (Json{{"key", "x"}, {"count", 2}, {"states", {{"placed", 1}, {"queued", 1}}}}));
    EXPECT_EQ(projects["groups"][1]["key"], "y");
    EXPECT_EQ(get("/job-groups?by=type")["groups"][0],
              (Json{{"key", "t"}, {"count", 2}, {"states", {{"placed", 1}, {"queued", 1}}}}));
    EXPECT_EQ(get("/job-groups?by=state&project=y")["groups"],
              Json::array({Json{{"key", "queued"}, {"count", 1}, {"states", {{"queued", 1}}}}}));
    const Json centers = get("/job-groups?by=center");
    EXPECT_EQ(centers["groups"][0]["key"], "") << "those that are not at a center yet";
    EXPECT_EQ(centers["groups"][0]["count"], 2);
    EXPECT_EQ(centers["groups"][1]["key"], "alpha");
    EXPECT_EQ(get("/job-groups?by=state", "ann")["counted"], 1) << "users count their own jobs only";
    EXPECT_EQ(get("/job-groups?by=state&state=lost")["groups"], Json::array());
    EXPECT_EQ(get("/job-groups")["status"], 400);
    EXPECT_EQ(get("/job-groups?by=name")["status"], 400);
}

TEST_F(Listing, Filters)
{
    submit(spec({{"name", "a"}, {"project", "x"}}));
    submit(spec({{"name", "b"}, {"project", "y"}}));
    route();
    submit(spec({{"name", "c"}, {"project", "y"}}));
    JobsProbeJobWriter writer;
    JobSpec probe = parse_job_spec(spec({{"name", "p"}})).value();
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        return writer.insert_probe_job(transaction, JobId::make(), probe, "rep_1");
    };
    ASSERT_TRUE(database_.blocking_run(work));

    EXPECT_EQ(names(get("/jobs?project=y")), (std::vector<std::string>{"c", "b"}));
    EXPECT_EQ(names(get("/jobs?state=placed")), (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(names(get("/jobs?label=probe")), std::vector<std::string>{"p"});
    EXPECT_EQ(names(get("/jobs?label=all&state=queued")), (std::vector<std::string>{"p", "c"}));
    EXPECT_EQ(get("/jobs?state=odd&label=x")["errors"].size(), 2U);
    EXPECT_EQ(get("/jobs?colour=red")["status"], 400);
}

TEST_F(Listing, ShowsUsersTheirOwnJobsOnly)
{
    const Principal ann = add_token("ann", Role::kUser);
    add_token("vic", Role::kViewer);
    const JobId own = submit(spec({{"name", "own"}}), ann);
    const JobId other = submit(spec({{"name", "other"}}));

    EXPECT_EQ(names(get("/jobs", "ann")), std::vector<std::string>{"own"});
    EXPECT_EQ(names(get("/jobs", "vic")).size(), 2U);
    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + own.value, "", {}, "ann").status, 200);
    for (const std::string path : {"", "/events", "/logs/stdout", "/placement"})
        EXPECT_EQ(call(net::Method::kGet, "/jobs/" + other.value + path, "", {}, "ann").status, 404) << path;
}

TEST_F(Listing, GivesAJobsHistoryInPages)
{
    const JobId job = job_in("running");

    const Json first = get("/jobs/" + job.value + "/events?page_size=3");
    const Json second =
        get("/jobs/" + job.value + "/events?page_size=3&page_token=" + first["next_page_token"].get<std::string>());

    EXPECT_EQ(first["items"].size(), 3U);
    EXPECT_EQ(first["items"][1]["state"], "placed");
    EXPECT_EQ(first["items"][1]["evidence"]["center"], "alpha");
    EXPECT_EQ(second["items"].size(), 1U);
    EXPECT_EQ(second["items"][0]["state"], "running");
    EXPECT_EQ(get("/jobs/" + JobId::make().value + "/events")["status"], 404);
}

TEST_F(Listing, AreCountedAndSortedForATokenThreeAtOnce)
{
    add_token("vic", Role::kViewer);
    const auto status = [&](const std::string& target, const std::string& user = "admin") {
        return call(net::Method::kGet, target, "", {}, user).status;
    };
    ASSERT_EQ(status("/job-groups?by=state"), 200);
    ASSERT_EQ(status("/job-groups?by=state", "vic"), 200);
    LockedTable table(database_, "job");
    std::vector<std::future<int>> waiting;
    for (const std::string target : {"/job-groups?by=state", "/job-groups?by=center", "/jobs?sort=name"})
        waiting.push_back(std::async(std::launch::async, [&status, target] { return status(target); }));
    const bool all_wait = test::eventually([&] { return sql(kCountLockWaits) == "3"; });

    const net::Response fourth = call(net::Method::kGet, "/job-groups?by=type");
    const int sorted = status("/jobs?sort=-state");
    auto others = std::async(std::launch::async, [&] { return status("/job-groups?by=state", "vic"); });
    table.release();

    EXPECT_TRUE(all_wait);
    EXPECT_EQ(fourth.status, 429);
    EXPECT_EQ(fourth.headers.at("Retry-After"), "1");
    EXPECT_EQ(sorted, 429);
    for (std::future<int>& one : waiting)
        EXPECT_EQ(one.get(), 200);
    EXPECT_EQ(others.get(), 200);
    EXPECT_EQ(status("/job-groups?by=type"), 200);
}

TEST_F(Listing, TellsOfASingleJobHowFarTheFetchingOfItsInputsIs)
{
    const JobId job = job_in("running");
    const auto progress = [&] {
        const Json attempt = get("/jobs/" + job.value)["attempt"];
        return attempt.value("staging_progress", Json());
    };
    std::int64_t written_bytes = 0;
    const auto write = [&](const std::string& text) {
        ASSERT_TRUE(write_output(job, written_bytes, text, "stderr"));
        written_bytes += static_cast<std::int64_t>(text.size());
    };
    write("fathom-stage: 1 of 3 inputs are staged, 5 MB in 70 s\n");
    EXPECT_EQ(progress(), nullptr) << "it has none, so it is its program that says so";
    sql("UPDATE job SET spec = jsonb_set(spec, '{inputs}', '[{\"url\": \"https://h/x\", \"path\": \"x\"}]')");

    EXPECT_EQ(progress(), Json::parse(R"({"complete": 1, "inputs": 3, "bytes": 5000000, "total_bytes": null,
                                          "elapsed_s": 70})"));
    EXPECT_FALSE(get("/jobs")["items"][0]["attempt"].contains("staging_progress"));
    write(std::string(10'000, '\n') + "fathom-stage: 2 of 3 inputs are staged, 7 MB in 130 s\n");
    EXPECT_EQ(progress()["complete"], 2);
    write("fathom-stage: 3 of 3 inputs are staged, 9 MB in 150 s\n");
    EXPECT_EQ(progress(), nullptr) << "its command runs";
    write("fathom-stage: 2 of 3 inputs are staged, 7 MB in 130 s\n");
    ASSERT_TRUE(report_end(job, exited(0)));
    EXPECT_EQ(progress(), nullptr);
}

TEST_F(Listing, LeavesLongScriptsOutOfListsOnly)
{
    std::string script = "#!/bin/sh\n";
    while (script.size() < 400000)
        script += "# one more line\n";
    const JobId job = submit(Json{{"name", "long"}, {"script", script}});

    EXPECT_FALSE(get("/jobs")["items"][0]["spec"].contains("script"));
    EXPECT_EQ(get("/jobs/" + job.value)["spec"]["script"], script);
}

TEST_F(Listing, LeavesLongListsOfDataOutOfListsOnly)
{
    Json inputs = Json::array();
    for (int i = 0; i < 30; ++i)
        inputs.push_back({{"url", "https://data.example/" + std::string(4000, 'x')}, {"bytes", 1}});
    const JobId job = submit(spec({{"name", "of much data"}, {"data", {{"in", inputs}}}}));

    const Json listed = get("/jobs")["items"][0]["spec"];
    EXPECT_FALSE(listed.contains("data"));
    EXPECT_EQ(listed["name"], "of much data");
    EXPECT_EQ(get("/jobs/" + job.value)["spec"]["data"]["in"].size(), 30U);
}

TEST_F(Listing, EndsAPageWhereItsJobsHaveALotToTell)
{
    sql("INSERT INTO job (id, label, name, project, spec, state, submitted_by) "
        "SELECT 'job_' || lpad(n::text, 26, '0'), 'job', 'j' || n, 'p', jsonb_build_object('command', "
        "'[\"true\"]'::jsonb, "
        "'environment', jsonb_build_object('A', repeat('x', 60000))), 'succeeded', 'tok_x' FROM generate_series(1, "
        "300) n");

    for (const std::string order : {"-submitted", "submitted", "name", "-project"}) {
        SCOPED_TRACE(order);
        const std::string target = "/jobs?page_size=1000&sort=" + order;
        const Json first = get(target);
        ASSERT_TRUE(first["next_page_token"].is_string());
        const Json second = get(target + "&page_token=" + first["next_page_token"].get<std::string>());

        std::vector<std::string> found = names(first);
        EXPECT_EQ(found.size(), 280U) << "16 MiB";
        for (const std::string& name : names(second))
            found.push_back(name);
        EXPECT_EQ(std::set<std::string>(found.begin(), found.end()).size(), 300U);
        EXPECT_EQ(found.size(), 300U);
        EXPECT_EQ(second["next_page_token"], nullptr);
    }
}

} // namespace
} // namespace fathom::server
