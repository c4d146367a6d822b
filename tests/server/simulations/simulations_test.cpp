#include "server/api/paging.hpp"
#include "server/learning/learning_api.hpp"
#include "server/learning/learning_service.hpp"
#include "server/simulations/simulations_api.hpp"
#include "server/simulations/simulations_service.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <stdexcept>

namespace fathom::server {
namespace {

using testing::HasSubstr;

asio::awaitable<net::Response> answer_list(Json items)
{
    co_return page_response(std::move(items), "");
}

/// A network whose jobs and predictions are real; its lists are what a test says.
class Simulations : public JobsFixture {
  protected:
    Simulations()
    {
        add_learning_routes(api_, learning_service_);
        add_simulations_routes(api_, simulations_);
        for (const char* path : {"/maintenance-windows", "/network-windows", "/scores"})
            api_.add(net::Method::kGet, path, Permission::kReadNetwork,
                     [](const Call&) { return answer_list(Json::array()); });
        api_.add(net::Method::kGet, "/unit-types", Permission::kReadNetwork,
                 [this](const Call&) { return list_unit_types(); });
    }
    asio::awaitable<net::Response> list_unit_types() const
    {
        if (is_broken_) throw std::runtime_error("the list is broken");
        co_return page_response(unit_types_, "");
    }

    void add_listed_center(const std::string& name, std::int64_t units)
    {
        const std::string id = add_center(name, units);
        unit_types_.push_back({{"id", id},
                               {"center_id", center_id(name)},
                               {"center", name},
                               {"name", "core"},
                               {"resource_type", "cpu"},
                               {"unit_count", units},
                               {"memory_bytes_per_unit", 0},
                               {"facts", Json::object()},
                               {"active", true}});
    }
    /// Jobs that have run.
    void run_jobs(int count)
    {
        for (int i = 0; i < count; ++i)
            ASSERT_TRUE(report_end(job_in("running"), exited(0)));
    }
    net::Response ask(const Json& order, const std::string& user = "admin")
    {
        return call(net::Method::kPost, "/simulations", order.dump(), {}, user);
    }
    OwnNetwork::Means means() { return {&api_, &tasks_, io_.executor()}; }

    Json unit_types_ = Json::array();
    bool is_broken_ = false;
    LearningService learning_service_{database_, metrics_, clock_, compute_};
    SimulationsService simulations_{means(), clock_};
};

TEST_F(Simulations, CompareTheNetworkBeforeAndAfterAChange)
{
    add_listed_center("alpha", 2);
    add_listed_center("beta", 1);
    run_jobs(3);

    const net::Response response =
        ask(Json::parse(R"({"days": 1, "changes": [{"kind": "scale_units", "center": "alpha", "factor": 2}]})"));

    ASSERT_EQ(response.status, 200) << response.body;
    const Json answer = Json::parse(response.body);
    EXPECT_EQ(answer["job_count"], 3);
    EXPECT_EQ(answer["waiting_count"], 0);
    EXPECT_FALSE(answer["is_cut"]);
    EXPECT_TRUE(answer["currency"].is_null());
    EXPECT_FALSE(answer["is_partial"]);
    EXPECT_EQ(answer["before"]["figures"]["ended"], 3);
    EXPECT_EQ(answer["after"]["figures"]["ended"], 3);
    EXPECT_EQ(answer["before"]["centers"][0]["center"], "alpha");
    EXPECT_EQ(answer["before"]["centers"][0]["unit_count"], 2);
    EXPECT_EQ(answer["after"]["centers"][0]["unit_count"], 4);
}

TEST_F(Simulations, TakeTheNewestJobsAndSayThatThereWereMore)
{
    add_listed_center("alpha", 2);
    run_jobs(3);

    const Json answer =
        Json::parse(ask(Json::parse(R"({"max_jobs": 2, "policy": "first_come", "policy_after": "fathom"})")).body);

    EXPECT_EQ(answer["job_count"], 2);
    EXPECT_TRUE(answer["is_cut"]);
    EXPECT_EQ(answer["before"]["policy"], "first_come");
    EXPECT_EQ(answer["after"]["policy"], "fathom");
}

TEST_F(Simulations, EndAtOnceWhenAPartOfTheNetworkBreaks)
{
    is_broken_ = true;

    EXPECT_THROW(ask(Json::parse(R"({"policy_after": "first_come"})")), std::runtime_error);
}

TEST_F(Simulations, AreForThoseWhoRunTheNetwork)
{
    add_token("viewer", Role::kViewer);
    add_token("expert", Role::kExpert);
    add_token("operator", Role::kOperator);

    EXPECT_EQ(ask(Json::object(), "viewer").status, 403);
    EXPECT_EQ(ask(Json::object(), "expert").status, 403);
    EXPECT_EQ(ask(Json::object(), "operator").status, 400) << "nothing would change";
}

TEST_F(Simulations, SayWhatIsWrongWithTheQuestion)
{
    add_listed_center("alpha", 2);
    const auto refusal = [&](const char* order, int status) {
        const net::Response response = ask(Json::parse(order));
        EXPECT_EQ(response.status, status) << order;
        return response.body;
    };
    EXPECT_THAT(refusal("{}", 400), HasSubstr("must hold a change"));
    EXPECT_THAT(refusal(R"({"days": 91, "changes": []})", 400), HasSubstr("days"));
    EXPECT_THAT(refusal(R"({"max_jobs": 20001, "changes": []})", 400), HasSubstr("max_jobs"));
    EXPECT_THAT(refusal(R"({"most_jobs": 20001, "changes": []})", 400), HasSubstr("must be between 1 and 20000"))
        << "as the version before names it";
    EXPECT_THAT(refusal(R"({"policy": "best"})", 400), HasSubstr("policy"));
    EXPECT_THAT(refusal(R"({"surplus": 1})", 400), HasSubstr("surplus"));
    EXPECT_THAT(refusal(R"({"changes": [{"kind": "remove_center"}]})", 400), HasSubstr("changes[0].center"));
    const char* of_nobody = R"({"changes": [{"kind": "scale_units", "center": "nobody", "factor": 2}]})";
    EXPECT_THAT(refusal(of_nobody, 422), HasSubstr("had no jobs"));
    run_jobs(1);
    EXPECT_THAT(refusal(of_nobody, 400), HasSubstr("there is no center nobody"));
}

TEST_F(Simulations, AskRoutesWithTheRightsOfTheCaller)
{
    const auto ask_inside = [&](const char* path, Role role, std::map<std::string, std::string> query = {}) {
        Call inside;
        inside.request.path = path;
        inside.request.query = std::move(query);
        inside.principal = {TokenId::make(), "inside", role};
        return run(api_.ask(std::move(inside))).status;
    };

    EXPECT_EQ(ask_inside("/api/v1/unit-types", Role::kViewer), 200);
    EXPECT_EQ(ask_inside("/api/v1/jobs", Role::kViewer, {{"page_size", "10"}}), 200);
    EXPECT_EQ(ask_inside("/api/v1/jobs", Role::kViewer, {{"page_size", "none"}}), 400);
    EXPECT_EQ(ask_inside("/api/v1/nothing", Role::kAdmin), 404);
    Call change;
    change.request.method = net::Method::kPost;
    change.request.path = "/api/v1/simulations";
    change.principal = {TokenId::make(), "inside", Role::kViewer};
    EXPECT_EQ(run(api_.ask(std::move(change))).status, 403);
}

/// Until a test says so, the network does not answer.
struct SlowNetwork {
    std::atomic<bool> was_asked{false};
    std::atomic<bool> may_answer{false};
};

asio::awaitable<net::Response> answer_slowly(std::shared_ptr<SlowNetwork> network)
{
    network->was_asked = true;
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (!network->may_answer) {
        timer.expires_after(std::chrono::milliseconds(10));
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return page_response(Json::array(), "");
}

class SlowSimulations : public JobsFixture {
  protected:
    SlowSimulations()
    {
        api_.add(net::Method::kGet, "/unit-types", Permission::kReadNetwork,
                 [network = network_](const Call&) { return answer_slowly(network); });
    }
    ~SlowSimulations() override { network_->may_answer = true; }

    OwnNetwork::Means means() { return {&api_, &tasks_, io_.executor()}; }

    std::shared_ptr<SlowNetwork> network_ = std::make_shared<SlowNetwork>();
};

TEST_F(SlowSimulations, RunOneAtATimeAndEndWhenTheServerStops)
{
    SimulationsService service{means(), clock_};
    std::future<Result<Json>> first = io_.spawn(service.compare(admin_, {}));
    ASSERT_TRUE(test::eventually([&] { return network_->was_asked.load(); }));

    EXPECT_EQ(run(service.compare(admin_, {})).error().code, Errc::kTooMany);
    service.stop();

    EXPECT_EQ(test::TestIo::get(std::move(first)).error().code, Errc::kUnavailable);
    EXPECT_EQ(run(service.compare(admin_, {})).error().code, Errc::kUnavailable) << "and nothing new begins";
}

TEST_F(SlowSimulations, EndAtTheirTimeLimit)
{
    SimulationsService service{means(), clock_, {.time = std::chrono::milliseconds(100)}};

    const Result<Json> answer = run(service.compare(admin_, {}));

    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::kDeadline);
    EXPECT_THAT(answer.error().detail, HasSubstr("fathom simulate"));
}

} // namespace
} // namespace fathom::server
