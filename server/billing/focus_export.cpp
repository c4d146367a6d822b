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
    const MeterWords& words = kWords.at(static_cast<std::size_t>(row.meter));
    const bool is_reservation = row.meter == Meter::kIdleReservedUnitHours;
    // What the operator pays itself is not billed to a project.
    const std::string_view project = row.payer == "project" ? row.project : std::string_view();
    const auto comma = [&out] { out += ','; };
    append_decimal(out, row.billed_micros, 6); // BilledCost
    out += ",network,";
    append_csv(out, options.network);
    comma();
    out += row.currency;
    comma();
    append_next_month(out, row.period); // BillingPeriodEnd
    comma();
    out += row.period;
    out += "T00:00:00Z,";
    if (is_reservation) {
        out += "usage/"; // CapacityReservationId
        append_number(out, row.usage_id);
        out += ",Unused";
    } else {
        comma();
    }
    out += ",Usage,";
    if (row.is_correction && row.until.substr(0, 7) != row.period.substr(0, 7)) out += "Correction";
    comma();
    append_description(out, row, words);
    out += ",Usage-Based,";
    append_end(out, row);
    comma();
    append_second(out, row.from);
    comma();
    append_decimal(out, row.quantity_nano, 9); // ConsumedQuantity
    comma();
    out += words.unit;
    comma();
    append_decimal(out, row.billed_micros, 6); // ContractedCost
    comma();
    append_contracted_price(out, row);
    comma();
    append_decimal(out, row.billed_micros, 6); // EffectiveCost
    comma();
    append_csv(out, options.network); // InvoiceIssuerName
    comma();
    append_decimal(out, row.list_micros, 6); // ListCost
    comma();
    append_decimal(out, row.unit_price_micros, 6);
    out += ",Standard,";
    append_decimal(out, row.quantity_nano, 9); // PricingQuantity
    comma();
    out += words.unit;
    comma();
    append_csv(out, options.network); // ProviderName
    comma();
    append_csv(out, row.center.empty() ? std::string_view(options.network) : row.center); // PublisherName
    comma();
    append_csv(out, row.center); // RegionId
    comma();
    append_csv(out, row.center);
    comma();
    out += row.job_id; // ResourceId
    comma();
    append_csv(out, row.job_name);
    comma();
    if (!row.job_id.empty()) out += "Job";
    comma();
    out += words.category;
    comma();
    out += words.service;
    comma();
    append_csv(out, words.subcategory);
    comma();
    const std::string sku = sku_of(row);
    append_csv(out, sku);
    comma();
    out += words.name; // SkuMeter
    comma();
    std::string details = "{\"x_ResourceType\":";
    append_json(details, row.resource_type);
    details += '}';
    append_csv(out, details);
    comma();
    std::string price_id = "book-"; // SkuPriceId
    append_number(price_id, row.book_version);
    price_id += '/';
    price_id += sku;
    append_csv(out, price_id);
    comma();
    append_csv(out, project); // SubAccountId
    comma();
    append_csv(out, project);
    comma();
    if (!project.empty()) out += "Project";
    if (options.version == FocusVersion::k1_3) {
        comma();
        append_csv(out, row.center.empty() ? std::string_view(options.network) : row.center);
        comma();
        append_csv(out, options.network);
    }
    comma();
    out += row.attempt_id;
    comma();
    append_number(out, row.seq);
    comma();
    append_number(out, row.line);
    comma();
    out += row.payer;
    comma();
    append_number(out, row.book_version);
    comma();
    if (row.score_milli > 0) append_decimal(out, row.score_milli, 3);
    comma();
    out += row.evidence_id;
    comma();
    append_number(out, row.unit_count);
    comma();
    append_number(out, row.usage_id);
    out += '\n';
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
    const auto time = [&out](std::string_view name, std::string_view value) {
        out += name;
        out += value.substr(0, 10);
        out += 'T';
        out += value.substr(11);
        out += "Z\"";
    };
    time(",\"from\":\"", row.from);
    time(",\"until\":\"", row.until);
    decimal(",\"quantity\":\"", row.quantity_nano, 9);
    decimal(",\"unit_price\":\"", row.unit_price_micros, 6);
    decimal(",\"list_cost\":\"", row.list_micros, 6);
    decimal(",\"billed_cost\":\"", row.billed_micros, 6);
    out += "}\n";
}

} // namespace fathom::server
