// What it costs the router to know which units are in use, and everybody else to note what changes (see
// tests/bench/cycle).
#include "core/decide/statistics/sample_statistics.hpp"
#include "server/routing/in_use/attempts_in_use.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <fmt/format.h>
#include <pqxx/pqxx>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace fathom::server {
namespace {

constexpr std::int64_t kInUse = 20'000;
constexpr std::int64_t kChanged = 200; ///< between two cycles
constexpr int kCycles = 20;
constexpr int kRounds = 5;

double ms_of(const std::function<void()>& act)
{
    const auto began = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

/// 100 centers with 4 unit types each, and attempts that run there.
void fill(const std::string& url)
{
    test::run_sql(url,
                  "INSERT INTO center (id, name, state, last_seen_at) SELECT 'ctr_' || c, 'center-' || c, 'online', "
                  "now() FROM generate_series(0, 99) c");
    test::run_sql(url,
                  "INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, "
                  "memory_bytes_per_unit, operators) SELECT 'ut_' || c || '_' || t, 'ctr_' || c, 'type-' || t, 'cpu', "
                  "64, 1, 0, '{dgemm}' FROM generate_series(0, 99) c, generate_series(0, 3) t");
    test::run_sql(url,
                  fmt::format("INSERT INTO job (id, name, project, spec, state, submitted_by) SELECT 'job_' || n, "
                              "'n', 'project-' || n % 50, '{{}}', 'running', 'tok_1' FROM generate_series(1, {}) n",
                              kInUse));
    test::run_sql(
        url,
        fmt::format("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, decided_by, "
                    "started_at, expected_end_at, units) SELECT 'att_' || n, 'job_' || n, 1, 'ctr_' || n % 100, "
                    "'ut_' || n % 100 || '_' || n / 100 % 4, 1, 'running', 'rep_1', now() - n % 1000 * interval '1 "
                    "second', now() + n % 10000 * interval '1 second', ARRAY[n % 64] FROM generate_series(1, {}) n",
                    kInUse));
    test::run_sql(url, "VACUUM ANALYZE");
}

/// @return milliseconds of one reading, of so many attempts.
double read(pqxx::connection& connection, AttemptsInUse& attempts, std::int64_t expected)
{
    const double took_ms = ms_of([&] {
        pqxx::work transaction(connection);
        attempts.read(transaction);
        transaction.commit();
    });
    if (attempts.rows_read() != expected)
        throw std::runtime_error(fmt::format("{} attempts were read, not {}", attempts.rows_read(), expected));
    return took_ms;
}

void measure_readings(const std::string& url)
{
    pqxx::connection connection(url);
    std::vector<double> all_ms;
    std::vector<double> none_ms;
    std::vector<double> changed_ms;
    std::vector<double> reservations_ms;
    AttemptsInUse first; // may have to begin what replicas ask before they believe that they know all changes
    read(connection, first, kInUse);
    AttemptsInUse attempts;
    read(connection, attempts, kInUse);
    for (int cycle = 0; cycle < kCycles; ++cycle) {
        AttemptsInUse anew;
        all_ms.push_back(read(connection, anew, kInUse));
        none_ms.push_back(read(connection, attempts, 0));
        test::run_sql(url,
                      fmt::format("UPDATE attempt SET expected_end_at = expected_end_at + interval '1 second' WHERE "
                                  "id IN (SELECT 'att_' || n FROM generate_series({}, {}) n)",
                                  cycle * kChanged + 1, (cycle + 1) * kChanged));
        changed_ms.push_back(read(connection, attempts, kChanged));
        reservations_ms.push_back(ms_of([&] {
            if (std::ssize(attempts.reservations({})) != kInUse) throw std::runtime_error("attempts were lost");
        }));
    }
    fmt::print("RESULT read_all_in_use_ms {:.1f} ms\n", median(all_ms));
    fmt::print("RESULT read_unchanged_ms {:.2f} ms\n", median(none_ms));
    fmt::print("RESULT read_200_changed_ms {:.2f} ms\n", median(changed_ms));
    fmt::print("RESULT reservations_ms {:.1f} ms\n", median(reservations_ms));
}

/// Microseconds for each attempt of a statement that changes all of them.
double change_us(const std::string& url)
{
    const double took_ms = ms_of(
        [&] { test::run_sql(url, "UPDATE attempt SET expected_end_at = expected_end_at + interval '1 second'"); });
    test::run_sql(url, "VACUUM attempt");
    return took_ms * 1e3 / static_cast<double>(kInUse);
}

/// With the trigger and its index, and with neither in use: by turns, since the table grows.
void measure_changes(const std::string& url)
{
    std::vector<double> noted_us;
    std::vector<double> plain_us;
    change_us(url); // warm
    for (int round = 0; round < kRounds; ++round) {
        noted_us.push_back(change_us(url));
        test::run_sql(url, "ALTER TABLE attempt DISABLE TRIGGER note_attempt_change");
        plain_us.push_back(change_us(url));
        test::run_sql(url, "ALTER TABLE attempt ENABLE TRIGGER note_attempt_change");
    }
    fmt::print("RESULT change_us {:.1f} us\n", median(noted_us));
    fmt::print("RESULT change_not_noted_us {:.1f} us\n", median(plain_us));
}

int run()
{
    const std::string url = test::migrated_database();
    fill(url);
    fmt::print("{} attempts run\n", kInUse);
    measure_readings(url);
    measure_changes(url);
    return 0;
}

} // namespace
} // namespace fathom::server

int main()
{
    try {
        return fathom::server::run();
    } catch (const std::exception& e) {
        fmt::print(stderr, "reading_bench: {}\n", e.what());
        return 1;
    }
}
