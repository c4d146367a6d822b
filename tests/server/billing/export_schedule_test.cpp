#include "core/base/file.hpp"
#include "server/billing/export_runner.hpp"
#include "server/billing/export_schedule_api.hpp"
#include "server/billing/ledger_service.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <filesystem>
#include <fstream>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ExportSchedules : public JobsFixture {
  protected:
    ExportSchedules()
    {
        sql("INSERT INTO price_book (document, valid_from, created_by) VALUES "
            "('{\"currency\": \"EUR\", \"entries\": [{\"center\": \"*\", \"unit_type\": \"*\", "
            "\"per_score_hour\": \"3.60\"}]}', '2020-01-01', 'test')");
        add_center("alpha", 100);
        std::string name = (std::filesystem::temp_directory_path() / "fathom-exports-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for tests");
        folder_ = name;
        start_runner();
        add_export_schedule_routes(api_, schedules(), database_);
    }
    ~ExportSchedules() override
    {
        std::error_code ignored;
        std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(folder_, ignored);
    }

    ExportPlaces places() const { return {.folder = folder_, .store = {}, .scratch = folder_}; }
    void start_runner()
    {
        schedules_ = std::make_unique<ExportScheduleService>(database_, places(), clock_);
        runner_ = std::make_unique<ExportRunner>(database_, compute_, places(), "Ocean", clock_, metrics_);
    }
    ExportScheduleService& schedules() { return *schedules_; }

    Json add(Json body, int status = 201)
    {
        const net::Response answer = call(net::Method::kPost, "/export-schedules", body.dump());
        EXPECT_EQ(answer.status, status) << answer.body;
        return Json::parse(answer.body);
    }
    static Json daily(const std::string& name)
    {
        return {
            {"name", name}, {"cron", "@daily"}, {"format", "focus"}, {"months", "current"}, {"destination", "folder"}};
    }
    Json shown(const std::string& name)
    {
        return Json::parse(call(net::Method::kGet, "/export-schedules/" + name).body);
    }
    /// To the schedule's next run, whatever weekday and hour it is now.
    void advance_to_due()
    {
        const std::string wait_s = sql("SELECT ceil(extract(epoch FROM due_at - now())) FROM export_schedule");
        clock_.advance(std::chrono::seconds(std::stoll(wait_s)));
    }
    /// @return how many schedules ran.
    int run_due()
    {
        int ran = 0;
        while (run(runner_->run_next()).value())
            ++ran;
        return ran;
    }
    void bill_a_job()
    {
        const JobId job = job_in("running");
        AttemptEnd end = exited(0);
        EXPECT_TRUE(report_end(job, end));
        const UsageMeter meter(catalog_, {});
        LedgerService ledger(database_, meter, compute_, metrics_);
        while (run(ledger.meter_next()).value() + run(ledger.post_next()).value() > 0) {
        }
    }
    std::string this_month() const { return sql("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')"); }
    std::string text_of(const std::filesystem::path& path) const
    {
        const Result<std::string> text = read_file(folder_ / path);
        return text ? *text : text.error().detail;
    }

    std::filesystem::path folder_;
    std::unique_ptr<ExportScheduleService> schedules_;
    std::unique_ptr<ExportRunner> runner_;
};

TEST_F(ExportSchedules, AFileAndItsManifestLieInTheSchedulesFolder)
{
    bill_a_job();
    add(daily("accountants"));
    EXPECT_EQ(run_due(), 0) << "it is not due";

    call(net::Method::kPost, "/export-schedules/accountants/run", "{}");
    EXPECT_EQ(run_due(), 1);

    const std::string name = "focus-" + this_month() + ".csv";
    const std::string text = text_of("accountants/" + name);
    EXPECT_THAT(text, HasSubstr("BilledCost,"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
    const Json manifest = Json::parse(text_of("accountants/" + name + ".manifest.json"));
    EXPECT_EQ(manifest["file"], name);
    EXPECT_EQ(manifest["bytes"], text.size());
    EXPECT_EQ(manifest["sha256"], sha256_hex(text));
    EXPECT_EQ(manifest["period_state"], "open");
    EXPECT_EQ(manifest["parameters"]["last_entry"], "1");
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(folder_ / "accountants" / name).permissions(),
              perms::owner_read | perms::owner_write | perms::group_read);
    EXPECT_NE(std::filesystem::status(folder_ / "accountants").permissions() & perms::group_exec, perms::none);
    const Json schedule = shown("accountants");
    EXPECT_EQ(schedule["last_file"], (folder_ / "accountants" / name).string());
    EXPECT_TRUE(schedule["last_error"].is_null());
    EXPECT_EQ(run_due(), 0) << "it has run";
}

TEST_F(ExportSchedules, WhatIsDueRunsOnceWhoeverLooks)
{
    add(daily("one"));
    advance_to_due();

    ExportRunner other(database_, compute_, places(), "Ocean", clock_, metrics_);
    const int ran = static_cast<int>(run(other.run_next()).value()) + run_due();

    EXPECT_EQ(ran, 1);
    clock_.advance(24h);
    EXPECT_EQ(run_due(), 1);
}

TEST_F(ExportSchedules, AReplicaThatDiesLeavesTheRunToOthers)
{
    add(daily("one"));
    advance_to_due();
    sql("UPDATE export_schedule SET claimed_until = due_at + interval '90 s'");

    EXPECT_EQ(run_due(), 0) << "another one is at it";
    clock_.advance(2min);
    EXPECT_EQ(run_due(), 1);
}

TEST_F(ExportSchedules, ARunThatFailsIsTriedAgainForTheSameMonth)
{
    // A file where the folder should be.
    std::ofstream(folder_ / "one") << "in the way";
    add({{"name", "one"}, {"cron", "@weekly"}, {"format", "jsonl"}, {"destination", "folder"}});
    advance_to_due();
    const std::string due = sql("SELECT due_at FROM export_schedule");

    EXPECT_EQ(run_due(), 1);

    Json schedule = shown("one");
    EXPECT_THAT(schedule["last_error"].get<std::string>(), HasSubstr((folder_ / "one").string()));
    EXPECT_EQ(schedule["failures"], 1);
    EXPECT_EQ(sql("SELECT due_at FROM export_schedule"), due);
    EXPECT_EQ(run_due(), 0);
    std::filesystem::remove(folder_ / "one");
    clock_.advance(6min);
    EXPECT_EQ(run_due(), 1);
    schedule = shown("one");
    EXPECT_TRUE(schedule["last_error"].is_null()) << schedule;
    EXPECT_EQ(schedule["failures"], 0);
    EXPECT_NE(sql("SELECT due_at FROM export_schedule"), due);
}

TEST_F(ExportSchedules, WhatWasGivenUpHalfwayIsWrittenAnew)
{
    add(daily("one"));
    std::filesystem::create_directory(folder_ / "one");
    const std::string name = "one/focus-" + this_month() + ".csv";
    std::ofstream(folder_ / (name + ".partial")) << std::string(100'000, 'x');
    call(net::Method::kPost, "/export-schedules/one/run", "{}");

    EXPECT_EQ(run_due(), 1);

    EXPECT_THAT(text_of(name), testing::StartsWith("BilledCost,"));
    EXPECT_THAT(text_of(name), testing::Not(HasSubstr("xxx")));
    EXPECT_FALSE(std::filesystem::exists(folder_ / (name + ".partial")));
}

TEST_F(ExportSchedules, TheSameRunWritesTheSameBytes)
{
    bill_a_job();
    add({{"name", "one"}, {"cron", "@daily"}, {"format", "ledger"}, {"destination", "folder"}});
    call(net::Method::kPost, "/export-schedules/one/run", "{}");
    run_due();
    const std::string first = text_of("one/ledger.jsonl");

    call(net::Method::kPost, "/export-schedules/one/run", "{}");
    run_due();

    EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 1);
    EXPECT_EQ(text_of("one/ledger.jsonl"), first);
}

TEST_F(ExportSchedules, WhatCannotBeMeantIsRefused)
{
    const auto refusal = [this](Json more) {
        Json body = daily("one");
        body.update(more);
        const Json answer = add(body, 400);
        return answer["errors"][0]["field"].get<std::string>() + ": " +
               answer["errors"][0]["detail"].get<std::string>();
    };
    EXPECT_THAT(refusal({{"name", "../one"}}), HasSubstr("name: must be letters"));
    EXPECT_THAT(refusal({{"name", ".one"}}), HasSubstr("name: must be letters"));
    EXPECT_THAT(refusal({{"cron", "0 0 30 2 *"}}), HasSubstr("cron: "));
    EXPECT_THAT(refusal({{"format", "xlsx"}}), HasSubstr("format: "));
    EXPECT_THAT(refusal({{"format", "ledger"}}), HasSubstr("months: must be all"));
    EXPECT_THAT(refusal({{"parameters", {{"period", "2026-10"}}}}), HasSubstr("parameters.period: "));
    EXPECT_THAT(refusal({{"parameters", {{"project", 1}}}}), HasSubstr("parameters.project: must be a text"));
    EXPECT_THAT(refusal({{"parameters", {{"version", "9"}}}}), HasSubstr("parameters.version: must be 1.2 or 1.3"));
    EXPECT_THAT(refusal({{"destination", "/etc"}}), HasSubstr("destination: must be folder or s3://"));
    EXPECT_THAT(refusal({{"destination", "s3://bills"}}), HasSubstr("destination: this server has no object store"));
    EXPECT_THAT(refusal({{"path", "/etc"}}), HasSubstr("path: "));
}

TEST_F(ExportSchedules, OnlyPlacesThatAreOpenAreWrittenTo)
{
    ExportPlaces open;
    open.store.endpoint = "https://s3.example.org";
    const auto wrong = [&](const char* text) { return parse_export_destination(text, open).error().detail; };
    EXPECT_THAT(wrong("folder"), HasSubstr("export_folder"));
    EXPECT_THAT(wrong("s3://"), HasSubstr("bucket"));
    EXPECT_THAT(wrong("s3://a"), HasSubstr("bucket"));
    EXPECT_THAT(wrong("s3://Bills"), HasSubstr("bucket"));
    EXPECT_THAT(wrong("s3://-bills"), HasSubstr("bucket"));
    EXPECT_THAT(wrong("s3://bills/a//b"), HasSubstr("behind the bucket"));
    EXPECT_THAT(wrong("s3://bills/../b"), HasSubstr("behind the bucket"));
    EXPECT_THAT(wrong("s3://bills/a?acl"), HasSubstr("behind the bucket"));
    const ExportDestination store = parse_export_destination("s3://bills/fathom/eu", open).value();
    EXPECT_EQ(store.bucket, "bills");
    EXPECT_EQ(store.prefix, "fathom/eu/");
    EXPECT_EQ(parse_export_destination("s3://bills", open).value().prefix, "");
}

TEST_F(ExportSchedules, ReadersMayNotChangeThem)
{
    add(daily("one"));
    add_token("viewer", Role::kViewer);

    const auto status = [this](net::Method method, const std::string& target, const std::string& body = "") {
        return call(method, "/export-schedules" + target, body, {}, "viewer").status;
    };
    EXPECT_EQ(status(net::Method::kGet, ""), 200);
    EXPECT_EQ(status(net::Method::kPost, "", daily("two").dump()), 403);
    EXPECT_EQ(status(net::Method::kPatch, "/one", R"({"enabled": false})"), 403);
    EXPECT_EQ(status(net::Method::kDelete, "/one"), 403);
    EXPECT_EQ(status(net::Method::kPost, "/one/run", "{}"), 403);
    EXPECT_EQ(sql("SELECT count(*) FROM audit_log WHERE action LIKE 'export_schedule.%'"), "1");
}

TEST_F(ExportSchedules, AChangeTriesAgainAndAStopStops)
{
    add({{"name", "one"}, {"cron", "@weekly"}, {"format", "jsonl"}, {"destination", "folder"}});
    advance_to_due();
    sql("UPDATE export_schedule SET failures = 3, next_run_at = due_at + interval '30 days'");

    call(net::Method::kPatch, "/export-schedules/one", R"({"format": "focus"})");
    EXPECT_EQ(run_due(), 1);
    EXPECT_THAT(shown("one")["last_file"].get<std::string>(), testing::EndsWith(".csv"));

    call(net::Method::kPatch, "/export-schedules/one", R"({"enabled": false})");
    clock_.advance(24h * 30);
    EXPECT_EQ(run_due(), 0);
    EXPECT_EQ(call(net::Method::kPost, "/export-schedules/one/run", "{}").status, 409);
    EXPECT_EQ(call(net::Method::kDelete, "/export-schedules/one").status, 204);
    EXPECT_EQ(call(net::Method::kGet, "/export-schedules/one").status, 404);
}

} // namespace
} // namespace fathom::server
