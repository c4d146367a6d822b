#include "tests/server/jobs/submission_fixture.hpp"

#include <semaphore>

namespace fathom::server {
namespace {

TEST_F(Submission, AnswersWithTheJobAndItsPlace)
{
    add_center("alpha");

    const net::Response response = post(R"({"name": "one", "command": ["true"], "environment": {"A": "ö\"\\"}})");

    ASSERT_EQ(response.status, 201) << response.body;
    const Json job = Json::parse(response.body);
    EXPECT_EQ(response.headers.at("Location"), "/api/v1/jobs/" + job["id"].get<std::string>());
    EXPECT_EQ(response.headers.at("ETag"), "\"1\"");
    EXPECT_EQ(job["state"], "queued");
    EXPECT_EQ(job["attempt"], nullptr);
    const net::Response again = call(net::Method::kGet, "/jobs/" + job["id"].get<std::string>());
    ASSERT_EQ(again.status, 200) << again.body;
    EXPECT_EQ(Json::parse(again.body), job);
}

TEST_F(Submission, OnlyOperatorsAndAdminsPutJobsBeforeThoseOfOthers)
{
    add_center("alpha");
    add_token("ada", Role::kUser);
    add_token("oscar", Role::kOperator);
    const auto submit_with = [&](std::int64_t priority, const std::string& who) {
        return call(net::Method::kPost, "/jobs", spec({{"priority", priority}}).dump(), {}, who);
    };

    const net::Response refused = submit_with(1, "ada");

    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(fields_of(refused), std::vector<std::string>{"priority"});
    EXPECT_THAT(refused.body, ::testing::HasSubstr("ask an operator"));
    EXPECT_EQ(submit_with(0, "ada").status, 201);
    EXPECT_EQ(submit_with(-100, "ada").status, 201) << "their own jobs may wait for others";
    EXPECT_EQ(submit_with(100, "oscar").status, 201);
    EXPECT_EQ(submit_with(100, "admin").status, 201);
    const Json many = Json::array({spec(), spec({{"priority", 5}})});
    EXPECT_EQ(fields_of(call(net::Method::kPost, "/jobs", many.dump(), {}, "ada")),
              std::vector<std::string>{"[1].priority"});
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "4");
}

TEST_F(Submission, KeepsEveryJobOfManyConcurrentClients)
{
    add_center("alpha");
    std::vector<std::future<Result<JobRecord>>> answers;
    const AdmittedJob one{parse_job_spec(spec()).value(), "app/true", {}};
    for (int i = 0; i < 500; ++i)
        answers.push_back(io_.spawn(jobs_.submit(one, admin_.token_id.value)));

    for (auto& answer : answers)
        ASSERT_TRUE(test::TestIo::get(std::move(answer)));

    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'queued'"), "500");
    EXPECT_EQ(sql("SELECT count(DISTINCT job_id) FROM job_event WHERE state = 'queued'"), "500");
}

TEST_F(Submission, KnowsTheTimeByTheClockThatItWasGiven)
{
    add_center("alpha");
    const std::string tomorrow = format_rfc3339(clock_.now() + std::chrono::hours(24));
    const std::string body = R"({"command": ["true"], "deadline": ")" + tomorrow + "\"}";
    ASSERT_EQ(post(body).status, 201);

    clock_.advance(std::chrono::hours(48));

    EXPECT_THAT(fields_of(post(body)), ::testing::ElementsAre("deadline"));
}

TEST_F(Submission, ChecksLimitsNeitherOnConnectionsNorOnTheNetworksThreads)
{
    add_center("alpha");
    reload_catalog();
    constexpr int kHolders = 6; // as many as there are connections
    const std::string tomorrow = format_rfc3339(clock_.now() + std::chrono::hours(24));
    const JobSpec limited = parse_job_spec(spec({{"deadline", tomorrow}})).value();
    std::atomic<int> held{0};
    std::counting_semaphore<kHolders> leave{0};
    auto hold = [&held, &leave](pqxx::work&) -> Result<void> {
        ++held;
        leave.acquire();
        return {};
    };
    std::vector<std::future<Result<void>>> holders;
    for (int i = 0; i < kHolders; ++i)
        holders.push_back(io_.spawn(database_.run(hold)));
    EXPECT_TRUE(test::eventually([&] { return held >= kHolders - 1; })) << "a line never has the last one";

    auto beside_database = io_.spawn(jobs_.admit({limited}, JobsService::Batch::kOne, admin_));
    const bool is_answered = beside_database.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    leave.release(kHolders);
    for (auto& holder : holders)
        EXPECT_TRUE(test::TestIo::get(std::move(holder)));

    EXPECT_TRUE(is_answered) << "the check waited for a connection";
    EXPECT_TRUE(test::TestIo::get(std::move(beside_database)));
}

TEST_F(Submission, ChecksMuchInThePoolForComputations)
{
    add_center("alpha");
    reload_catalog();
    const std::size_t threads = ComputePoolOptions().threads;
    const std::string tomorrow = format_rfc3339(clock_.now() + std::chrono::hours(24));
    const JobSpec limited = parse_job_spec(spec({{"deadline", tomorrow}})).value();
    const std::vector<JobSpec> many(100, parse_job_spec(spec()).value());
    std::atomic<std::size_t> held{0};
    std::counting_semaphore<16> leave{0};
    auto hold = [&held, &leave]() -> Result<void> {
        ++held;
        leave.acquire();
        return {};
    };
    std::vector<std::future<Result<void>>> holders;
    for (std::size_t i = 0; i < threads; ++i)
        holders.push_back(io_.spawn(compute_.run(std::string(), hold)));
    EXPECT_TRUE(test::eventually([&] { return held == threads; }));

    auto with_limit = io_.spawn(jobs_.admit({limited}, JobsService::Batch::kOne, admin_));
    auto at_once = io_.spawn(jobs_.admit(many, JobsService::Batch::kMany, admin_));

    EXPECT_EQ(with_limit.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
    EXPECT_EQ(at_once.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
    leave.release(static_cast<std::ptrdiff_t>(threads));
    for (auto& holder : holders)
        EXPECT_TRUE(test::TestIo::get(std::move(holder)));
    EXPECT_TRUE(test::TestIo::get(std::move(with_limit)));
    EXPECT_TRUE(test::TestIo::get(std::move(at_once)));
}

TEST_F(Submission, ManyThatAreRefusedAtOnceShareOneLookAtTheCatalog)
{
    add_center("alpha");
    JobSpec wrong = parse_job_spec(spec()).value();
    wrong.operators.emplace_back().id = "no_such_operator";
    const auto reads = [&] { return count_of("fathom_catalog_reads_total"); };
    const double before = reads();
    std::vector<std::future<Result<std::vector<AdmittedJob>>>> answers;
    for (int i = 0; i < 100; ++i)
        answers.push_back(io_.spawn(jobs_.admit({wrong}, JobsService::Batch::kOne, admin_)));

    for (auto& answer : answers)
        EXPECT_EQ(test::TestIo::get(std::move(answer)).error().code, Errc::kInvalid);

    EXPECT_GE(reads(), before + 1);
    EXPECT_LE(reads(), before + 20) << "a few more where the machine takes its time to take them";
}

TEST_F(Submission, RefusalsReadTheCatalogForAFifthOfTheTimeAtMost)
{
    const auto slow = [](pqxx::work&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return std::map<std::string, Trust>();
    };
    CatalogCache catalog(database_, io_.executor(), metrics_, {}, slow);
    const auto began = std::chrono::steady_clock::now();

    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(run(catalog.refresh()));

    EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(2 * 500 + 100));
}

TEST_F(Submission, NamesEveryWrongField)
{
    add_center("alpha");
    add_operators();

    EXPECT_THAT(fields_of(post(R"({"command": ["x"], "colour": 1, "wall_limit_s": "long"})")),
                ::testing::UnorderedElementsAre("colour", "wall_limit_s"));
    EXPECT_THAT(fields_of(post(R"({"command": ["x"], "operators": [{"id": "nope"}]})")),
                ::testing::ElementsAre("operators[0].id"));
    EXPECT_THAT(
        fields_of(post(R"({"command": ["x"], "operators": [{"id": "dgemm", "parameters": {"m": 0, "q": 1}}]})")),
        ::testing::UnorderedElementsAre("operators[0].parameters.m", "operators[0].parameters.q"));
    EXPECT_THAT(fields_of(post(R"({"command": ["x"], "operators": [{"id": "dgemm", "version": 7}]})")),
                ::testing::ElementsAre("operators[0].version"));
}

TEST_F(Submission, ListsAHundredErrorsOfABatchAtMost)
{
    add_center("alpha");
    const Principal ann = add_token("ann", Role::kUser);
    JobsService strict({database_, io_.executor(), metrics_, catalog_, finalizer_, compute_, clock_},
                       {.unknown_projects = UnknownProjects::kRefuse});
    const std::vector<Json> wrong{spec({{"operators", Json::array({{{"id", "none"}, {"count", 1}}})}}),
                                  spec({{"priority", 5}}), spec({{"project", "nowhere"}})};

    for (const Json& one : wrong) {
        const std::vector<JobSpec> jobs(300, parse_job_spec(one).value());
        const Result<std::vector<AdmittedJob>> admitted = run(strict.admit(jobs, JobBatch::kMany, ann));
        ASSERT_FALSE(admitted) << one;
        const std::vector<FieldError> errors = admitted.error().fields;
        ASSERT_EQ(errors.size(), 101U) << one;
        EXPECT_EQ(errors.back().detail, "there are more errors than are listed here");
    }
}

TEST_F(Submission, BoundsWhatTheRouterKeepsOfAJobInMemory)
{
    add_center("alpha");
    add_operators();
    const std::string label = std::string(56, 'x');
    Json usual = Json::array();
    Json large = Json::array();
    for (int i = 0; i < 64; ++i) {
        usual.push_back({{"id", "dgemm"}, {"parameters", {{"m", 512 + i}, {"n", 512}, {"k", 512}}}, {"count", 1000}});
        large.push_back({{"id", "dgemm"}, {"label", label + std::to_string(i)}});
        if (i > 0) large.back()["inputs"] = std::vector<std::string>(5, label + "0");
    }
    Json sites = Json::array();
    for (int i = 0; i < 200; ++i)
        sites.push_back(std::string(60, 'x') + std::to_string(i));

    EXPECT_THAT(fields_of(post(spec({{"operators", large}}).dump())), ::testing::ElementsAre("operators"));
    EXPECT_THAT(fields_of(post(spec({{"data", {{"sites", sites}}}}).dump())), ::testing::ElementsAre("data.sites"));
    EXPECT_THAT(fields_of(post(Json::array({spec(), spec({{"operators", large}})}).dump())),
                ::testing::ElementsAre("[1].operators"));
    const net::Response taken = post(spec({{"operators", usual}, {"data", {{"sites", {"alpha"}}}}}).dump());
    EXPECT_EQ(taken.status, 201) << taken.body;
}

TEST_F(Submission, RefusesOutputsThatNoSignatureWouldOutlast)
{
    const auto with_limit = [](std::int64_t wall_limit_s) {
        const Json outputs =
            Json::array({{{"path", "x"}, {"url", "https://h/x"}}, {{"path", "y"}, {"url", "s3://b/y"}}});
        return spec({{"outputs", outputs}, {"wall_limit_s", wall_limit_s}}).dump();
    };

    EXPECT_THAT(fields_of(post(with_limit(kMaxWallLimitOfSigned_s + 1))), ::testing::ElementsAre("outputs[1].url"));
    EXPECT_THAT(post(with_limit(kMaxWallLimitOfSigned_s)).body, ::testing::Not(::testing::HasSubstr("signature")));
}

TEST_F(Submission, RefusesWhatIsNotAJob)
{
    add_center("alpha");
    const std::string deep = std::string(100000, '[') + std::string(100000, ']');

    for (const std::string& body :
         {std::string("{"), std::string("null"), std::string("[]"), deep,
          std::string(R"({"command": ["x"], "units": {"count": 1e400}})"),
          std::string(R"({"command": ["x"], "units": {"count": NaN}})"), std::string("{\"command\": [\"\xff\"]}"),
          std::string(R"({"command": ["x\u0000"]})")}) {
        const net::Response response = post(body);
        EXPECT_EQ(response.status, 400) << body.substr(0, 60) << response.body;
    }
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "0");
}

TEST_F(Submission, StoresOperatorsCompleted)
{
    add_center("alpha");
    add_operators();

    const JobId job = submit(spec({{"operators", {{{"id", "dgemm"}, {"parameters", {{"m", 8}}}, {"count", 5}}}}}));

    EXPECT_EQ(sql("SELECT job_type FROM job WHERE id = '" + job.value + "'"), "mix/dgemm(k=1024,m=8,n=1024):100");
    EXPECT_EQ(sql("SELECT spec->'operators'->0->>'version' FROM job WHERE id = '" + job.value + "'"), "1");
}

TEST_F(Submission, RefusesAtOnceWhatNoUnitTypeCanRun)
{
    add_center("alpha");
    add_center("beta", 1);

    const net::Response response = post(R"({"command": ["x"], "units": {"count": 3}})");

    EXPECT_EQ(response.status, 422);
    EXPECT_THAT(fields_of(response), ::testing::ElementsAre("units.count", "alpha/core", "beta/core"));
    EXPECT_EQ(Json::parse(response.body)["code"], "infeasible");
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "0");
}

TEST_F(Submission, SaysWhenThereIsNoCenter)
{
    reload_catalog();

    const net::Response response = post(R"({"command": ["x"]})");

    EXPECT_EQ(response.status, 422);
    EXPECT_THAT(response.body, ::testing::HasSubstr("no center is enrolled"));
}

TEST_F(Submission, AcceptsWhatACenterCanRunThatIsClosedNow)
{
    add_center("alpha");
    sql("UPDATE center SET drained = true");
    reload_catalog();

    const net::Response response = post(R"({"command": ["x"]})");

    EXPECT_EQ(response.status, 201) << response.body;
    route();
    EXPECT_THAT(sql("SELECT waiting_reason FROM job"), ::testing::HasSubstr("the center is drained"));
}

TEST_F(Submission, DoesNotRefuseOnAnOldSnapshot)
{
    reload_catalog();
    const std::string id = UnitTypeId::make().value;
    sql("INSERT INTO center (id, name, state) VALUES ('ctr_1', 'new', 'online')");
    sql("INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, "
        "memory_bytes_per_unit, operators) VALUES ('" +
        id + "', 'ctr_1', 'core', 'cpu', 1, 1, 0, '{}')");

    EXPECT_EQ(post(R"({"command": ["x"]})").status, 201);
}

TEST_F(Submission, TakesAnArrayWholeOrNotAtAll)
{
    add_center("alpha");

    const net::Response good = post(R"([{"command": ["a"]}, {"command": ["b"]}])");
    const net::Response bad = post(R"([{"command": ["a"]}, {"command": []}, {"command": ["c"], "x": 1}])");
    const net::Response infeasible = post(R"([{"command": ["a"]}, {"command": ["b"], "units": {"count": 9}}])");

    ASSERT_EQ(good.status, 201) << good.body;
    EXPECT_EQ(Json::parse(good.body)["items"].size(), 2U);
    EXPECT_EQ(bad.status, 400);
    EXPECT_THAT(fields_of(bad), ::testing::UnorderedElementsAre("[1].command", "[2].x"));
    EXPECT_EQ(infeasible.status, 422);
    EXPECT_THAT(fields_of(infeasible), ::testing::ElementsAre("[1].units.count", "[1].alpha/core"));
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "2");
}

TEST_F(Submission, GivesTheSameAnswerForTheSameIdempotencyKey)
{
    add_center("alpha");
    const net::Headers key{{"Idempotency-Key", "k1"}};

    const net::Response first = post(R"({"command": ["a"]})", key);
    const net::Response second = post(R"({"command": ["a"]})", key);
    const net::Response other = post(R"({"command": ["b"]})", key);

    ASSERT_EQ(first.status, 201) << first.body;
    EXPECT_EQ(second.status, 201);
    EXPECT_EQ(second.body, first.body);
    EXPECT_EQ(second.headers.at("Idempotent-Replayed"), "true");
    EXPECT_EQ(second.headers.at("Location"), first.headers.at("Location"));
    EXPECT_EQ(other.status, 409);
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "1");
}

TEST_F(Submission, RepeatsAnAnswerEvenWhenTheJobWouldBeRefusedByNow)
{
    add_center("alpha");
    const net::Headers key{{"Idempotency-Key", "k1"}};
    const net::Response first = post(R"({"command": ["a"]})", key);
    sql("UPDATE unit_type SET active = false");
    reload_catalog();

    const net::Response second = post(R"({"command": ["a"]})", key);
    const net::Response fresh = post(R"({"command": ["a"]})", {{"Idempotency-Key", "k2"}});

    EXPECT_EQ(second.body, first.body);
    EXPECT_EQ(fresh.status, 422);
    EXPECT_EQ(sql("SELECT count(*) FROM idempotency_key"), "1");
}

TEST_F(Submission, NeedsTheRight)
{
    add_center("alpha");
    add_token("eve", Role::kViewer);

    EXPECT_EQ(call(net::Method::kPost, "/jobs", R"({"command": ["a"]})", {}, "eve").status, 403);
}

TEST_F(Submission, QueuesProbesAsJobsWithALabel)
{
    add_center("alpha");
    JobsProbeJobWriter writer;
    const JobId id = JobId::make();
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        return writer.insert_probe_job(transaction, id, parse_job_spec(spec()).value(), "rep_1");
    };

    ASSERT_TRUE(database_.blocking_run(work));

    route();
    EXPECT_EQ(state_of(id), "placed");
    EXPECT_EQ(sql("SELECT label FROM job"), "probe");
}

} // namespace
} // namespace fathom::server
