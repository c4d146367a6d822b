#include "tests/server/jobs/attempts_fixture.hpp"

namespace fathom::server {
namespace {

TEST_F(Attempts, CarrySecretsThatNobodyElseSees)
{
    const Json with_secret = spec({{"secret_environment", {{"KEY", "geheim"}}}, {"environment", {{"A", "1"}}}});
    const net::Response answer = call(net::Method::kPost, "/jobs", with_secret.dump());
    ASSERT_EQ(answer.status, 201) << answer.body;
    const JobId job{Json::parse(answer.body)["id"].get<std::string>()};
    EXPECT_EQ(Json::parse(answer.body)["spec"]["secret_environment"], Json::parse(R"({"KEY": null})"));
    route();

    EXPECT_THAT(call(net::Method::kGet, "/jobs/" + job.value).body, ::testing::Not(::testing::HasSubstr("geheim")));
    EXPECT_THAT(call(net::Method::kGet, "/jobs").body, ::testing::Not(::testing::HasSubstr("geheim")));
    const std::vector<link::Body> orders = orders_for(center_of(job));
    ASSERT_EQ(orders.size(), 1U);
    EXPECT_EQ(std::get<link::StartAttempt>(orders[0]).order.environment,
              (std::map<std::string, std::string>{{"A", "1"}, {"KEY", "geheim"}}));
    ASSERT_TRUE(report_start(job));
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE secret_environment IS NOT NULL"), "1");
    ASSERT_TRUE(report_end(job, exited(0)));
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE secret_environment IS NOT NULL"), "0") << "the job has ended";

    const net::Response copied = call(net::Method::kPost, "/jobs", Json::parse(answer.body)["spec"].dump());
    EXPECT_EQ(copied.status, 400) << copied.body;
    EXPECT_THAT(copied.body, ::testing::HasSubstr("secret_environment.KEY"));
}

TEST_F(Attempts, SecretsThatCannotBeReadEndTheirOwnJobAlone)
{
    const JobId bad = submit(spec({{"secret_environment", {{"KEY", "geheim"}}}}));
    const JobId good = submit();
    route();
    sql(R"(UPDATE job SET secret_environment = '{"KEY": 7}' WHERE secret_environment IS NOT NULL)");

    const std::vector<link::Body> orders = orders_for(center_of(good));

    ASSERT_EQ(orders.size(), 1U);
    EXPECT_EQ(std::get<link::StartAttempt>(orders[0]).order.job_id, good);
    EXPECT_EQ(state_of(bad), "failed");
}

TEST_F(Attempts, ThatWereOnlySentAreSentAgain)
{
    const JobId job = job_in("sent");

    reconcile({});

    EXPECT_EQ(state_of(job), "placed");
    EXPECT_EQ(orders_for(center_of(job)).size(), 1U);
}

TEST_F(Attempts, InputsGoToCentersWhoseAgentStagesThem)
{
    const Json input = {{"url", "https://h/x?key=1"}, {"path", "x"}};
    const Json body = spec({{"units", {{"count", 1}}}, {"inputs", Json::array({input})}});
    const JobId refused = submit(body);
    route();

    EXPECT_TRUE(orders_for(center_of(refused)).empty());
    EXPECT_EQ(state_of(refused), "failed");
    EXPECT_THAT(
        sql("SELECT outcome || ' ' || cause || ' ' || detail FROM attempt WHERE job_id = '" + refused.value + "'"),
        testing::StartsWith("failed_to_start staging_failed staging failed: the agent of this center is too old"));

    sql("UPDATE center SET facts = facts || '{\"stages_inputs\": true}'");
    const JobId taken = submit(body);
    route();
    const std::vector<link::Body> orders = orders_for(center_of(taken));

    ASSERT_EQ(orders.size(), 1U);
    const std::vector<JobInput>& inputs = std::get<link::StartAttempt>(orders[0]).order.inputs;
    ASSERT_EQ(inputs.size(), 1U);
    EXPECT_EQ(inputs[0].url, "https://h/x?key=1");
    EXPECT_EQ(inputs[0].path, "x");
}

TEST_F(Attempts, OutputsGoToCentersWhoseAgentStoresThem)
{
    const Json output = {{"path", "x"}, {"url", "https://h/x?key=1"}};
    const Json body = spec({{"units", {{"count", 1}}}, {"outputs", Json::array({output})}});
    const JobId refused = submit(body);
    route();

    EXPECT_TRUE(orders_for(center_of(refused)).empty());
    EXPECT_EQ(state_of(refused), "failed");
    EXPECT_THAT(std::string(job_json(refused)["end_reason"]), testing::HasSubstr("too old to store outputs"));

    sql("UPDATE center SET facts = facts || '{\"stores_outputs\": true}'");
    const JobId taken = submit(body);
    route();
    const std::vector<link::Body> orders = orders_for(center_of(taken));

    ASSERT_EQ(orders.size(), 1U);
    EXPECT_EQ(std::get<link::StartAttempt>(orders[0]).order.outputs,
              (std::vector<JobOutput>{{"x", "https://h/x?key=1"}}));
}

TEST_F(Attempts, WithObjectsGoToCentersThatHaveAnObjectStore)
{
    sql("UPDATE center SET facts = facts || '{\"stages_inputs\": true, \"stores_outputs\": true}'");
    const Json input = {{"path", "x"}, {"url", "s3://sets/x"}};
    const Json output = {{"path", "y"}, {"url", "s3://sets/y"}};
    const Json reads = spec({{"units", {{"count", 1}}}, {"inputs", Json::array({input})}});
    const Json writes = spec({{"units", {{"count", 1}}}, {"outputs", Json::array({output})}});
    for (const Json& body : {reads, writes}) {
        const JobId refused = submit(body);
        route();

        EXPECT_TRUE(orders_for(center_of(refused)).empty());
        EXPECT_THAT(std::string(job_json(refused)["end_reason"]), testing::HasSubstr("has no object store"));
    }

    sql("UPDATE center SET facts = facts || '{\"s3\": true}'");
    const JobId taken = submit(reads);
    route();

    const std::vector<link::Body> orders = orders_for(center_of(taken));
    ASSERT_EQ(orders.size(), 1U);
    const AttemptOrder& order = std::get<link::StartAttempt>(orders[0]).order;
    EXPECT_EQ(order.inputs.at(0).url, "s3://sets/x");
    EXPECT_NE(order.owner.project, "") << "which its center decides by";
}

TEST_F(Attempts, OfProfiledJobsSayWhatTheyAreKnownToExecute)
{
    add_operators();
    const auto known_of = [this](bool is_profiled) {
        const JobId job = submit(spec({{"operators", {{{"id", "dgemm"}, {"count", 3}}}}, {"profile", is_profiled}}));
        sql("UPDATE job SET metered = true");
        route();
        const std::vector<link::Body> orders = orders_for(center_of(job));
        EXPECT_EQ(orders.size(), 1U);
        const std::vector<std::string> known = std::get<link::StartAttempt>(orders.at(0)).order.known_operators;
        EXPECT_TRUE(report_end(job, exited(0)));
        return known;
    };

    EXPECT_EQ(known_of(true), std::vector<std::string>{"dgemm"});
    EXPECT_EQ(known_of(false), std::vector<std::string>());
}

TEST_F(Attempts, SayWhoseTheyAreToCentersThatMapUsersOnly)
{
    const auto owner_of = [this](const JobId& job) {
        const std::vector<link::Body> orders = orders_for(center_of(job));
        EXPECT_EQ(orders.size(), 1U);
        return orders.empty() ? AttemptOwner() : std::get<link::StartAttempt>(orders[0]).order.owner;
    };
    const Json body = spec({{"project", "physics"}});
    const JobId untold = submit(body);
    route();
    EXPECT_EQ(owner_of(untold), AttemptOwner());
    ASSERT_TRUE(report_end(untold, exited(0)));

    sql("UPDATE center SET facts = facts || '{\"maps_users\": true}'");
    const JobId by_token = submit(body);
    route();
    EXPECT_EQ(owner_of(by_token), (AttemptOwner{admin_.token_id.value, "", "physics"}));
    ASSERT_TRUE(report_end(by_token, exited(0)));

    sql("INSERT INTO user_account (name, token_id, password_hash) VALUES ('ann', '" + admin_.token_id.value +
        "', 'x')");
    const JobId by_account = submit(body);
    route();
    EXPECT_EQ(owner_of(by_account), (AttemptOwner{admin_.token_id.value, "ann", "physics"}));
}

TEST_F(Attempts, OfManyLargeOrdersAsManyAreReadAsThereIsRoomFor)
{
    add_center("beta", 8);
    std::vector<JobId> jobs;
    for (int i = 0; i < 4; ++i)
        jobs.push_back(
            submit(spec({{"units", {{"center", "beta"}}}, {"files", {{"input", std::string(400'000, 'x')}}}})));
    route();
    const CenterId center = center_of(jobs[0]);

    AttemptGateway::PendingOrders first = run(attempts_.pending_orders(center, {}, 1'000'000)).value();

    ASSERT_EQ(first.bodies.size(), 2U);
    EXPECT_TRUE(first.has_more);
    EXPECT_EQ(sql("SELECT count(*) FROM attempt WHERE dispatched_at IS NOT NULL"), "2")
        << "the others can be cancelled";
    std::vector<std::string> sent;
    for (const link::Body& body : first.bodies)
        sent.push_back(std::get<link::StartAttempt>(body).order.attempt_id.value);
    EXPECT_TRUE(run(attempts_.pending_orders(center, sent, 0)).value().bodies.empty());
    const AttemptGateway::PendingOrders rest = run(attempts_.pending_orders(center, sent, 100)).value();
    ASSERT_EQ(rest.bodies.size(), 1U) << "one always goes, however large";
    EXPECT_TRUE(rest.has_more);
    EXPECT_FALSE(run(attempts_.pending_orders(center, sent, 1'000'000)).value().has_more);
}

TEST_F(Attempts, AnOrderThatCannotBeReadFailsItsJobAndHoldsUpNoOther)
{
    const JobId bad = submit();
    const JobId good = submit();
    route();
    sql("UPDATE job SET spec = spec || '{\"of a later version\": 1}' WHERE id = '" + bad.value + "'");

    const std::vector<link::Body> orders = orders_for(center_of(good));

    ASSERT_EQ(orders.size(), 1U);
    EXPECT_EQ(std::get<link::StartAttempt>(orders[0]).order.job_id, good);
    EXPECT_EQ(state_of(bad), "failed");
    EXPECT_THAT(sql("SELECT end_reason FROM job WHERE id = '" + bad.value + "'"),
                ::testing::HasSubstr("of a later version"));
}

} // namespace
} // namespace fathom::server
