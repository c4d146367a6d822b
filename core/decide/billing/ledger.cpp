#include "core/decide/billing/ledger.hpp"

#include "core/base/clock.hpp"
#include "core/base/secret.hpp"
#include "core/decide/billing/rate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::array<std::string_view, 4> kEntryKindNames{"usage", "reversal", "correction", "close"};
constexpr std::string_view kNetworkAccount = "network";

void add_field(std::string& out, std::string_view text)
{
    out += '\t';
    for (const char c : text) {
        if (c == '\t' || c == '\n' || c == '\\') out += '\\';
        out += c == '\t' ? 't' : c == '\n' ? 'n' : c;
    }
}

void add_field(std::string& out, std::int64_t number)
{
    out += '\t';
    out += std::to_string(number);
}

} // namespace

std::string_view to_string(EntryKind kind)
{
    return kEntryKindNames.at(static_cast<std::size_t>(kind));
}

std::optional<EntryKind> parse_entry_kind(std::string_view text)
{
    const auto found = std::find(kEntryKindNames.begin(), kEntryKindNames.end(), text);
    if (found == kEntryKindNames.end()) return std::nullopt;
    return static_cast<EntryKind>(found - kEntryKindNames.begin());
}

std::vector<Posting> postings_of(const Usage& usage, std::span<const Charge> charges)
{
    std::map<std::pair<std::string, std::string>, std::int64_t> sums;
    const std::string network(kNetworkAccount);
    const std::string payer = usage.payer == Payer::kProject ? "project:" + std::string(usage.project) : network;
    const std::string earner = usage.center.empty() ? network : "center:" + std::string(usage.center);
    for (const Charge& charge : charges) {
        sums[{payer, charge.currency}] += charge.billed_micros;
        sums[{network, charge.currency}] += charge.list_micros - charge.billed_micros;
        sums[{earner, charge.currency}] -= charge.list_micros;
    }
    std::vector<Posting> postings;
    for (const auto& [place, amount] : sums)
        if (amount != 0) postings.push_back({place.first, place.second, amount});
    return postings;
}

std::string ledger_text(const LedgerEntry& entry)
{
    std::string out = "entry";
    add_field(out, entry.seq);
    add_field(out, entry.period);
    add_field(out, to_string(entry.kind));
    add_field(out, entry.source);
    add_field(out, entry.corrects);
    add_field(out, format_rfc3339(entry.posted_at));
    add_field(out, entry.note);
    add_field(out, entry.detail);
    out += '\n';
    for (const Charge& charge : entry.charges) {
        out += "charge";
        add_field(out, to_string(charge.meter));
        add_field(out, charge.book_version);
        add_field(out, charge.currency);
        add_field(out, format_rfc3339(charge.from));
        add_field(out, format_rfc3339(charge.until));
        add_field(out, charge.quantity_nano);
        add_field(out, charge.unit_price_micros);
        add_field(out, charge.list_micros);
        add_field(out, charge.billed_micros);
        out += '\n';
    }
    for (const Posting& posting : entry.postings) {
        out += "posting";
        add_field(out, posting.account);
        add_field(out, posting.currency);
        add_field(out, posting.amount_micros);
        out += '\n';
    }
    return out;
}

std::string chain_hash(std::string_view previous_hash, const LedgerEntry& entry)
{
    return sha256_hex(std::string(previous_hash) + '\n' + ledger_text(entry));
}

bool is_balanced(std::span<const Posting> postings)
{
    std::map<std::string_view, std::int64_t> sums;
    for (const Posting& posting : postings)
        sums[posting.currency] += posting.amount_micros;
    return std::all_of(sums.begin(), sums.end(), [](const auto& sum) { return sum.second == 0; });
}

} // namespace fathom
