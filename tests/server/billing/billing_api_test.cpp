#include "server/billing/export_stream.hpp"
#include "tests/server/jobs/billing_fixture.hpp"

#include <string>
#include <string_view>

namespace fathom::server {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Billing, AStatementLeadsBackToTheJobAndItsScore)
{
    const JobId job = ended_job(100);
    work_off();

    const Json usage = get("/usage?job_id=" + job.value)["items"].at(0);
    EXPECT_EQ(usage["paid_by"], "project");
    EXPECT_EQ(usage["score"], 1000.0);
    const Json evidence = get("/score-evidence/" + usage["score_evidence_id"].get<std::string>());
    EXPECT_EQ(evidence["is_assumed"], true);
    const Json cost = get("/jobs/" + job.value + "/cost");
    EXPECT_EQ(cost["is_final"], true);
    EXPECT_EQ(cost["billed"], Json::parse(R"([{"amount": "0.1", "currency": "EUR"}])"));
    EXPECT_EQ(cost["charges"].at(0)["score_evidence_id"], usage["score_evidence_id"]);
    const Json statement = get("/statements?project=default&period=" + this_month());
    EXPECT_EQ(statement["totals"].at(0)["amount"], "0.1");
    EXPECT_EQ(statement["lines"].at(0)["quantity"], "0.027777778");
    EXPECT_EQ(get("/statements?center=alpha&period=" + this_month())["totals"].at(0)["amount"], "0.1");
    const net::Response page =
        call(net::Method::kGet, "/statements?project=default&format=html&period=" + this_month());
    EXPECT_THAT(page.body, HasSubstr("Statement of project default"));
}

TEST_F(Billing, ARunningJobSaysWhatItCostsByNow)
{
    const JobId job = job_in("running");
    sql("UPDATE attempt SET started_at = now() - interval '1000 s'");

    const Json cost = get("/jobs/" + job.value + "/cost");

    EXPECT_EQ(cost["is_final"], false);
    EXPECT_NEAR(std::stod(cost["running"].at(0)["amount"].get<std::string>()), 1.0, 0.1);
}

TEST_F(Billing, WhoReadsTheCostsOfAnothersJobStandsInTheAuditLog)
{
    const Principal uma = add_token("uma", Role::kUser);
    const Principal bill = add_token("bill", Role::kBilling);
    const std::string target = "/jobs/" + submit(spec(), uma).value + "/cost";

    EXPECT_EQ(call(net::Method::kGet, target, "", {}, "uma").status, 200);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(call(net::Method::kGet, target, "", {}, "bill").status, 200);

    EXPECT_EQ(sql("SELECT string_agg(actor, ' ') FROM audit_log WHERE action = 'job.read_cost'"), bill.token_id.value);
}

TEST_F(Billing, OnlyThoseWhoMayReadTheBooks)
{
    add_token("uma", Role::kUser);
    add_token("eve", Role::kExpert);
    const JobId job = ended_job(1);

    EXPECT_EQ(call(net::Method::kGet, "/usage", "", {}, "uma").status, 403);
    EXPECT_EQ(call(net::Method::kGet, "/exports/focus", "", {}, "uma").status, 403);
    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + job.value + "/cost", "", {}, "uma").status, 404) << "not hers";
    EXPECT_EQ(call(net::Method::kGet, "/usage", "", {}, "eve").status, 200);
    EXPECT_EQ(call(net::Method::kPost, "/billing-periods/2026-01/close", "{}", {}, "eve").status, 403);
}

TEST_F(Billing, BadQuestionsNameTheirField)
{
    for (const char* target :
         {"/usage?from=yesterday", "/statements?period=2026-11", "/statements?project=a&center=b&period=2026-11",
          "/statements?project=a", "/statements?project=a&period=2026-13",
          "/statements?project=a&period=2026-11&format=pdf", "/exports/focus?version=9",
          "/exports/apel?service_level_type=own", "/exports/focus?last_entry=-1", "/exports/focus?colour=red"})
        EXPECT_EQ(call(net::Method::kGet, target).status, 400) << target;
    EXPECT_EQ(call(net::Method::kGet, "/exports/pdf").status, 404);
    EXPECT_EQ(call(net::Method::kGet, "/score-evidence/none").status, 404);
}

TEST_F(Billing, ExportsAreTheSameToTheByte)
{
    ended_job(100);
    work_off();
    const std::string first = download("/exports/focus");
    const std::string last = sql("SELECT seq FROM ledger_head");

    ended_job(50);
    work_off();

    EXPECT_EQ(download("/exports/focus?last_entry=" + last), first);
    EXPECT_NE(download("/exports/focus"), first);
    EXPECT_THAT(first, HasSubstr("\"Ocean, Inc.\"")) << "names are quoted";
    EXPECT_THAT(first, HasSubstr(",0.027777778,Score-Hours,"));
    EXPECT_THAT(download("/exports/jsonl?last_entry=" + last), HasSubstr("\"billed_cost\":\"0.1\""));
    EXPECT_EQ(download("/exports/focus?project=other"), focus_head({FocusVersion::k1_2, "Ocean, Inc."}));
    EXPECT_THAT(download("/exports/apel"), HasSubstr("WallDuration: 100\n"));
    EXPECT_THAT(download("/exports/apel-summary"), HasSubstr("NumberOfJobs: 2\n"));
    EXPECT_THAT(download("/exports/sacct"), HasSubstr("|00:01:40|0:0|COMPLETED|1|1|1|"));
}

TEST_F(Billing, NamesAreNoFormulasInTablesOfCharges)
{
    ended_job(100);
    sql("UPDATE unit_type SET name = '=1+1'");
    sql("UPDATE job SET name = '=2+2'");
    work_off();

    const std::string focus = download("/exports/focus");
    const std::string statement =
        call(net::Method::kGet, "/statements?project=default&format=csv&period=" + this_month()).body;

    EXPECT_THAT(focus, HasSubstr(",'=2+2,"));
    EXPECT_THAT(focus, Not(HasSubstr(",=")));
    EXPECT_THAT(statement, HasSubstr("\nalpha,'=1+1,"));
}

TEST_F(Billing, ExportsAreBoundedForATokenAndInAll)
{
    const auto begin = [&](const std::string& who) { return call(net::Method::kGet, "/exports/focus", "", {}, who); };
    std::vector<net::Response> under_way;
    const auto take = [&](const std::string& who) {
        under_way.push_back(begin(who));
        EXPECT_EQ(under_way.back().status, 200) << who << ": " << under_way.back().body;
    };
    for (const char* who : {"ann", "bob", "cid", "dan", "eve", "fay"})
        add_token(who, Role::kExpert);
    for (const char* who : {"admin", "admin", "ann", "ann"})
        take(who);
    const net::Response third = begin("admin");
    EXPECT_EQ(third.status, 429);
    EXPECT_THAT(third.body, HasSubstr("this token has 2 exports under way"));
    EXPECT_EQ(third.headers.at("Retry-After"), "10");
    for (const char* who : {"bob", "cid", "dan", "eve"})
        take(who);
    EXPECT_THAT(begin("bob").body, HasSubstr("this token has 1 export under way")) << "others find places before";

    const net::Response ninth = begin("fay");

    EXPECT_EQ(ninth.status, 429);
    EXPECT_THAT(ninth.body, HasSubstr("this server has 8 exports under way"));
    EXPECT_EQ(ninth.headers.at("Retry-After"), "10");
    under_way.pop_back();
    EXPECT_EQ(begin("fay").status, 200) << "one of them has ended";
}

TEST_F(Billing, AskingForTheHeadersOfAnExportTakesNoPlace)
{
    const auto ask = [&](net::Method method, const char* who) { return call(method, "/exports/focus", "", {}, who); };
    for (const char* who : {"ann", "bob", "cid", "dan", "eve", "fay"})
        add_token(who, Role::kExpert);
    std::vector<net::Response> heads;
    for (int i = 0; i < 3; ++i)
        heads.push_back(ask(net::Method::kHead, "admin"));

    std::vector<net::Response> under_way;
    for (const char* who : {"admin", "admin", "ann", "ann", "bob", "cid", "dan", "eve"}) {
        under_way.push_back(ask(net::Method::kGet, who));
        EXPECT_EQ(under_way.back().status, 200) << who << ": " << under_way.back().body;
    }
    heads.push_back(ask(net::Method::kHead, "fay"));

    EXPECT_EQ(ask(net::Method::kGet, "fay").status, 429) << "all places are taken";
    for (const net::Response& head : heads) {
        EXPECT_EQ(head.status, 200) << head.body;
        EXPECT_EQ(head.headers.at("Content-Type"), under_way[0].headers.at("Content-Type"));
        EXPECT_EQ(head.headers.at("X-Fathom-Last-Entry"), under_way[0].headers.at("X-Fathom-Last-Entry"));
        EXPECT_TRUE(head.stream) << "by which the connection knows that the length is not known";
    }
}

TEST_F(Billing, ExportsWaitForTheirTokensTurnsAtTheDatabase)
{
    ended_job(100);
    work_off();
    ExportRequest request;
    request.charges.last_seq = std::stoll(sql("SELECT seq FROM ledger_head"));
    request.turns = {std::make_shared<TokenLine>(1), "tok_1"};
    std::shared_ptr<const void> taken = run(request.turns.take());
    const auto writer = std::make_shared<FakeWriter>();

    auto done = asio::co_spawn(io_.context(), stream_export(database_, compute_, request, writer), asio::use_future);

    EXPECT_EQ(done.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout) << writer->text();
    EXPECT_THAT(writer->text(), Not(HasSubstr("Score-Hours")));
    taken.reset();
    done.get();
    EXPECT_THAT(writer->text(), HasSubstr("Score-Hours"));
}

TEST_F(Billing, PricesCanBeTriedOnWhatWasUsed)
{
    ended_job(100);
    work_off();
    Json dearer = book();
    dearer["entries"][0]["per_score_hour"] = "7.20";
    const Json order = {{"document", dearer}, {"from", "2020-01-01T00:00:00Z"}};

    const net::Response answer = call(net::Method::kPost, "/price-books:try", order.dump());

    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(Json::parse(answer.body)["projects"],
              Json::parse(R"([{"project": "default", "trial_cost": "0.2", "billed": {"EUR": "0.1"}}])"));
    EXPECT_EQ(sql("SELECT count(*) FROM price_book"), "1");
}

TEST_F(Billing, AUsedUpBudgetAlertsAndRefuses)
{
    Json limited = book();
    limited["budgets"] = {
        {{"project", "default"}, {"per_month", "0.15"}, {"action", "refuse"}, {"alerts_percent", {50, 100}}}};
    sql("INSERT INTO price_book (document, valid_from, created_by) VALUES ('" + limited.dump() +
        "', '2020-01-02', 'test')");
    reload_catalog();
    ended_job(100);
    work_off();
    EXPECT_EQ(sql("SELECT string_agg(percent::text, ' ') FROM budget_alert"), "50");
    ended_job(100);
    work_off();
    EXPECT_EQ(sql("SELECT string_agg(percent::text, ' ' ORDER BY percent) FROM budget_alert"), "50 100");
    reload_catalog();

    const net::Response refused = call(net::Method::kPost, "/jobs", spec().dump());

    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_THAT(refused.body, HasSubstr("has been billed 0.2 EUR this month"));
    EXPECT_EQ(call(net::Method::kPost, "/jobs", spec({{"project", "other"}}).dump()).status, 201);
}

} // namespace
} // namespace fathom::server
