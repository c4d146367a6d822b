// What billing costs: rating usage on one core, and exporting a million charges as FOCUS rows, beside PostgreSQL's own
// COPY of the same columns.
#include "server/billing/entry_plan.hpp"
#include "server/billing/export_stream.hpp"
#include "tests/support/temporary_postgres.hpp"
#include "tests/support/test_io.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <libpq-fe.h>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

namespace fathom::server {
namespace {

constexpr std::size_t kRecords = 1'000'000;
constexpr int kCenters = 100;
constexpr int kUnitTypes = 4;

double thread_cpu_s()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double peak_memory_mib()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double kib = 0;
        if (word == "VmHWM:" && status >> kib) return kib / 1024;
    }
    return 0;
}

/// Half of the unit types have prices by score-hours, of which every other one has cheaper nights, the others by
/// unit-hours; each tenth project has a discount.
RateBook book()
{
    Json document = {{"currency", "EUR"}, {"minimum_charge", "0.0001"}, {"per_gb_moved", "0.01"}};
    for (int center = 0; center < kCenters; ++center) {
        for (int type = 0; type < kUnitTypes; ++type) {
            Json entry = {{"center", fmt::format("center-{}", center)}, {"unit_type", fmt::format("type-{}", type)}};
            entry[type % 2 == 0 ? "per_score_hour" : "per_unit_hour"] = "0.12";
            if (type == 2) entry["bands"] = {{{"from_hour", 0}, {"to_hour", 6}, {"per_score_hour", "0.06"}}};
            document["entries"].push_back(std::move(entry));
        }
    }
    for (int project = 0; project < 1000; project += 10)
        document["discounts"].push_back({{"project", fmt::format("project-{}", project)}, {"percent", "12.5"}});
    return {1, {}, parse_price_book(document).value()};
}

/// Runs from seconds to two days.
std::vector<UsageRecord> usage_records()
{
    std::mt19937_64 chance(7);
    const auto below = [&chance](std::int64_t limit) {
        return static_cast<std::int64_t>(chance() % static_cast<std::uint64_t>(limit));
    };
    const Timestamp start = parse_rfc3339("2026-11-01T00:00:00Z").value();
    std::vector<UsageRecord> records(kRecords);
    for (std::size_t i = 0; i < kRecords; ++i) {
        UsageRecord& record = records[i];
        record.id = static_cast<std::int64_t>(i) + 1;
        record.source = fmt::format("att_{:026}", i);
        record.project = fmt::format("project-{}", below(1000));
        record.job_id = fmt::format("job_{:026}", i);
        record.center = fmt::format("center-{}", below(kCenters));
        record.unit_type = fmt::format("type-{}", below(kUnitTypes));
        record.unit_count = 1 + below(64);
        record.score_milli = 500'000 + below(2'000'000);
        record.moved_bytes = i % 4 == 0 ? below(10'000'000'000) : 0;
        record.from = start + std::chrono::microseconds(below(20LL * 86'400'000'000));
        record.until = record.from + std::chrono::microseconds(1 + below(1LL << (10 + below(28))));
    }
    return records;
}

void rate_all()
{
    const std::vector<UsageRecord> records = usage_records();
    const std::vector<RateBook> books{book()};
    std::int64_t sum = 0;
    std::size_t lines = 0;
    const double began = thread_cpu_s();
    for (const UsageRecord& record : records) {
        const Usage usage = usage_of(record);
        const std::vector<Charge> charges = rate(usage, books).value();
        for (const Posting& posting : postings_of(usage, charges))
            if (posting.amount_micros > 0) sum += posting.amount_micros;
        lines += charges.size();
    }
    const double rated_s = thread_cpu_s() - began;
    fmt::print("{} usage records have {} lines over {} EUR\n", kRecords, lines, sum / 1'000'000);
    fmt::print("RESULT rated_records_per_s_core {:.0f} 1/s\n", static_cast<double>(kRecords) / rated_s);
    PostingBatch batch;
    batch.head.sha256 = kFirstHash;
    batch.usage.assign(records.begin(), records.begin() + 100'000);
    batch.books = std::make_shared<const std::vector<RateBook>>(books);
    const double planned = thread_cpu_s();
    const std::vector<PostedEntry> entries = plan_entries(batch);
    fmt::print("RESULT chained_entries_per_s_core {:.0f} 1/s\n",
               static_cast<double>(entries.size()) / (thread_cpu_s() - planned));
}

/// A million lines as posting would have made them; what they refer to is left out, for nothing here looks at it.
void insert_charges(const std::string& url)
{
    test::run_sql(url, fmt::format(R"sql(
        SET session_replication_role = replica;
        INSERT INTO charge SELECT i, 1, '2026-11-01', i, 'project', 'project-' || i % 1000, 'center-' || i % {0},
            'type-' || i % {1}, 'cpu', 'job_' || lpad(i::text, 26, '0'), 'relax-' || i % 5000,
            'att_' || lpad(i::text, 26, '0'), 1 + i % 64, 500000 + i % 2000000, repeat('0123456789abcdef', 4), false,
            CASE i % 4 WHEN 0 THEN 'moved_gb' WHEN 1 THEN 'unit_hours' ELSE 'score_hours' END, 1, 'EUR',
            '2026-11-01'::timestamptz + i * interval '2 s', '2026-11-01'::timestamptz + i * interval '2 s' +
            interval '1 h', 1000000000 + i, 120000, 120000 + i, 105000 + i
        FROM generate_series(1, {2}) i;
        INSERT INTO ledger_entry (seq, period, kind, source, posted_at, previous_sha256, sha256)
        VALUES (1, '2026-11-01', 'usage', 'usage/1', now(), repeat('0', 64), repeat('0', 64));
        SET session_replication_role = origin)sql",
                                   kCenters, kUnitTypes, kRecords));
    test::run_sql(url, "VACUUM ANALYZE charge");
}

/// Writes to a file, as a client would.
class FileWriter final : public net::BodyWriter {
  public:
    explicit FileWriter(std::FILE* file) : file_(file) {}

    asio::awaitable<Result<void>> write(std::string chunk) override
    {
        bytes_ += chunk.size();
        if (std::fwrite(chunk.data(), 1, chunk.size(), file_) != chunk.size())
            co_return Error(Errc::kUnavailable, "the file cannot be written");
        co_return Result<void>();
    }
    asio::awaitable<Result<void>> sleep(std::chrono::milliseconds) override { co_return Result<void>(); }
    std::size_t bytes() const { return bytes_; }

  private:
    std::FILE* file_;
    std::size_t bytes_ = 0;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File scratch_file()
{
    File file(std::tmpfile(), &std::fclose);
    if (!file) throw std::runtime_error("there is no room for a file");
    return file;
}

double now_s()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double export_focus(Database& database)
{
    test::TestIo io;
    ComputePool compute;
    ExportRequest request;
    request.charges.last_seq = static_cast<std::int64_t>(kRecords);
    const File file = scratch_file();
    const auto writer = std::make_shared<FileWriter>(file.get());
    const double began = now_s();
    auto done = asio::co_spawn(io.context(), stream_export(database, compute, request, writer), asio::use_future);
    done.get();
    const double took_s = now_s() - began;
    fmt::print("{} rows are {:.0f} MB of CSV\n", kRecords, static_cast<double>(writer->bytes()) * 1e-6);
    return took_s;
}

/// The same rows and columns, as PostgreSQL writes them itself.
double copy_csv(const std::string& url)
{
    const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(url.c_str()), &PQfinish);
    const File file = scratch_file();
    const double began = now_s();
    PQclear(PQexec(connection.get(), "COPY (SELECT * FROM charge ORDER BY seq, line) TO STDOUT CSV HEADER"));
    char* row = nullptr;
    std::size_t rows = 0;
    for (int size = PQgetCopyData(connection.get(), &row, 0); size > 0;
         size = PQgetCopyData(connection.get(), &row, 0)) {
        std::fwrite(row, 1, static_cast<std::size_t>(size), file.get());
        PQfreemem(row);
        ++rows;
    }
    if (rows != kRecords + 1) throw std::runtime_error("COPY did not give every row");
    return now_s() - began;
}

void export_all()
{
    const std::string url = test::migrated_database();
    insert_charges(url);
    Metrics metrics;
    Database database({.url = url, .connections = 2}, metrics);
    export_focus(database); // warm, as the second COPY is
    copy_csv(url);
    const double focus_s = export_focus(database);
    const double copy_s = copy_csv(url);
    database.stop();
    fmt::print("RESULT focus_export_1m_s {:.2f} s\n", focus_s);
    fmt::print("RESULT focus_export_peak_mib {:.0f} MiB\n", peak_memory_mib());
    fmt::print("RESULT copy_csv_1m_s {:.2f} s\n", copy_s);
    fmt::print("RESULT focus_over_copy {:.2f} ratio\n", focus_s / copy_s);
}

} // namespace
} // namespace fathom::server

int main(int argc, char** argv)
{
    try {
        const std::string part = argc > 1 ? argv[1] : "";
        if (part == "rate")
            fathom::server::rate_all();
        else if (part == "export")
            fathom::server::export_all();
        else
            throw std::runtime_error("rate or export?");
        return 0;
    } catch (const std::exception& e) {
        fmt::print(stderr, "billing_bench: {}\n", e.what());
        return 1;
    }
}
