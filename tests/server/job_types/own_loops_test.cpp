#include "server/catalog/known_runs.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

/// A profile of a program with these loops of its own.
Json profile_with_loops(Json loops)
{
    Json profile = Json::parse(R"({"operators": [
        {"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}, "count": 20, "share": 0.5}],
        "remainder": {"memory": 0.5, "code": {"others": 0.1, "why_none": null}}, "coverage": 0.5, "wall_s": 1.0})");
    profile["remainder"]["code"]["loops"] = std::move(loops);
    return profile;
}

class OwnLoopsOfTypes : public JobsFixture {
  protected:
    OwnLoopsOfTypes()
    {
        add_operators();
        add_center("alpha");
    }

    /// A job of the type "own" that ended well, and what its type knows then.
    Json learned_from(const Json& profile)
    {
        const JobId job = submit(spec({{"type", "own"}, {"units", {{"count", 1}}}}));
        sql("UPDATE job SET metered = true");
        route();
        AttemptEnd end = exited(0);
        end.profile = profile;
        EXPECT_TRUE(report_end(job, end));
        auto work = [this](pqxx::work& transaction) { return learning_.learn(transaction); };
        EXPECT_TRUE(database_.blocking_run(work));
        Json type = Json::parse(call(net::Method::kGet, "/job-types/own").body);
        EXPECT_EQ(type["learned_from"], job.value) << type.dump();
        return type;
    }
};

TEST_F(OwnLoopsOfTypes, StandWithTheTypeOfTheJobWithTheirShareAndSimilarity)
{
    const Json type = learned_from(profile_with_loops(Json::parse(R"([
        {"file": "solver", "offset": 80, "share": 0.1, "operator": null, "similarity": 0.4, "mix": {"integer": 1}},
        {"file": "solver", "offset": 16, "share": 0.3, "operator": "spmv", "similarity": 0.8, "stand_in": "spmv"}])")));

    EXPECT_EQ(type["own_loops"], Json::parse(R"([
        {"file": "solver", "offset": 16, "share": 0.3, "operator": "spmv", "similarity": 0.8},
        {"file": "solver", "offset": 80, "share": 0.1, "operator": null, "similarity": 0.4}])"));
    EXPECT_EQ(Json::parse(call(net::Method::kGet, "/job-types").body)["items"][0], type);
}

TEST_F(OwnLoopsOfTypes, AreReadFromProfilesOfTheVersionBefore)
{
    const Json type = learned_from(profile_with_loops(
        Json::parse(R"([{"file": "solver", "offset": 16, "share": 0.3, "operator": "spmv", "likeness": 0.8}])")));

    const Json loops = Json::parse(R"([
        {"file": "solver", "offset": 16, "share": 0.3, "operator": "spmv", "similarity": 0.8}])");
    EXPECT_EQ(type["own_loops"], loops);
    sql("UPDATE job_type SET own_loops = replace(own_loops::text, 'similarity', 'likeness')::jsonb");
    EXPECT_EQ(Json::parse(call(net::Method::kGet, "/job-types/own").body)["own_loops"], loops)
        << "as a replica of the version before keeps them";
}

TEST(KnownRunsOfTypes, AreReadWithTheSimilaritiesThatTheVersionBeforeKept)
{
    CatalogSnapshot catalog;
    catalog.unit_types.emplace_back().id = {"ut_1"};
    OperatorDemand spmv;
    spmv.operator_id = "spmv";
    spmv.similarity = 0.75;
    const Json now = to_json(KeptRun{.unit_type_id = "ut_1", .run_s = 2, .operators = {spmv}});
    Json before = now;
    before["operators"][0].erase("similarity");
    before["operators"][0]["likeness"] = 0.75;

    for (const Json& document : {now, before}) {
        const std::shared_ptr<const KnownRun> known = read_known_run(document, "job_1", catalog);
        ASSERT_NE(known, nullptr) << document;
        EXPECT_EQ(known->operators.at(0).similarity, 0.75) << document;
    }
}

TEST_F(OwnLoopsOfTypes, AreTwentyAtMostAndNoNonsense)
{
    Json loops = Json::parse(R"([7, null, {"file": 1}, {"file": "a", "offset": -1, "share": 0.5, "similarity": 1},
                                 {"file": "a", "offset": 1, "share": 7, "similarity": 1}])");
    for (int i = 0; i < 30; ++i)
        loops.push_back(
            {{"file", "own"}, {"offset", i}, {"share", 0.001 * i}, {"operator", "sort"}, {"similarity", 1}});

    const Json own = learned_from(profile_with_loops(std::move(loops)))["own_loops"];

    ASSERT_EQ(own.size(), 20U);
    EXPECT_EQ(own[0]["offset"], 29) << "those that take most of the time";
    EXPECT_EQ(own[19]["offset"], 10);
}

TEST_F(OwnLoopsOfTypes, AreUnknownWhereTheOperatorsWereNotCounted)
{
    const JobId job = submit(spec({{"type", "own"}, {"operators", {{{"id", "dgemm"}, {"count", 3000}}}}}));
    sql("UPDATE job SET metered = true");
    route();
    ASSERT_TRUE(report_end(job, exited(0)));
    auto work = [this](pqxx::work& transaction) { return learning_.learn(transaction); };
    ASSERT_TRUE(database_.blocking_run(work));

    EXPECT_EQ(Json::parse(call(net::Method::kGet, "/job-types/own").body)["own_loops"], nullptr);
}

} // namespace
} // namespace fathom::server
