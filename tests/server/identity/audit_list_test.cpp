#include "server/identity/audit_store.hpp"
#include "tests/server/identity/api_fixture.hpp"

#include <chrono>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using test::run_sql;

/// Twenty thousand acts, one a minute; each thousandth of them is rare in one way.
class ManyActs : public ApiFixture {
  protected:
    ManyActs()
    {
        run_sql(url_, "INSERT INTO audit_log (at, actor, action, subject, request_id)"
                      " SELECT timestamptz '2025-03-01T00:00:00Z' + n * interval '1 minute',"
                      " CASE n % 1000 WHEN 1 THEN 'tok_rare' ELSE 'tok_' || n % 7 END,"
                      " CASE n % 1000 WHEN 2 THEN 'rare.act' ELSE 'center.drain' END,"
                      " CASE n % 1000 WHEN 3 THEN 'rare' ELSE 'center-' || n % 5 END, ''"
                      " FROM generate_series(0, 19999) n");
        run_sql(url_, "ANALYZE audit_log");
    }

    struct Page {
        std::vector<AuditEntry> entries;
        std::int64_t rows_read{}; ///< of the audit log, as PostgreSQL counts them
    };
    Page page_of(const AuditFilter& filter, std::int64_t before = 0)
    {
        constexpr const char* kRead =
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'audit_log'";
        auto look = [&](pqxx::work& transaction) -> Result<Page> {
            const auto read_before = transaction.exec1(kRead)[0].as<std::int64_t>();
            Page page;
            page.entries = list_audit_log(transaction, filter, before, 50);
            page.rows_read = transaction.exec1(kRead)[0].as<std::int64_t>() - read_before;
            return page;
        };
        const Result<Page> page = database_.blocking_run(look);
        EXPECT_TRUE(page) << page.error().detail;
        return page ? *page : Page();
    }

    static constexpr Timestamp kBegin{std::chrono::sys_days(std::chrono::year(2025) / 3 / 1)};
};

TEST_F(ManyActs, AreNotAllReadForAPageOfAFewWithinALongTime)
{
    AuditFilter within;
    within.within.since = kBegin + 1h;
    within.within.until = kBegin + 300h;
    AuditFilter by_actor = within;
    by_actor.actor = "tok_rare";
    AuditFilter by_action = within;
    by_action.action = "rare.act";
    AuditFilter by_subject = within;
    by_subject.subject = "rare";

    for (const AuditFilter& filter : {by_actor, by_action, by_subject}) {
        SCOPED_TRACE(filter.actor + filter.action + filter.subject);
        // More than the five times after which a connection may keep to one plan for all values.
        for (int time = 0; time < 8; ++time) {
            const Page page = page_of(filter);
            EXPECT_EQ(page.entries.size(), 17U);
            EXPECT_LT(page.rows_read, 100);
        }
    }
}

TEST_F(ManyActs, AreReadToAFullPageOnlyOfWhatThereIsMuchOf)
{
    AuditFilter within;
    within.within.since = kBegin + 1h;
    within.within.until = kBegin + 300h;
    AuditFilter by_subject;
    by_subject.subject = "center-1";
    AuditFilter by_subject_within = within;
    by_subject_within.subject = "center-1";

    for (const AuditFilter& filter : {AuditFilter(), within, by_subject, by_subject_within}) {
        SCOPED_TRACE(filter.subject + (filter.within.since ? " within" : ""));
        const Page first = page_of(filter);
        ASSERT_EQ(first.entries.size(), 50U);
        EXPECT_LT(first.rows_read, 200);
        const Page second = page_of(filter, first.entries.back().id);
        ASSERT_EQ(second.entries.size(), 50U);
        EXPECT_LT(second.rows_read, 200) << "from where the first one ended";
        EXPECT_LT(second.entries.front().at, first.entries.back().at);
    }
}

TEST_F(ManyActs, HaveNoneAfterOneThatIsGone)
{
    AuditFilter by_subject;
    by_subject.subject = "center-1";

    const Page page = page_of(by_subject, 1'000'000);

    EXPECT_TRUE(page.entries.empty());
    EXPECT_LT(page.rows_read, 10);
}

} // namespace
} // namespace fathom::server
