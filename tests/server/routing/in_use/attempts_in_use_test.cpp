#include "server/routing/in_use/attempts_in_use.hpp"
#include "server/routing/in_use/expected_end.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom::server {
namespace {

/// Unit type, project, units, from, release; then units of whole devices.
using HeldUnits = std::tuple<std::string, std::string, std::int64_t, double, double>;
using Held = std::pair<HeldUnits, std::optional<std::int64_t>>;

// What is kept must give the same numbers, to the last bit, as the database would.
constexpr const char* kAsTheDatabaseComputes = R"sql(
    SELECT unit_type_id, project, unit_count, from_s,
           from_s + greatest(CASE WHEN is_short THEN 0.01 ELSE 1 END, left_s) AS release_s
    FROM (SELECT a.id, a.unit_type_id, a.unit_count, j.project,
                 coalesce(a.expected_end_at - coalesce(a.queued_until, a.started_at, a.created_at)
                              < interval '1 second', false) AS is_short,
                 greatest(0, coalesce(extract(epoch FROM a.queued_until - now()), 0))::float8 AS from_s,
                 abs(extract(epoch FROM )sql" FATHOM_EXPECTED_END("now()") R"sql(
                             - coalesce(a.queued_until, now())))::float8 AS left_s
          FROM attempt a JOIN job j ON j.id = a.job_id
          )sql" FATHOM_JOIN_ATTEMPT_QUEUE R"sql(
          WHERE a.state <> 'ended') live
    ORDER BY unit_type_id COLLATE "C", id COLLATE "C")sql";

/// Attempts that come, change and go, by many transactions at once; each commits when it likes, or never.
class AttemptsInUseTest : public JobsFixture, public ::testing::WithParamInterface<unsigned> {
  protected:
    AttemptsInUseTest()
    {
        unit_types_ = {add_center("alpha", 8), add_center("beta", 4)};
        views_ = catalog_.get()->unit_types;
        for (UnitTypeView& view : views_) {
            if (view.id.value == unit_types_[1]) view.units_per_device = 2;
        }
    }

    std::int64_t number(std::int64_t least, std::int64_t most)
    {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
    }
    std::string seconds_from_now(std::int64_t least_ms, std::int64_t most_ms)
    {
        return "clock_timestamp() + interval '" + std::to_string(number(least_ms, most_ms)) + " ms'";
    }
    std::string unit_type() { return unit_types_[static_cast<std::size_t>(number(0, 1))]; }

    /// SQL that adds an attempt, which then is one of `ids`.
    std::string insertion(std::vector<std::string>& ids)
    {
        const JobId job = submit();
        ids.push_back(AttemptId::make().value);
        const std::string type = unit_type();
        const bool is_queued = number(0, 3) == 0;
        const std::string center = "(SELECT center_id FROM unit_type WHERE id = '" + type + "')";
        return "INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by, "
               "expected_end_at, queued_until, is_exclusive) VALUES ('" +
               ids.back() + "', '" + job.value + "', 1, " + center + ", '" + type + "', " +
               std::to_string(is_queued ? 1 : number(1, 2)) + ", 'rep_1', " +
               (number(0, 4) == 0 ? "NULL" : seconds_from_now(-5000, 90000000)) + ", " +
               (is_queued ? seconds_from_now(-500, 3000) : "NULL") + ", " + (number(0, 1) == 0 ? "true" : "false") +
               ")";
    }
    /// SQL that changes the attempt; an end takes it out of `ids`.
    std::string change(std::vector<std::string>& ids)
    {
        const auto at = static_cast<std::size_t>(number(0, std::ssize(ids) - 1));
        const std::string id = ids[at];
        const std::string where = " WHERE id = '" + id + "'";
        switch (number(0, 6)) {
        case 0:
            ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at));
            return "UPDATE attempt SET state = 'ended', outcome = 'exited'" + where;
        case 1:
            return "UPDATE attempt SET state = 'running', queued_until = NULL, units = '{1}', started_at = " +
                   seconds_from_now(-3000, 0) + where;
        case 2:
            return "UPDATE attempt SET unit_type_id = '" + unit_type() + "'" + where;
        case 3:
            return "UPDATE attempt SET expected_end_at = " + seconds_from_now(-2000, 5000) + where;
        case 4:
            return "UPDATE attempt SET state = 'dispatched', queued_until = NULL" + where;
        case 5:
            return "UPDATE attempt SET queued_until = NULL, units = '{0,3}'" + where;
        default:
            return "INSERT INTO attempt_queue (attempt_id, reason, expected_start) VALUES ('" + id + "', 'Priority', " +
                   seconds_from_now(-2000, 9000) +
                   ") ON CONFLICT (attempt_id) DO UPDATE SET expected_start = excluded.expected_start";
        }
    }
    std::string change_or_insertion(std::vector<std::string>& ids)
    {
        return ids.empty() || number(0, 2) == 0 ? insertion(ids) : change(ids);
    }

    /// Begins a transaction on attempts of its own.
    void begin_one()
    {
        Open& one = open_.emplace_back();
        one.before.swap(live_);
        const auto kept = std::ssize(one.before) / 2;
        live_.assign(one.before.begin() + kept, one.before.end());
        one.before.resize(static_cast<std::size_t>(kept));
        one.after = one.before;
        one.connection = std::make_unique<pqxx::connection>(url_);
        one.transaction = std::make_unique<pqxx::work>(*one.connection);
        for (int i = 0; i < 3; ++i)
            one.transaction->exec(change_or_insertion(one.after));
    }
    /// Ends any of those that have begun, or commits it after others that began later.
    void end_one()
    {
        const auto at = open_.begin() + number(0, std::ssize(open_) - 1);
        const bool fails = number(0, 2) == 0;
        if (fails)
            at->transaction->abort();
        else
            at->transaction->commit();
        const std::vector<std::string>& left = fails ? at->before : at->after;
        live_.insert(live_.end(), left.begin(), left.end());
        open_.erase(at);
    }
    void step()
    {
        switch (number(0, 10)) {
        case 0:
            if (open_.size() < 3) begin_one();
            break;
        case 1:
        case 2:
            if (!open_.empty()) end_one();
            break;
        case 3:
            sql("UPDATE unit_type SET unit_count = " + std::to_string(number(0, 9)));
            break;
        case 4:
            if (live_.empty() || number(0, 3) != 0) break;
            sql("DELETE FROM attempt WHERE id = '" + live_.back() + "'");
            live_.pop_back();
            break;
        case 5:
            sql("DELETE FROM attempt WHERE id = (SELECT min(id) FROM attempt WHERE state = 'ended')");
            break;
        default:
            sql(change_or_insertion(live_));
        }
    }

    std::vector<Held> held_by(const AttemptsInUse& attempts) const
    {
        std::vector<Held> held;
        for (const Reservation& one : attempts.reservations(views_))
            held.push_back({{one.unit_type_id.value, one.project, one.unit_count, one.from_s, one.release_s},
                            one.whole_device_units});
        return held;
    }
    /// Unit type, free parts, and of each tenant its kind and when it is expected to be gone.
    using Gpu = std::tuple<std::string, std::size_t, std::vector<std::pair<std::string, double>>>;
    std::vector<Gpu> gpus_of(const AttemptsInUse& attempts) const
    {
        std::vector<Gpu> all;
        const GpusInUse gpus = attempts.gpus(views_);
        for (const auto& [unit_type, of_type] : gpus) {
            for (const TenantedGpu& one : of_type) {
                Gpu& gpu = all.emplace_back();
                std::get<0>(gpu) = unit_type;
                std::get<1>(gpu) = one.free_parts;
                for (const GpuTenant& tenant : one.tenants)
                    std::get<2>(gpu).emplace_back(tenant.kind, tenant.release_s);
            }
        }
        return all;
    }
    static std::vector<HeldUnits> held_as_the_database_computes(pqxx::work& transaction)
    {
        std::vector<HeldUnits> held;
        for (const pqxx::row& row : transaction.exec(kAsTheDatabaseComputes))
            held.emplace_back(row[0].as<std::string>(), row[1].as<std::string>(), row[2].as<std::int64_t>(),
                              row[3].as<double>(), row[4].as<double>());
        return held;
    }
    /// In one transaction, so that both mean the same moment.
    void expect_as_read_anew(AttemptsInUse& kept)
    {
        auto look = [&](pqxx::work& transaction) -> Result<void> {
            kept.read(transaction);
            AttemptsInUse anew;
            anew.read(transaction);
            const std::vector<Held> held = held_by(kept);
            EXPECT_EQ(held, held_by(anew));
            EXPECT_EQ(gpus_of(kept), gpus_of(anew));
            EXPECT_EQ(kept.coming_tenants(views_), anew.coming_tenants(views_));
            std::vector<HeldUnits> units;
            for (const Held& one : held)
                units.push_back(one.first);
            EXPECT_EQ(units, held_as_the_database_computes(transaction));
            const UseOfUnits use = kept.use();
            const UseOfUnits same = anew.use();
            EXPECT_EQ(use.taken, same.taken);
            EXPECT_EQ(use.queued, same.queued);
            EXPECT_EQ(use.with_short, same.with_short);
            EXPECT_EQ(use.with_long, same.with_long);
            return {};
        };
        ASSERT_TRUE(database_.blocking_run(look));
    }

    struct Open {
        std::unique_ptr<pqxx::connection> connection;
        std::unique_ptr<pqxx::work> transaction;
        std::vector<std::string> before; ///< attempts that nobody else changes meanwhile
        std::vector<std::string> after;
    };
    std::mt19937 random_{GetParam()};
    std::vector<std::string> unit_types_;
    std::vector<UnitTypeView> views_;
    std::vector<std::string> live_; ///< attempts that have not ended, and that no open transaction changes
    std::deque<Open> open_;
};

TEST_P(AttemptsInUseTest, AreAsReadAnewWhateverOthersCommitInWhateverOrder)
{
    AttemptsInUse often;
    AttemptsInUse seldom;
    std::int64_t rows_read = 0;
    for (int i = 0; i < 150; ++i) {
        step();
        if (number(0, 1) == 0) {
            expect_as_read_anew(often);
            rows_read += often.rows_read();
        }
        if (number(0, 9) == 0) expect_as_read_anew(seldom);
        if (HasFailure()) FAIL() << "after step " << i;
    }
    while (!open_.empty())
        end_one();
    expect_as_read_anew(often);
    expect_as_read_anew(seldom);
    expect_as_read_anew(often);
    EXPECT_EQ(often.rows_read(), 0) << "nothing has changed since";
    EXPECT_GT(rows_read, 0);
}

TEST_P(AttemptsInUseTest, WhatATransactionWroteAndTookBackIsNotKept)
{
    AttemptsInUse kept;
    sql(insertion(live_));
    expect_as_read_anew(kept);
    auto fail = [&](pqxx::work& transaction) -> Result<void> {
        transaction.exec("UPDATE attempt SET expected_end_at = now() + interval '1 day'");
        kept.read(transaction);
        return Error{Errc::kConflict, "taken back"};
    };

    ASSERT_FALSE(database_.blocking_run(fail));

    expect_as_read_anew(kept);
}

TEST_P(AttemptsInUseTest, ThoseThatHaveNotStartedAreComingToGpusThatJobsShare)
{
    AttemptsInUse kept;
    sql(insertion(live_));
    sql(insertion(live_));
    sql("UPDATE attempt SET queued_until = NULL, unit_type_id = '" + unit_types_[1] + "'");
    expect_as_read_anew(kept);
    EXPECT_EQ(kept.coming_tenants(views_).at(unit_types_[1]).size(), 2U);
    EXPECT_TRUE(gpus_of(kept).empty());

    sql("UPDATE attempt SET state = 'running', units = '{1}', started_at = clock_timestamp() WHERE id = '" + live_[0] +
        "'");
    expect_as_read_anew(kept);
    EXPECT_EQ(kept.coming_tenants(views_).at(unit_types_[1]).size(), 1U);
    EXPECT_FALSE(gpus_of(kept).empty());

    sql("UPDATE attempt SET unit_type_id = '" + unit_types_[0] + "' WHERE id = '" + live_[1] + "'");
    expect_as_read_anew(kept);
    EXPECT_TRUE(kept.coming_tenants(views_).empty()) << "its units have no device together";
}

TEST_P(AttemptsInUseTest, AreAllReadAfterACrashOfTheDatabase)
{
    AttemptsInUse kept;
    sql(insertion(live_));
    expect_as_read_anew(kept);
    // What was seen may be lost then, with the numbers of the transactions.
    sql("ALTER TABLE attempt DISABLE TRIGGER note_attempt_change; UPDATE attempt SET unit_count = 7, queued_until = "
        "NULL; "
        "ALTER TABLE attempt ENABLE TRIGGER note_attempt_change");
    sql("TRUNCATE attempt_changes_since");

    expect_as_read_anew(kept);
    expect_as_read_anew(kept);
    expect_as_read_anew(kept);
    EXPECT_EQ(kept.rows_read(), 0);
}

TEST_P(AttemptsInUseTest, ThoseThatWereSeenToEndMayBeDeletedUnheard)
{
    AttemptsInUse kept;
    AttemptsInUse late;
    std::vector<std::string> first;
    sql(insertion(first));
    sql(insertion(live_));
    expect_as_read_anew(late);
    sql("UPDATE attempt SET state = 'ended', outcome = 'exited' WHERE id = '" + first[0] + "'");
    expect_as_read_anew(kept);

    sql("DELETE FROM attempt WHERE id = '" + first[0] + "'");
    expect_as_read_anew(kept);
    EXPECT_EQ(kept.rows_read(), 0) << "nothing is new";
    expect_as_read_anew(late);
    EXPECT_EQ(late.rows_read(), 1) << "all that are left";
    expect_as_read_anew(late);
    EXPECT_EQ(late.rows_read(), 0);

    sql("DELETE FROM attempt WHERE id = 'none'");
    sql("DELETE FROM attempt WHERE id = '" + live_[0] + "'");
    live_.clear();
    expect_as_read_anew(kept);
    EXPECT_TRUE(held_by(kept).empty()) << "it had not ended";
}

TEST_P(AttemptsInUseTest, OneThatEndsAndIsDeletedInOneTransactionIsGone)
{
    AttemptsInUse kept;
    sql(insertion(live_));
    expect_as_read_anew(kept);

    sql("UPDATE attempt SET state = 'ended', outcome = 'exited'; DELETE FROM attempt");
    live_.clear();
    expect_as_read_anew(kept);
    EXPECT_TRUE(held_by(kept).empty());
}

TEST_P(AttemptsInUseTest, NumbersOfTheServerThatABackupIsOfAreNoNews)
{
    AttemptsInUse kept;
    sql(insertion(live_));
    sql("UPDATE attempt SET changed_in = '99999999999'; UPDATE attempt_changes_since SET deleted_in = '99999999999', "
        "deleted_change = '99999999999'");
    expect_as_read_anew(kept);

    expect_as_read_anew(kept);

    EXPECT_EQ(kept.rows_read(), 0);
    sql("DELETE FROM attempt");
    live_.clear();
    expect_as_read_anew(kept);
    EXPECT_TRUE(held_by(kept).empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, AttemptsInUseTest, ::testing::Values(1U, 2U, 3U, 4U));

} // namespace
} // namespace fathom::server
