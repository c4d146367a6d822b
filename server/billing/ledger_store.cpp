#include "server/billing/ledger_store.hpp"

#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kSelectHead{"billing_select_head", "SELECT seq, sha256, usage_id FROM ledger_head"};
constexpr Statement kLockHead{"billing_lock_head", "SELECT seq, sha256, usage_id FROM ledger_head FOR UPDATE"};
constexpr Statement kUpdateHead{"billing_update_head", "UPDATE ledger_head SET seq = $1, sha256 = $2, usage_id = $3"};

constexpr Statement kInsertEntries{"billing_insert_entries", R"sql(
    INSERT INTO ledger_entry (seq, period, kind, source, usage_id, corrects, posted_at, note, detail, previous_sha256,
                              sha256)
    SELECT seq, (period || '-01')::date, kind, source, nullif(usage_id, 0), nullif(corrects, 0), posted_at, note,
           detail, previous_sha256, sha256
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::timestamptz[],
                $8::text[], $9::text[], $10::text[], $11::text[])
         AS e (seq, period, kind, source, usage_id, corrects, posted_at, note, detail, previous_sha256, sha256)
    ORDER BY seq)sql"};

// What statements and exports say of a line comes from its usage, which never changes either.
constexpr Statement kInsertCharges{"billing_insert_charges", R"sql(
    INSERT INTO charge (seq, line, period, usage_id, payer, project, center, unit_type, resource_type, job_id, job_name,
                        attempt_id, unit_count, score_milli, evidence_id, is_correction, meter, book_version, currency,
                        from_at, until_at, quantity_nano, unit_price_micros, list_micros, billed_micros)
    SELECT c.seq, c.line, e.period, u.id, u.payer, u.project, u.center, u.unit_type, u.resource_type, u.job_id,
           u.job_name, u.attempt_id, u.unit_count, u.score_milli, u.evidence_id, e.kind <> 'usage', c.meter,
           c.book_version, c.currency, c.from_at, c.until_at, c.quantity_nano, c.unit_price_micros, c.list_micros,
           c.billed_micros
    FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[], $5::text[], $6::timestamptz[],
                $7::timestamptz[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
         AS c (seq, line, meter, book_version, currency, from_at, until_at, quantity_nano, unit_price_micros,
               list_micros, billed_micros)
         JOIN ledger_entry e ON e.seq = c.seq JOIN usage_record u ON u.id = e.usage_id)sql"};

constexpr Statement kInsertPostings{"billing_insert_postings", R"sql(
    INSERT INTO posting (seq, account, currency, amount_micros)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]))sql"};

#define FATHOM_ENTRY_COLUMNS                                                                                           \
    "SELECT seq, to_char(period, 'YYYY-MM') AS period, kind, source, coalesce(usage_id, 0) AS usage_id, "              \
    "coalesce(corrects, 0) AS corrects, posted_at, note, detail, previous_sha256, sha256 FROM ledger_entry "

constexpr Statement kSelectEntries{"billing_select_entries",
                                   FATHOM_ENTRY_COLUMNS "WHERE seq > $1 ORDER BY seq LIMIT $2"};
constexpr Statement kSelectPostedBefore{"billing_select_posted_before", FATHOM_ENTRY_COLUMNS R"sql(
    WHERE kind IN ('usage', 'correction') AND usage_id = (
        SELECT id FROM usage_record WHERE source = $1 AND revision = $2::integer - 1) ORDER BY seq LIMIT 1)sql"};
constexpr Statement kSelectCharges{"billing_select_charges", R"sql(
    SELECT seq, meter, book_version, currency, from_at, until_at, quantity_nano, unit_price_micros, list_micros,
           billed_micros
    FROM charge WHERE seq BETWEEN $1 AND $2 ORDER BY seq, line)sql"};
constexpr Statement kSelectPostings{"billing_select_postings", R"sql(
    SELECT seq, account, currency, amount_micros FROM posting WHERE seq BETWEEN $1 AND $2
    ORDER BY seq, account COLLATE "C", currency)sql"};

constexpr Statement kAddToBills{"billing_add_to_bills", R"sql(
    INSERT INTO project_bill AS b (project, period, currency, billed_micros)
    SELECT project, period, currency, sum(billed_micros) FROM charge
    WHERE seq BETWEEN $1 AND $2 AND payer = 'project' GROUP BY project, period, currency ORDER BY 1, 2, 3
    ON CONFLICT (project, period, currency) DO UPDATE SET billed_micros = b.billed_micros + excluded.billed_micros
    RETURNING project, to_char(period, 'YYYY-MM') AS period, currency, billed_micros)sql"};
constexpr Statement kInsertAlert{"billing_insert_alert", R"sql(
    INSERT INTO budget_alert (project, period, percent, amount_micros, currency)
    VALUES ($1, ($2 || '-01')::date, $3, $4, $5) ON CONFLICT DO NOTHING)sql"};

constexpr Statement kSelectPeriods{"billing_select_periods", R"sql(
    SELECT to_char(e.period, 'YYYY-MM') AS period, p.closed_at, coalesce(p.closed_by, '') AS closed_by, e.entries
    FROM (SELECT period, count(*) AS entries FROM ledger_entry GROUP BY period) e
         LEFT JOIN billing_period p ON p.period = e.period ORDER BY e.period DESC LIMIT 1200)sql"};
constexpr Statement kSelectClosed{"billing_select_closed",
                                  "SELECT to_char(period, 'YYYY-MM') FROM billing_period ORDER BY period"};
constexpr Statement kInsertClosed{"billing_insert_closed", R"sql(
    INSERT INTO billing_period (period, closed_by, seq) VALUES (($1 || '-01')::date, $2, $3))sql"};

constexpr Statement kFindObstacle{"billing_find_obstacle", R"sql(
    SELECT CASE
        WHEN now() < p.until_at THEN 'it has not ended yet'
        WHEN EXISTS (SELECT 1 FROM billing_period b WHERE b.period = p.from_at::date) THEN 'it is closed already'
        WHEN EXISTS (SELECT 1 FROM attempt a WHERE a.state = 'ended' AND NOT a.metered AND a.closed_at < p.until_at)
            THEN 'usage of it is still being recorded; try again soon'
        WHEN EXISTS (SELECT 1 FROM usage_record u WHERE u.id > h.usage_id AND u.until_at < p.until_at)
            THEN 'usage of it is still being rated; try again soon'
        WHEN (SELECT min(e.period) FROM ledger_entry e WHERE NOT EXISTS (
                  SELECT 1 FROM billing_period b WHERE b.period = e.period)) < ($1 || '-01')::date
            THEN (SELECT 'close ' || to_char(min(e.period), 'YYYY-MM') || ' first' FROM ledger_entry e
                  WHERE NOT EXISTS (SELECT 1 FROM billing_period b WHERE b.period = e.period))
        ELSE '' END AS obstacle
    FROM ledger_head h, (SELECT ($1 || '-01')::date AS from_at,
                                (($1 || '-01')::date + interval '1 month') AT TIME ZONE 'UTC' AS until_at) p)sql"};

constexpr Statement kFindFaults{"billing_find_faults", R"sql(
    (SELECT 'attempt ' || a.id || ' is marked as metered and has no usage' AS fault
     FROM attempt a, ledger_head h
     WHERE a.metered AND a.closed_at > h.since
       AND NOT EXISTS (SELECT 1 FROM usage_record u WHERE u.source = a.id) LIMIT 20)
    UNION ALL
    (SELECT 'usage ' || u.id || ' has no entry' FROM usage_record u, ledger_head h
     WHERE u.id <= h.usage_id AND NOT EXISTS (SELECT 1 FROM ledger_entry e WHERE e.source = 'usage/' || u.id) LIMIT 20)
    UNION ALL
    (SELECT 'usage ' || usage_id || ' was posted ' || count(*) || ' times' FROM ledger_entry
     WHERE kind IN ('usage', 'correction') GROUP BY usage_id HAVING count(*) > 1 LIMIT 20)
    UNION ALL
    (SELECT 'attempts of job ' || job_id || ' overlap: ' || attempt_id FROM (
         SELECT u.job_id, u.attempt_id, u.from_at,
                max(u.until_at) OVER (PARTITION BY u.job_id ORDER BY u.from_at, u.until_at, u.id
                                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_until
         FROM usage_record u WHERE u.kind = 'compute' AND u.payer <> 'nobody' AND NOT EXISTS (
             SELECT 1 FROM usage_record n WHERE n.source = u.source AND n.revision > u.revision)) o
     WHERE before_until > from_at LIMIT 20)
    UNION ALL
    (SELECT 'entry ' || e.seq || ' was posted to ' || to_char(e.period, 'YYYY-MM') || ' after that was closed'
     FROM ledger_entry e JOIN billing_period p ON p.period = e.period WHERE e.seq > p.seq LIMIT 20)
    UNION ALL
    (SELECT 'the sum of project ' || coalesce(b.project, c.project) || ' is not that of its charges'
     FROM project_bill b FULL JOIN (SELECT project, period, currency, sum(billed_micros) AS billed_micros FROM charge
                                    WHERE payer = 'project' GROUP BY project, period, currency) c
          ON c.project = b.project AND c.period = b.period AND c.currency = b.currency
     WHERE b.billed_micros IS DISTINCT FROM c.billed_micros LIMIT 20))sql"};

LedgerHead to_head(const pqxx::row& row)
{
    return {row["seq"].as<std::int64_t>(), row["sha256"].as<std::string>(), row["usage_id"].as<std::int64_t>()};
}

PostedEntry to_entry(const pqxx::row& row)
{
    PostedEntry posted;
    posted.entry.seq = row["seq"].as<std::int64_t>();
    posted.entry.period = row["period"].as<std::string>();
    posted.entry.kind = parse_entry_kind(row["kind"].c_str()).value_or(EntryKind::kUsage);
    posted.entry.source = row["source"].as<std::string>();
    posted.entry.corrects = row["corrects"].as<std::int64_t>();
    posted.entry.posted_at = to_timestamp(row["posted_at"]);
    posted.entry.note = row["note"].as<std::string>();
    posted.entry.detail = row["detail"].as<std::string>();
    posted.usage.id = row["usage_id"].as<std::int64_t>();
    posted.previous_sha256 = row["previous_sha256"].as<std::string>();
    posted.sha256 = row["sha256"].as<std::string>();
    return posted;
}

Charge to_charge(const pqxx::row& row)
{
    return {.meter = parse_meter(row["meter"].c_str()).value_or(Meter::kScoreHours),
            .book_version = row["book_version"].as<std::int64_t>(),
            .currency = row["currency"].as<std::string>(),
            .from = to_timestamp(row["from_at"]),
            .until = to_timestamp(row["until_at"]),
            .quantity_nano = row["quantity_nano"].as<std::int64_t>(),
            .unit_price_micros = row["unit_price_micros"].as<std::int64_t>(),
            .list_micros = row["list_micros"].as<std::int64_t>(),
            .billed_micros = row["billed_micros"].as<std::int64_t>()};
}

/// Both in order of seq.
void add_lines(pqxx::work& transaction, std::vector<PostedEntry>& entries)
{
    if (entries.empty()) return;
    const std::int64_t first = entries.front().entry.seq;
    const std::int64_t last = entries.back().entry.seq;
    auto entry = entries.begin();
    for (const pqxx::row& row : exec(transaction, kSelectCharges, first, last)) {
        while (entry->entry.seq != row["seq"].as<std::int64_t>())
            ++entry;
        entry->entry.charges.push_back(to_charge(row));
    }
    entry = entries.begin();
    for (const pqxx::row& row : exec(transaction, kSelectPostings, first, last)) {
        while (entry->entry.seq != row["seq"].as<std::int64_t>())
            ++entry;
        entry->entry.postings.push_back({row["account"].as<std::string>(), row["currency"].as<std::string>(),
                                         row["amount_micros"].as<std::int64_t>()});
    }
}

void insert_rows(pqxx::work& transaction, const std::vector<PostedEntry>& entries)
{
    SqlArray seqs;
    SqlArray periods;
    SqlArray kinds;
    SqlArray sources;
    SqlArray usages;
    SqlArray corrected;
    SqlArray times;
    SqlArray notes;
    SqlArray details;
    SqlArray previous;
    SqlArray hashes;
    for (const PostedEntry& posted : entries) {
        const LedgerEntry& entry = posted.entry;
        seqs.add(entry.seq);
        periods.add(entry.period);
        kinds.add(to_string(entry.kind));
        sources.add(entry.source);
        usages.add(posted.usage.id);
        corrected.add(entry.corrects);
        times.add(format_rfc3339(entry.posted_at));
        notes.add(entry.note);
        details.add(entry.detail);
        previous.add(posted.previous_sha256);
        hashes.add(posted.sha256);
    }
    exec(transaction, kInsertEntries, seqs.take(), periods.take(), kinds.take(), sources.take(), usages.take(),
         corrected.take(), times.take(), notes.take(), details.take(), previous.take(), hashes.take());
}

void insert_charges(pqxx::work& transaction, const std::vector<PostedEntry>& entries)
{
    SqlArray seqs;
    SqlArray lines;
    SqlArray meters;
    SqlArray versions;
    SqlArray currencies;
    SqlArray starts;
    SqlArray ends;
    SqlArray quantities;
    SqlArray prices;
    SqlArray lists;
    SqlArray bills;
    for (const PostedEntry& posted : entries) {
        std::int64_t line = 0;
        for (const Charge& charge : posted.entry.charges) {
            seqs.add(posted.entry.seq);
            lines.add(++line);
            meters.add(to_string(charge.meter));
            versions.add(charge.book_version);
            currencies.add(charge.currency);
            starts.add(format_rfc3339(charge.from));
            ends.add(format_rfc3339(charge.until));
            quantities.add(charge.quantity_nano);
            prices.add(charge.unit_price_micros);
            lists.add(charge.list_micros);
            bills.add(charge.billed_micros);
        }
    }
    exec(transaction, kInsertCharges, seqs.take(), lines.take(), meters.take(), versions.take(), currencies.take(),
         starts.take(), ends.take(), quantities.take(), prices.take(), lists.take(), bills.take());
}

void insert_postings(pqxx::work& transaction, const std::vector<PostedEntry>& entries)
{
    SqlArray seqs;
    SqlArray accounts;
    SqlArray currencies;
    SqlArray amounts;
    for (const PostedEntry& posted : entries) {
        for (const Posting& posting : posted.entry.postings) {
            seqs.add(posted.entry.seq);
            accounts.add(posting.account);
            currencies.add(posting.currency);
            amounts.add(posting.amount_micros);
        }
    }
    exec(transaction, kInsertPostings, seqs.take(), accounts.take(), currencies.take(), amounts.take());
}

std::chrono::year_month month_of(const std::string& period)
{
    return std::chrono::year(std::stoi(period.substr(0, 4))) / std::stoi(period.substr(5, 2));
}

} // namespace

LedgerHead select_head(pqxx::work& transaction)
{
    return to_head(exec(transaction, kSelectHead)[0]);
}

LedgerHead lock_head(pqxx::work& transaction)
{
    return to_head(exec(transaction, kLockHead)[0]);
}

void update_head(pqxx::work& transaction, const LedgerHead& head)
{
    exec(transaction, kUpdateHead, head.seq, head.sha256, head.usage_id);
}

void insert_entries(pqxx::work& transaction, const std::vector<PostedEntry>& entries)
{
    insert_rows(transaction, entries);
    insert_charges(transaction, entries);
    insert_postings(transaction, entries);
}

std::vector<PostedEntry> select_entries(pqxx::work& transaction, std::int64_t after_seq, std::int64_t most)
{
    std::vector<PostedEntry> entries;
    for (const pqxx::row& row : exec(transaction, kSelectEntries, after_seq, most))
        entries.push_back(to_entry(row));
    add_lines(transaction, entries);
    return entries;
}

std::optional<PostedEntry> select_posted_before(pqxx::work& transaction, const std::string& source,
                                                std::int64_t revision)
{
    std::vector<PostedEntry> entries;
    for (const pqxx::row& row : exec(transaction, kSelectPostedBefore, source, revision))
        entries.push_back(to_entry(row));
    add_lines(transaction, entries);
    if (entries.empty()) return std::nullopt;
    return std::move(entries.front());
}

std::vector<ProjectBill> add_to_bills(pqxx::work& transaction, const std::vector<PostedEntry>& entries)
{
    std::vector<ProjectBill> bills;
    for (const pqxx::row& row : exec(transaction, kAddToBills, entries.front().entry.seq, entries.back().entry.seq))
        bills.push_back({row["project"].as<std::string>(), row["period"].as<std::string>(),
                         row["currency"].as<std::string>(), row["billed_micros"].as<std::int64_t>()});
    return bills;
}

bool insert_budget_alert(pqxx::work& transaction, const ProjectBill& bill, int percent)
{
    return exec(transaction, kInsertAlert, bill.project, bill.period, percent, bill.billed_micros, bill.currency)
               .affected_rows() == 1;
}

std::vector<BillingPeriod> select_periods(pqxx::work& transaction)
{
    std::vector<BillingPeriod> periods;
    for (const pqxx::row& row : exec(transaction, kSelectPeriods))
        periods.push_back({row["period"].as<std::string>(), to_optional_timestamp(row["closed_at"]),
                           row["closed_by"].as<std::string>(), row["entries"].as<std::int64_t>()});
    return periods;
}

std::set<std::string> select_closed_periods(pqxx::work& transaction)
{
    std::set<std::string> closed;
    for (const pqxx::row& row : exec(transaction, kSelectClosed))
        closed.insert(row[0].as<std::string>());
    return closed;
}

void insert_closed_period(pqxx::work& transaction, const std::string& period, const std::string& closed_by,
                          std::int64_t seq)
{
    exec(transaction, kInsertClosed, period, closed_by, seq);
}

std::string find_obstacle_to_close(pqxx::work& transaction, const std::string& period)
{
    return exec(transaction, kFindObstacle, period)[0][0].as<std::string>();
}

std::vector<std::string> find_usage_faults(pqxx::work& transaction)
{
    std::vector<std::string> faults;
    for (const pqxx::row& row : exec(transaction, kFindFaults))
        faults.push_back(row[0].as<std::string>());
    return faults;
}

std::string period_of(Timestamp time)
{
    return format_rfc3339(time).substr(0, 7);
}

std::string next_period(const std::string& period)
{
    const std::chrono::year_month next = month_of(period) + std::chrono::months(1);
    return period_of(std::chrono::sys_days{next / 1});
}

std::optional<Timestamp> start_of_period(const std::string& period)
{
    if (period.size() != 7) return std::nullopt;
    const Result<Timestamp> start = parse_rfc3339(period + "-01T00:00:00Z");
    if (!start) return std::nullopt;
    return *start;
}

} // namespace fathom::server
