#pragma once

#include "core/decide/billing/rate.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The ledger's entries: who owes whom for a usage, and the text that the chain of hashes is made of.
namespace fathom {

/// One side of an entry. Positive: the account owes so much more; negative: it is owed.
struct Posting {
    std::string account; ///< "project:NAME", "center:NAME" or "network"
    std::string currency;
    std::int64_t amount_micros = 0;

    bool operator==(const Posting&) const = default;
};

/// kUsage: as it was first known. kReversal undoes an earlier entry; kCorrection posts what is known now.
enum class EntryKind { kUsage, kReversal, kCorrection, kClose };
std::string_view to_string(EntryKind kind);
std::optional<EntryKind> parse_entry_kind(std::string_view text);

struct LedgerEntry {
    std::int64_t seq = 0; ///< from 1, without gaps
    std::string period;   ///< the month (UTC) it counts in: "2026-11"
    EntryKind kind = EntryKind::kUsage;
    std::string source;        ///< what it posts, once: "usage/17", "reversal/4", "close/2026-11"
    std::int64_t corrects = 0; ///< the entry that it corrects; 0: none
    Timestamp posted_at{};
    std::string note;   ///< why, for people
    std::string detail; ///< whose usage it was, as JSON text; of no consequence for amounts
    std::vector<Charge> charges;
    std::vector<Posting> postings;
};

/// Double entry: the project (or the network, for its probes) owes what is billed, the center is owed the list price,
/// the network bears the difference. What is kept by the network itself is owed to it. Sums to 0 in each currency; in
/// order of account and currency, without zeros.
std::vector<Posting> postings_of(const Usage& usage, std::span<const Charge> charges);

/// The text of an entry: one line for the entry, one for each charge and posting; fields apart by tabs, with tab, line
/// end and backslash in them escaped by a backslash. Part of the contract: whoever has the entries can compute the
/// chain.
std::string ledger_text(const LedgerEntry& entry);

/// SHA-256, in hex, of the previous entry's hash (64 zeros before the first), a line end, and the text.
std::string chain_hash(std::string_view previous_hash, const LedgerEntry& entry);
inline const std::string kFirstHash(64, '0');

/// True when the postings sum to 0 in each currency.
bool is_balanced(std::span<const Posting> postings);

} // namespace fathom
