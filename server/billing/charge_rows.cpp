#include "server/billing/charge_rows.hpp"

#include "core/base/parse_number.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// In order of the primary key, whatever the filter: an export reads a few months of it from their first entry on.
constexpr const char* kSelectCharges = R"sql(
    SELECT seq, line, period, usage_id, payer, project, center, unit_type, resource_type, job_id, job_name, attempt_id,
           unit_count, score_milli, evidence_id, is_correction, meter, book_version, currency,
           from_at AT TIME ZONE 'UTC', until_at AT TIME ZONE 'UTC', quantity_nano, unit_price_micros, list_micros,
           billed_micros
    FROM charge
    WHERE (seq, line) > ($1::bigint, $2::integer) AND seq <= $3 AND ($4 = '' OR project = $4)
      AND ($5 = '' OR center = $5) AND ($6 = '' OR period = ($6 || '-01')::date)
      AND ($7 = '' OR until_at >= nullif($7, '')::timestamptz) AND ($8 = '' OR until_at < nullif($8, '')::timestamptz)
    ORDER BY seq, line LIMIT $9)sql";

constexpr const char* kSelectFirstSeq = R"sql(
    SELECT coalesce(min(seq), 0) - 1 FROM ledger_entry
    WHERE period >= CASE WHEN $1 <> '' THEN ($1 || '-01')::date
                         WHEN $2 <> '' THEN date_trunc('month', nullif($2, '')::timestamptz, 'UTC')::date
                         ELSE '-infinity'::date END)sql";

std::string_view text_of(const pqxx::field& field)
{
    return {field.c_str(), field.size()};
}

std::int64_t number_of(const pqxx::field& field)
{
    return parse_number<std::int64_t>(text_of(field)).value_or(0);
}

ChargeRow to_row(const pqxx::row& row)
{
    // By place: names would be looked up for each of a million rows.
    return {.seq = number_of(row[0]),
            .line = number_of(row[1]),
            .period = text_of(row[2]),
            .usage_id = number_of(row[3]),
            .payer = text_of(row[4]),
            .project = text_of(row[5]),
            .center = text_of(row[6]),
            .unit_type = text_of(row[7]),
            .resource_type = text_of(row[8]),
            .job_id = text_of(row[9]),
            .job_name = text_of(row[10]),
            .attempt_id = text_of(row[11]),
            .unit_count = number_of(row[12]),
            .score_milli = number_of(row[13]),
            .evidence_id = text_of(row[14]),
            .is_correction = *row[15].c_str() == 't',
            .meter = parse_meter(text_of(row[16])).value_or(Meter::kScoreHours),
            .book_version = number_of(row[17]),
            .currency = text_of(row[18]),
            .from = text_of(row[19]),
            .until = text_of(row[20]),
            .quantity_nano = number_of(row[21]),
            .unit_price_micros = number_of(row[22]),
            .list_micros = number_of(row[23]),
            .billed_micros = number_of(row[24])};
}

} // namespace

ChargePage select_charges(pqxx::work& transaction, const ChargeFilter& filter, ChargePosition after, std::int64_t most)
{
    ChargePage page;
    page.result = transaction.exec_params(kSelectCharges, after.seq, after.line, filter.last_seq, filter.project,
                                          filter.center, filter.period, filter.from, filter.until, most);
    page.rows.reserve(page.result.size());
    for (const pqxx::row& row : page.result)
        page.rows.push_back(to_row(row));
    return page;
}

std::int64_t select_first_seq(pqxx::work& transaction, const ChargeFilter& filter)
{
    return transaction.exec_params1(kSelectFirstSeq, filter.period, filter.from)[0].as<std::int64_t>();
}

} // namespace fathom::server
