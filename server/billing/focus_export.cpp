#include "server/billing/focus_export.hpp"

#include "server/billing/csv_text.hpp"

#include <array>

namespace fathom::server {
namespace {

constexpr std::string_view kHead =
    "BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,BillingPeriodEnd,BillingPeriodStart,"
    "CapacityReservationId,CapacityReservationStatus,ChargeCategory,ChargeClass,ChargeDescription,ChargeFrequency,"
    "ChargePeriodEnd,ChargePeriodStart,ConsumedQuantity,ConsumedUnit,ContractedCost,ContractedUnitPrice,EffectiveCost,"
    "InvoiceIssuerName,ListCost,ListUnitPrice,PricingCategory,PricingQuantity,PricingUnit,ProviderName,PublisherName,"
    "RegionId,RegionName,ResourceId,ResourceName,ResourceType,ServiceCategory,ServiceName,ServiceSubcategory,SkuId,"
    "SkuMeter,SkuPriceDetails,SkuPriceId,SubAccountId,SubAccountName,SubAccountType";
constexpr std::string_view kHeadOf13 = ",HostProviderName,ServiceProviderName";
constexpr std::string_view kOwnHead = ",x_AttemptId,x_LedgerEntry,x_LedgerLine,x_PaidBy,x_PriceBookVersion,x_Score,"
                                      "x_ScoreEvidenceId,x_UnitCount,x_UsageId\n";

/// How FOCUS names what a meter counts.
struct MeterWords {
    std::string_view unit;
    std::string_view name;
    std::string_view category;
    std::string_view service;
    std::string_view subcategory;
};

constexpr std::array<MeterWords, 6> kWords{
    {{"Score-Hours", "Measured compute", "Compute", "Fathom Compute", "Other (Compute)"},
     {"Unit-Hours", "Units held", "Compute", "Fathom Compute", "Other (Compute)"},
     {"GB", "Data moved", "Networking", "Fathom Data Transfer", "Other (Networking)"},
     {"GB-Hours", "Output stored", "Storage", "Fathom Output Storage", "Other (Storage)"},
     {"Unit-Hours", "Reserved units left idle", "Compute", "Fathom Compute", "Other (Compute)"},
     {"Charges", "Minimum charge of a run", "Compute", "Fathom Compute", "Other (Compute)"}}};

/// "2026-11-02 04:00:00.25" as 2026-11-02T04:00:00Z.
void append_second(std::string& out, std::string_view time)
{
    out += time.substr(0, 10);
    out += 'T';
    out += time.substr(11, 8);
    out += 'Z';
}

/// The month after "2026-11-01", as 2026-12-01T00:00:00Z.
void append_next_month(std::string& out, std::string_view period)
{
    if (period.substr(5, 2) == "12") {
        int year = 0;
        std::from_chars(period.data(), period.data() + 4, year);
        append_number(out, year + 1);
        out += "-01";
    } else {
        int month = 0;
        std::from_chars(period.data() + 5, period.data() + 7, month);
        out += period.substr(0, 5);
        if (month < 9) out += '0';
        append_number(out, month + 1);
    }
    out += "-01T00:00:00Z";
}

/// Ends are exclusive: within a second a period ends with it.
void append_end(std::string& out, const ChargeRow& row)
{
    const bool is_whole = row.until.size() <= 19;
    if (is_whole && row.from.substr(0, 19) != row.until) return append_second(out, row.until);
    const Timestamp until =
        parse_rfc3339(std::string(row.until.substr(0, 10)) + "T" + std::string(row.until.substr(11, 8)) + "Z").value();
    out += format_rfc3339(until + std::chrono::seconds(1)).substr(0, 19);
    out += 'Z';
}

/// What a unit cost after the discount.
void append_contracted_price(std::string& out, const ChargeRow& row)
{
    constexpr int kMoreDecimals = 3;
    if (row.list_micros == row.billed_micros || row.list_micros == 0)
        return append_decimal(out, row.unit_price_micros, 6);
    __extension__ using Wide = __int128;
    const Wide nano = static_cast<Wide>(row.unit_price_micros) * 1000 * row.billed_micros / row.list_micros;
    append_decimal(out, static_cast<std::int64_t>(nano), 6 + kMoreDecimals);
}

void append_description(std::string& out, const ChargeRow& row, const MeterWords& words)
{
    std::string text(words.name);
    if (!row.center.empty()) {
        text += ": ";
        append_number(text, row.unit_count);
        text += " x ";
        text += row.center;
        text += '/';
        text += row.unit_type;
    }
    append_csv(out, text);
}

/// What is charged, where: score_hours/alpha/core.
std::string sku_of(const ChargeRow& row)
{
    std::string sku(to_string(row.meter));
    if (row.center.empty()) return sku;
    sku += '/';
    sku += row.center;
    sku += '/';
    sku += row.unit_type;
    return sku;
}

/// Writes the columns of one row in the order of the head, a group of them a function.
class FocusRow {
  public:
    FocusRow(std::string& out, const ChargeRow& row, const FocusOptions& options)
        : out_(&out), row_(&row), options_(&options), words_(&kWords.at(static_cast<std::size_t>(row.meter)))
    {
    }

    void append()
    {
        add_billing();
        add_charge();
        add_prices();
        add_provider();
        add_resource();
        add_sku();
        add_account();
        add_own();
    }

  private:
    // Each writes one column, with the comma before it.
    void text(std::string_view value)
    {
        *out_ += ',';
        append_csv_name(*out_, value);
    }
    void plain(std::string_view value)
    {
        *out_ += ',';
        *out_ += value;
    }
    void number(std::int64_t value)
    {
        *out_ += ',';
        append_number(*out_, value);
    }
    void decimal(std::int64_t value, int decimals)
    {
        *out_ += ',';
        append_decimal(*out_, value, decimals);
    }

    /// BilledCost … CapacityReservationStatus
    void add_billing()
    {
        append_decimal(*out_, row_->billed_micros, 6);
        plain("network");
        text(options_->network);
        plain(row_->currency);
        plain("");
        append_next_month(*out_, row_->period);
        plain(row_->period);
        *out_ += "T00:00:00Z";
        if (row_->meter == Meter::kIdleReservedUnitHours) {
            plain("usage/");
            append_number(*out_, row_->usage_id);
            plain("Unused");
        } else {
            *out_ += ",,";
        }
    }

    /// ChargeCategory … ChargePeriodStart
    void add_charge()
    {
        plain("Usage");
        const bool was_closed = row_->is_correction && row_->until.substr(0, 7) != row_->period.substr(0, 7);
        plain(was_closed ? "Correction" : "");
        *out_ += ',';
        append_description(*out_, *row_, *words_);
        plain("Usage-Based");
        *out_ += ',';
        append_end(*out_, *row_);
        *out_ += ',';
        append_second(*out_, row_->from);
    }

    /// ConsumedQuantity … PricingUnit
    void add_prices()
    {
        decimal(row_->quantity_nano, 9);
        plain(words_->unit);
        decimal(row_->billed_micros, 6);
        *out_ += ',';
        append_contracted_price(*out_, *row_);
        decimal(row_->billed_micros, 6);
        text(options_->network);
        decimal(row_->list_micros, 6);
        decimal(row_->unit_price_micros, 6);
        plain("Standard");
        decimal(row_->quantity_nano, 9);
        plain(words_->unit);
    }

    /// ProviderName … RegionName
    void add_provider()
    {
        text(options_->network);
        text(host());
        text(row_->center);
        text(row_->center);
    }

    /// ResourceId … ServiceSubcategory
    void add_resource()
    {
        plain(row_->job_id);
        text(row_->job_name);
        plain(row_->job_id.empty() ? "" : "Job");
        plain(words_->category);
        plain(words_->service);
        text(words_->subcategory);
    }

    /// SkuId … SkuPriceId
    void add_sku()
    {
        const std::string sku = sku_of(*row_);
        text(sku);
        plain(words_->name);
        std::string details = "{\"x_ResourceType\":";
        append_json(details, row_->resource_type);
        text(details + '}');
        std::string price_id = "book-";
        append_number(price_id, row_->book_version);
        text(price_id + '/' + sku);
    }

    /// SubAccountId … SubAccountType, and what 1.3 adds. What the operator pays itself is no project's.
    void add_account()
    {
        const std::string_view project = row_->payer == "project" ? row_->project : std::string_view();
        text(project);
        text(project);
        plain(project.empty() ? "" : "Project");
        if (options_->version == FocusVersion::k1_2) return;
        text(host());
        text(options_->network);
    }

    /// x_…
    void add_own()
    {
        plain(row_->attempt_id);
        number(row_->seq);
        number(row_->line);
        plain(row_->payer);
        number(row_->book_version);
        if (row_->score_milli > 0)
            decimal(row_->score_milli, 3);
        else
            plain("");
        plain(row_->evidence_id);
        number(row_->unit_count);
        number(row_->usage_id);
        *out_ += '\n';
    }

    std::string_view host() const { return row_->center.empty() ? std::string_view(options_->network) : row_->center; }

    std::string* out_;
    const ChargeRow* row_;
    const FocusOptions* options_;
    const MeterWords* words_;
};

/// "2026-11-30 10:00:00" as JSON has times.
void append_time(std::string& out, std::string_view name, std::string_view value)
{
    out += name;
    out += value.substr(0, 10);
    out += 'T';
    out += value.substr(11);
    out += "Z\"";
}

} // namespace

std::string focus_head(const FocusOptions& options)
{
    std::string head(kHead);
    if (options.version == FocusVersion::k1_3) head += kHeadOf13;
    head += kOwnHead;
    return head;
}

void append_focus_row(std::string& out, const ChargeRow& row, const FocusOptions& options)
{
    FocusRow(out, row, options).append();
}

void append_json_line(std::string& out, const ChargeRow& row)
{
    const auto number = [&out](std::string_view name, std::int64_t value) {
        out += name;
        append_number(out, value);
    };
    const auto text = [&out](std::string_view name, std::string_view value) {
        out += name;
        append_json(out, value);
    };
    const auto decimal = [&out](std::string_view name, std::int64_t value, int decimals) {
        out += name;
        append_decimal(out, value, decimals);
        out += '"';
    };
    number("{\"entry\":", row.seq);
    number(",\"line\":", row.line);
    text(",\"period\":", row.period.substr(0, 7));
    number(",\"usage_id\":", row.usage_id);
    text(",\"paid_by\":", row.payer);
    text(",\"project\":", row.project);
    text(",\"center\":", row.center);
    text(",\"unit_type\":", row.unit_type);
    text(",\"job_id\":", row.job_id);
    text(",\"attempt_id\":", row.attempt_id);
    number(",\"unit_count\":", row.unit_count);
    out += ",\"score\":";
    append_decimal(out, row.score_milli, 3);
    text(",\"score_evidence_id\":", row.evidence_id);
    out += row.is_correction ? ",\"is_correction\":true" : ",\"is_correction\":false";
    text(",\"meter\":", to_string(row.meter));
    number(",\"price_book_version\":", row.book_version);
    text(",\"currency\":", row.currency);
    append_time(out, ",\"from\":\"", row.from);
    append_time(out, ",\"until\":\"", row.until);
    decimal(",\"quantity\":\"", row.quantity_nano, 9);
    decimal(",\"unit_price\":\"", row.unit_price_micros, 6);
    decimal(",\"list_cost\":\"", row.list_micros, 6);
    decimal(",\"billed_cost\":\"", row.billed_micros, 6);
    out += "}\n";
}

} // namespace fathom::server
