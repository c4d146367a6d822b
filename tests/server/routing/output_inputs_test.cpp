#include "tests/server/jobs/attempts_fixture.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using ::testing::HasSubstr;

/// A job of ann's has stored an output at alpha, which keeps up to 1000 bytes.
class OutputsAsInputs : public Attempts {
  protected:
    OutputsAsInputs()
    {
        set_facts(R"({"stages_inputs": true, "stores_outputs": true, "keeps_outputs_bytes": 1000})");
        earlier_ = stored(40);
    }

    void set_facts(const std::string& facts) const { sql("UPDATE center SET facts = facts || '" + facts + "'"); }
    JobId start_earlier(const std::string& url = kUrl)
    {
        const JobId job = submit(spec({{"outputs", Json::array({{{"path", "out/a"}, {"url", url}}})}}), ann_);
        route();
        orders_for(center_of(job));
        EXPECT_TRUE(report_start(job));
        return job;
    }
    JobId stored(std::int64_t size_bytes, const std::string& url = kUrl)
    {
        const JobId job = start_earlier(url);
        AttemptEnd end = exited(0);
        end.outputs = {{"out/a", size_bytes, sha256_}};
        EXPECT_TRUE(report_end(job, std::move(end)));
        return job;
    }
    /// Until the catalog has the transfers that were added.
    void wait_for_networks()
    {
        ASSERT_TRUE(test::eventually([&] {
            reload_catalog();
            const CatalogPointer catalog = catalog_.get();
            return std::all_of(catalog->unit_types.begin(), catalog->unit_types.end(),
                               [](const UnitTypeView& view) { return view.network != nullptr; });
        }));
    }
    static std::string name_of(const JobId& job, const std::string& path = "out/a")
    {
        return "job:" + job.value + "/" + path;
    }
    /// Of a type of its own, of which no run is known.
    static Json taking(const Json& input) { return spec({{"type", "reader"}, {"inputs", Json::array({input})}}); }
    /// So many jobs with as many inputs as one may have, each that of `name`.
    template <class Name>
    static Json batch(std::size_t jobs, const Name& name)
    {
        constexpr int kMaxInputs = 64;
        Json all = Json::array();
        for (std::size_t i = 0; i < jobs; ++i) {
            Json inputs = Json::array();
            for (int k = 0; k < kMaxInputs; ++k)
                inputs.push_back({{"url", name()}, {"path", "in/" + std::to_string(k)}});
            all.push_back(spec({{"inputs", std::move(inputs)}}));
        }
        return all;
    }
    net::Response submit_as(const std::string& user, const Json& input)
    {
        return call(net::Method::kPost, "/jobs", taking(input).dump(), {}, user);
    }
    /// What is wrong with the only input.
    std::string fault_of(const std::string& user, const Json& input)
    {
        const net::Response answer = submit_as(user, input);
        EXPECT_EQ(answer.status, 400) << answer.body;
        EXPECT_THAT(answer.body, HasSubstr("inputs[0]"));
        return answer.body;
    }

    static constexpr const char* kUrl = "https://h/results/a?signature=1";
    const std::string sha256_ = std::string(64, 'a');
    const Principal ann_ = add_token("ann", Role::kUser);
    const Principal bob_ = add_token("bob", Role::kUser);
    const Principal olga_ = add_token("olga", Role::kOperator);
    JobId earlier_;
};

TEST_F(OutputsAsInputs, GetWhatIsKnownOfThem)
{
    const JobId later = submit(taking({{"url", name_of(earlier_)}, {"path", "in/a"}}), ann_);
    route();

    const Json input = job_json(later)["spec"]["inputs"][0];
    EXPECT_EQ(input, Json({{"from", name_of(earlier_)},
                           {"url", kUrl},
                           {"path", "in/a"},
                           {"sha256", sha256_},
                           {"size_bytes", 40},
                           {"kept_at", Json::array({center_id("alpha")})}}));
    const std::vector<link::Body> orders = orders_for(center_of(later));
    ASSERT_EQ(orders.size(), 1U);
    EXPECT_EQ(std::get<link::StartAttempt>(orders[0]).order.inputs,
              (std::vector<JobInput>{{kUrl, "in/a", sha256_, 40, name_of(earlier_), {}}}));
}

TEST_F(OutputsAsInputs, AreFetchedAsAnyOtherByAnOlderAgent)
{
    const JobId later = submit(taking({{"url", name_of(earlier_)}, {"path", "in/a"}}), ann_);
    sql("UPDATE center SET facts = facts - 'keeps_outputs_bytes'");
    route();

    const std::vector<link::Body> orders = orders_for(center_of(later));

    ASSERT_EQ(orders.size(), 1U);
    EXPECT_EQ(std::get<link::StartAttempt>(orders[0]).order.inputs,
              (std::vector<JobInput>{{kUrl, "in/a", sha256_, 40}}));
}

TEST_F(OutputsAsInputs, MayNameAUrlOfTheirOwn)
{
    const JobId later =
        submit(taking({{"from", name_of(earlier_)}, {"url", "https://h/to-read?signature=2"}, {"path", "a"}}), ann_);

    EXPECT_EQ(job_json(later)["spec"]["inputs"][0]["url"], "https://h/to-read?signature=2");
    EXPECT_EQ(job_json(later)["spec"]["inputs"][0]["sha256"], sha256_);
}

TEST_F(OutputsAsInputs, AreNotKeptWhereTheyAreTooLarge)
{
    const JobId large = stored(1001);
    const JobId later = submit(taking({{"url", name_of(large)}, {"path", "a"}}), ann_);

    EXPECT_FALSE(job_json(later)["spec"]["inputs"][0].contains("kept_at"));

    set_facts(R"({"keeps_outputs_bytes": "much"})");
    const JobId other = submit(taking({{"url", name_of(earlier_)}, {"path", "a"}}), ann_);
    EXPECT_FALSE(job_json(other)["spec"]["inputs"][0].contains("kept_at")) << "what an agent says need be no number";
}

TEST_F(OutputsAsInputs, NeedNotGoToTheCenterThatKeepsThem)
{
    set_facts(R"({"keeps_outputs_bytes": 1000000000})");
    const JobId earlier = stored(100'000'000);
    add_transfer(sql("SELECT id FROM unit_type"), 1);
    add_transfer(add_center("beta"), 0.5); // reached in half the time
    wait_for_networks();

    const JobId to_alpha = submit(taking({{"url", name_of(earlier)}, {"path", "a"}}), ann_);
    set_facts(R"({"keeps_outputs_bytes": 0})");
    const JobId to_beta = submit(taking({{"url", name_of(earlier)}, {"path", "a"}}), ann_);
    route();

    EXPECT_EQ(center_of(to_alpha).value, center_id("alpha"));
    EXPECT_EQ(center_of(to_beta).value, center_id("beta"));
}

TEST_F(OutputsAsInputs, AreKeptWhereALaterJobHasFetchedThem)
{
    add_center("beta");
    set_facts(R"({"stages_inputs": true, "stores_outputs": true, "keeps_outputs_bytes": 1000})");
    const auto end_at_beta = [&](const Json& input) {
        Json body = taking(input);
        body["units"] = {{"center", "beta"}};
        const JobId job = submit(body, ann_);
        route();
        orders_for(center_of(job));
        EXPECT_TRUE(report_start(job));
        EXPECT_TRUE(report_end(job, exited(0)));
    };
    const auto kept_at = [&](const JobId& earlier) {
        const JobId later = submit(taking({{"url", name_of(earlier)}, {"path", "a"}}), ann_);
        return job_json(later)["spec"]["inputs"][0]["kept_at"].size();
    };

    end_at_beta({{"from", name_of(earlier_)}, {"url", "file:///results/a"}, {"path", "a"}});
    EXPECT_EQ(kept_at(earlier_), 1U) << "a center does not keep its own files twice";
    for (int i = 0; i < 2; ++i)
        end_at_beta({{"url", name_of(earlier_)}, {"path", "a"}});
    EXPECT_EQ(kept_at(earlier_), 2U);
    EXPECT_EQ(kept_at(stored(40)), 1U) << "of another job";

    sql("UPDATE kept_output SET told_at = now() - interval '8 days'");
    EXPECT_EQ(kept_at(earlier_), 1U) << "it will have been given up";
    sql("UPDATE job SET state_changed_at = now() - interval '8 days' WHERE id = '" + earlier_.value + "'");
    EXPECT_EQ(kept_at(earlier_), 0U) << "at its own center, too";
}

TEST_F(OutputsAsInputs, AreNoPartOfWhatTheProgramIsPredictedToTake)
{
    set_facts(R"({"keeps_outputs_bytes": 0})");
    const JobId earlier = stored(100'000'000);
    add_operators();
    const std::string alpha = sql("SELECT id FROM unit_type");
    add_measurement(alpha, 1);
    add_transfer(alpha, 0.5); // of 1 MB: 50 s for the output
    wait_for_networks();
    Json body = taking({{"url", name_of(earlier)}, {"path", "a"}});
    body["metering_wait_s"] = 0;
    body["operators"] = Json::array({{{"id", "dgemm"}, {"count", 20}}});
    const JobId later = submit(body, ann_);
    route();

    const std::string told = " FROM prediction WHERE job_id = '" + later.value + "'";
    EXPECT_NEAR(std::stod(sql("SELECT run_s" + told)), 20, 1);
    EXPECT_NEAR(std::stod(sql("SELECT raw_prediction_s" + told)), 20, 1) << "which its actual time may be held against";
    const Json placed = Json::parse(call(net::Method::kGet, "/jobs/" + later.value + "/placement").body);
    EXPECT_THAT(placed.dump(), HasSubstr("transfer"));

    orders_for(center_of(later));
    ASSERT_TRUE(report_start(later));
    AttemptEnd end = exited(0); // of 1.5 s
    end.staging = {.in_s = 0.5, .in_bytes = 100'000'000, .in_cached_bytes = 0, .out_s = 0, .out_bytes = 0};
    ASSERT_TRUE(report_end(later, std::move(end)));
    EXPECT_NEAR(std::stod(sql("SELECT actual_run_s" + told)), 1, 0.01);
}

TEST_F(OutputsAsInputs, AreFoundForAJobThatIsOnlyAskedAbout)
{
    set_facts(R"({"keeps_outputs_bytes": 1000000000})");
    const JobId earlier = stored(100'000'000);
    add_transfer(sql("SELECT id FROM unit_type"), 1);
    wait_for_networks();
    const auto preview = [&](const JobId& job, const std::string& user) {
        const Json body = taking({{"url", name_of(job)}, {"path", "a"}});
        return call(net::Method::kPost, "/placements:preview", body.dump(), {}, user);
    };

    const net::Response answer = preview(earlier, "ann");

    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("alpha still keeps")) << "of what its decision takes for granted";
    EXPECT_EQ(preview(earlier, "bob").status, 400);
}

TEST_F(OutputsAsInputs, AreOfJobsThatTheSubmitterMayRead)
{
    const Json input = {{"url", name_of(earlier_)}, {"path", "a"}};

    EXPECT_THAT(fault_of("bob", input), HasSubstr("no such job, or none that you may read"));
    EXPECT_THAT(fault_of("ann", {{"url", name_of(JobId::make())}, {"path", "a"}}),
                HasSubstr("no such job, or none that you may read"));
    EXPECT_EQ(sql("SELECT count(*) FROM audit_log WHERE action = 'job.read_output'"), "0");

    EXPECT_EQ(submit_as("olga", input).status, 201);
    EXPECT_EQ(sql("SELECT actor || ' ' || subject FROM audit_log WHERE action = 'job.read_output'"),
              olga_.token_id.value + " " + earlier_.value)
        << "by her role alone";
}

TEST_F(OutputsAsInputs, AreWhatTheJobHasStored)
{
    EXPECT_THAT(fault_of("ann", {{"url", name_of(earlier_, "out/b")}, {"path", "a"}}),
                HasSubstr("those that it has stored are out/a"));
    EXPECT_THAT(fault_of("ann", {{"url", name_of(earlier_)}, {"path", "a"}, {"sha256", std::string(64, 'b')}}),
                HasSubstr("another SHA-256"));
    EXPECT_THAT(fault_of("ann", {{"url", name_of(earlier_)}, {"path", "a"}, {"size_bytes", 41}}),
                HasSubstr("40 bytes"));

    const JobId running = start_earlier();
    const Json input = {{"url", name_of(running)}, {"path", "a"}};
    EXPECT_THAT(fault_of("ann", input), HasSubstr("its outputs are there once it has succeeded"));
    ASSERT_TRUE(report_end(running, exited(1)));
    EXPECT_THAT(fault_of("ann", input), HasSubstr("has stored no outputs"));
}

TEST_F(OutputsAsInputs, AreOfNoMoreJobsThanARequestMayHave)
{
    const Json body = batch(16, [] { return name_of(JobId::make()); }); // 1024 jobs

    const net::Response answer = call(net::Method::kPost, "/jobs", body.dump(), {}, "ann");

    EXPECT_EQ(answer.status, 400) << answer.body;
    const Json errors = Json::parse(answer.body)["errors"];
    ASSERT_EQ(errors.size(), 1U) << errors;
    EXPECT_EQ(errors[0]["field"], "[15].inputs[40]") << "of the 1001st";
    EXPECT_THAT(errors[0].dump(), HasSubstr("1000 earlier jobs at most: submit the jobs in parts"));
}

TEST_F(OutputsAsInputs, ThatAreNoneAreListedUpToAHundred)
{
    const std::string nowhere = name_of(earlier_, std::string(200, 'x'));

    const net::Response answer = call(net::Method::kPost, "/jobs", batch(3, [&] { return nowhere; }).dump(), {}, "ann");

    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(Json::parse(answer.body)["errors"].size(), 101U) << "of 192, and that there are more";
}

TEST_F(OutputsAsInputs, StoreNoHundredTimesWhatWasSent)
{
    const std::string url = "https://h/" + std::string(4000, 'x');
    const std::string name = name_of(stored(40, url));

    const net::Response answer =
        call(net::Method::kPost, "/jobs", batch(66, [&] { return name; }).dump(), {}, "ann"); // 4224 inputs

    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("may have 16 MiB, URLs above all: submit the jobs in parts"));
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE label = 'job'"), "2") << "the earlier ones";
}

TEST_F(OutputsAsInputs, CountAsBytesThatAreStored)
{
    const std::string name = name_of(stored(40, "https://h/" + std::string(4000, 'x')));
    const Json body = batch(1, [&] { return name; });
    JobsService jobs({database_, io_.executor(), metrics_, catalog_, finalizer_, compute_, clock_},
                     {.quota = {.stored_bytes_of_token = 200'000}});
    const Submitter submitter{ann_.token_id.value, std::ssize(body.dump())};

    // About 7 KB of request that become 260 KB.
    const Result<std::vector<AdmittedJob>> admitted =
        run(jobs.admit(parse_submit_request(body).value().specs, JobBatch::kMany, ann_, submitter));

    ASSERT_FALSE(admitted);
    EXPECT_EQ(admitted.error().code, Errc::kTooMany);
}

} // namespace
} // namespace fathom::server
