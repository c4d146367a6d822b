#include "server/billing/price_books_api.hpp"
#include "server/jobs/job_admission.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <thread>

namespace fathom::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

class Prices : public JobsFixture {
  protected:
    Prices() { add_price_books_routes(api_, books_, database_, clock_); }

    /// Prices of alpha and beta, in units of the currency an hour.
    static Json book(const std::string& alpha, const std::string& beta, const std::string& currency = "EUR")
    {
        return {{"document",
                 {{"currency", currency},
                  {"entries",
                   {{{"center", "alpha"}, {"unit_type", "core"}, {"per_unit_hour", alpha}, {"unit_power_w", 10}},
                    {{"center", "beta"}, {"unit_type", "*"}, {"per_unit_hour", beta}}}}}}};
    }
    net::Response set(const Json& order, const std::string& user = "admin")
    {
        const net::Response answer = call(net::Method::kPost, "/price-books", order.dump(), {}, user);
        if (answer.status == 201) reload_catalog();
        return answer;
    }
    net::Response post(const Json& job) { return call(net::Method::kPost, "/jobs", spec(job).dump()); }
    /// "field detail" of a refusal.
    static std::vector<std::string> faults_of(const net::Response& response)
    {
        std::vector<std::string> faults;
        for (const Json& error : Json::parse(response.body).value("errors", Json::array()))
            faults.push_back(error["field"].get<std::string>() + " " + error["detail"].get<std::string>());
        return faults;
    }
    /// Two hours at alpha, one at beta.
    void measure()
    {
        add_operators();
        add_measurement(add_center("alpha"), 7.2);
        add_measurement(add_center("beta"), 3.6);
        reload_catalog();
    }
    static Json thousand() { return {{{"id", "dgemm"}, {"count", 1000}}}; }
    const UnitTypeView& unit_type_of(const CatalogPointer& catalog, const std::string& center) const
    {
        return *std::find_if(catalog->unit_types.begin(), catalog->unit_types.end(),
                             [&](const UnitTypeView& view) { return view.center_name == center; });
    }

    PriceBooksService books_{database_, compute_};
};

TEST_F(Prices, OfTheBookInForceReachDecisions)
{
    measure();
    EXPECT_EQ(catalog_.get()->prices.currency(), "");

    ASSERT_EQ(set(book("0.12", "0.30")).status, 201);

    const CatalogPointer catalog = catalog_.get();
    EXPECT_EQ(catalog->prices.currency(), "EUR");
    EXPECT_DOUBLE_EQ(unit_type_of(catalog, "alpha").price->cost({}, 3600, 2), 0.24);
    EXPECT_DOUBLE_EQ(unit_type_of(catalog, "beta").price->cost({}, 3600, 1), 0.30);
    EXPECT_DOUBLE_EQ(unit_type_of(catalog, "alpha").price->unit_power_w(), 10);
    const auto before = unit_type_of(catalog, "alpha").price;
    reload_catalog();
    EXPECT_EQ(unit_type_of(catalog_.get(), "alpha").price, before) << "prepared once for each version";
}

TEST_F(Prices, OnlyAdministratorsSetThem)
{
    add_token("carl", Role::kExpert);

    EXPECT_EQ(set(book("1", "1"), "carl").status, 403);
    EXPECT_EQ(call(net::Method::kGet, "/price-books", "", {}, "carl").status, 200);
    EXPECT_EQ(set(book("1", "1")).status, 201);
    EXPECT_EQ(sql("SELECT action || ' ' || subject FROM audit_log WHERE action LIKE 'price_book%'"),
              "price_book.set 1");
}

TEST_F(Prices, ComeIntoForceAtTheirMoment)
{
    measure();
    ASSERT_EQ(set(book("1", "1")).status, 201);
    catalog_.subscribe(notifier_);
    notifier_.start();
    catalog_.start(tasks_);
    Json later = book("2", "2");
    later["valid_from"] = format_rfc3339(clock_.now() + std::chrono::seconds(10));

    ASSERT_EQ(set(later).status, 201);

    EXPECT_EQ(catalog_.get()->prices.version, 1);
    ASSERT_TRUE(catalog_.get()->prices.next_change);
    // Nobody says so: the catalog's own clock must.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (catalog_.get()->prices.version != 2 && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(catalog_.get()->prices.version, 2);
    EXPECT_GE(format_rfc3339(clock_.now()), later["valid_from"].get<std::string>());
}

TEST_F(Prices, ABudgetNeedsPricesInItsCurrency)
{
    measure();
    const Json job{{"budget", {{"amount", "5"}, {"currency", "EUR"}}}};

    const net::Response none = post(job);
    EXPECT_EQ(none.status, 400);
    EXPECT_THAT(faults_of(none), ElementsAre(HasSubstr("budget nothing in this network has a price")));
    ASSERT_EQ(set(book("1", "1", "USD")).status, 201);
    const net::Response other = post(job);
    EXPECT_EQ(other.status, 400);
    EXPECT_THAT(faults_of(other), ElementsAre("budget.currency prices are in USD, so the budget must be, too"));
}

TEST_F(Prices, TheCurrencyStaysWhileJobsWaitWithBudgets)
{
    measure();
    ASSERT_EQ(set(book("1", "1")).status, 201);
    ASSERT_EQ(post({{"budget", {{"amount", "5"}, {"currency", "EUR"}}}}).status, 201);

    const net::Response refused = set(book("1", "1", "USD"));

    EXPECT_EQ(refused.status, 409);
    EXPECT_THAT(refused.body, HasSubstr("1 job waits with a budget that is not in USD"));
    EXPECT_EQ(set(book("2", "2")).status, 201);
}

TEST_F(Prices, ABudgetInTheCurrencyOfBeforeBuysNothing)
{
    measure();
    ASSERT_EQ(set(book("1", "3")).status, 201);
    const Json order{{"operators", thousand()}, {"units", {{"count", 1}}}};
    Json limited = order;
    limited["budget"] = {{"amount", "5000"}, {"currency", "EUR"}};
    const JobId job = submit(spec(limited));
    const JobId other = submit(spec(order));
    sql("INSERT INTO price_book (document, created_by) "
        "SELECT jsonb_set(document, '{currency}', '\"JPY\"'), 'test' FROM price_book");
    reload_catalog();
    ASSERT_EQ(catalog_.get()->prices.currency(), "JPY");

    route();

    EXPECT_EQ(state_of(other), "placed");
    EXPECT_EQ(state_of(job), "queued");
    const Json decision = Json::parse(call(net::Method::kGet, "/jobs/" + job.value + "/placement").body)["decision"];
    EXPECT_EQ(decision["winner"], nullptr) << "explained as it is routed";
    // What is free is within any budget.
    sql("ALTER TABLE price_book DISABLE TRIGGER price_book_is_final; "
        "UPDATE price_book SET valid_from = valid_from - interval '1 day'");
    Json free = book("0", "0", "JPY");
    sql("INSERT INTO price_book (document, created_by) VALUES ('" + free["document"].dump() + "', 'test')");
    reload_catalog();
    route();
    EXPECT_EQ(state_of(job), "placed");
}

TEST_F(Prices, ABudgetIsHeldAgainstTheBookThatWasReadForProbes)
{
    add_operators();
    add_measurement(add_center("alpha"), 7.2, "now() - interval '8 days'");
    add_measurement(add_center("beta"), 3.6, "now() - interval '8 days'");
    ASSERT_EQ(set(book("1", "3")).status, 201);
    probing_.obstacle = "no center has room for probes"; // so the job itself is decided at once
    const JobId job = submit(spec(
        {{"operators", thousand()}, {"units", {{"count", 1}}}, {"budget", {{"amount", "5000"}, {"currency", "EUR"}}}}));
    sql("INSERT INTO price_book (document, created_by) "
        "SELECT jsonb_set(document, '{currency}', '\"JPY\"'), 'test' FROM price_book");
    ASSERT_EQ(catalog_.get()->prices.currency(), "EUR");

    route();

    ASSERT_EQ(catalog_.get()->prices.currency(), "JPY") << "read before probes are asked for";
    EXPECT_FALSE(probing_.requested.empty());
    EXPECT_EQ(state_of(job), "queued") << "its 5000 are not of this currency";
}

TEST_F(Prices, ABudgetThatNoPlaceCanKeepNamesTheCheapest)
{
    measure();
    ASSERT_EQ(set(book("1", "3")).status, 201); // two hours at alpha: 2 EUR; one at beta: 3 EUR

    const net::Response refused = post(
        {{"operators", thousand()}, {"units", {{"count", 1}}}, {"budget", {{"amount", "1.5"}, {"currency", "EUR"}}}});

    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_THAT(faults_of(refused),
                ElementsAre("budget.amount no center can run it for 1.50 EUR; the cheapest is 2.01 EUR at alpha/core"))
        << "with its start a little more than two hours: what is named must be enough";
    EXPECT_EQ(post({{"operators", thousand()},
                    {"units", {{"count", 1}}},
                    {"budget", {{"amount", "2.5"}, {"currency", "EUR"}}}})
                  .status,
              201);
}

TEST_F(Prices, ADeadlineThatNoCenterCanKeepNamesTheEarliest)
{
    measure();
    const auto job_until = [&](std::chrono::minutes left) {
        return post(
            {{"operators", thousand()}, {"units", {{"count", 1}}}, {"deadline", format_rfc3339(clock_.now() + left)}});
    };

    const net::Response refused = job_until(std::chrono::minutes(30));

    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_THAT(refused.body, HasSubstr("the earliest is"));
    EXPECT_THAT(refused.body, HasSubstr("at beta/core"));
    EXPECT_EQ(job_until(std::chrono::minutes(90)).status, 201);
    // What is closed now may be open again in time.
    sql("UPDATE center SET drained = true");
    reload_catalog();
    EXPECT_EQ(job_until(std::chrono::minutes(90)).status, 201);
}

TEST_F(Prices, WhatIsOnlyBusyNowIsAccepted)
{
    measure();
    submit(spec({{"operators", thousand()}, {"units", {{"count", 2}}}}));
    submit(spec({{"operators", thousand()}, {"units", {{"count", 2}}}}));
    route();

    EXPECT_EQ(post({{"operators", thousand()},
                    {"units", {{"count", 1}}},
                    {"deadline", format_rfc3339(clock_.now() + std::chrono::minutes(70))}})
                  .status,
              201);
}

TEST_F(Prices, PreferenceAndBudgetReachTheRouter)
{
    measure();
    ASSERT_EQ(set(book("1", "3")).status, 201);

    const JobId fast = submit(spec({{"operators", thousand()}, {"units", {{"count", 1}}}}));
    const JobId cheap = submit(spec({{"operators", thousand()}, {"units", {{"count", 1}}}, {"prefer", "cheapest"}}));
    const JobId frugal = submit(spec({{"operators", thousand()},
                                      {"units", {{"count", 1}}},
                                      {"priority", 7},
                                      {"budget", {{"amount", "2.5"}, {"currency", "EUR"}}}}));
    route();

    EXPECT_EQ(center_of(fast).value, center_id("beta"));
    EXPECT_EQ(center_of(cheap).value, center_id("alpha"));
    EXPECT_EQ(center_of(frugal).value, center_id("alpha"));
    EXPECT_EQ(sql("SELECT priority FROM job WHERE id = '" + frugal.value + "'"), "7");
}

TEST_F(Prices, UnknownProjectsAreRefusedWhereTheyMustExist)
{
    add_center("alpha");
    JobsService strict({database_, io_.executor(), metrics_, catalog_, finalizer_, compute_, clock_},
                       {.unknown_projects = UnknownProjects::kRefuse});
    const auto admit = [&](const std::string& project) {
        JobSpec job = parse_job_spec(spec({{"project", project}})).value();
        return run(strict.admit({job}, JobBatch::kOne, admin_));
    };
    submit(spec({{"project", "physics"}})); // by the service that accepts any
    sql("INSERT INTO project (name, profile_jobs, changed_by) VALUES ('materials', false, 'test')");
    reload_catalog();

    const auto refused = admit("materiels");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fields.at(0).detail, "there is no project materiels; did you mean materials?");
    EXPECT_TRUE(admit("materials")) << "has settings";
    EXPECT_TRUE(admit("physics")) << "was used before";
    EXPECT_TRUE(admit("default"));
}

TEST_F(Prices, WhatNobodyHasIsRefusedWithTheNearest)
{
    const std::string alpha = add_center("alpha");
    sql("UPDATE unit_type SET memory_bytes_per_unit = 4000000000, facts = '{\"isa\": [\"avx2\", \"fma\"]}' WHERE id = "
        "'" +
        alpha + "'");
    reload_catalog();

    EXPECT_THAT(faults_of(post({{"units", {{"memory_bytes", 8000000000}}}})),
                IsSupersetOf({"units.memory_bytes no unit has 8 GB of memory; the largest are those of alpha/core "
                              "with 4 GB"}));
    EXPECT_THAT(faults_of(post({{"units", {{"isa", {"avx2", "avx512f"}}}}})),
                IsSupersetOf({"units.isa no unit type has all of these instruction sets; the nearest is alpha/core, "
                              "which lacks avx512f"}));
    EXPECT_THAT(faults_of(post({{"units", {{"center", "alhpa"}}}})),
                ElementsAre("units.center there is no center alhpa; did you mean alpha?"));
    EXPECT_EQ(post({{"units", {{"isa", {"fma"}}, {"memory_bytes", 4000000000}}}}).status, 201);
}

} // namespace
} // namespace fathom::server
