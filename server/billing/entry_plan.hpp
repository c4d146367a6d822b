#pragma once

#include "server/billing/ledger_store.hpp"
#include "server/billing/rate_books.hpp"

#include <span>

/// Entries for usage, without the database: what is read before, and what is written after, is in ledger_service.
namespace fathom::server {

/// Usage that is to be posted, and what must be known for it.
struct PostingBatch {
    LedgerHead head;
    std::vector<UsageRecord> usage;              ///< in order of id
    std::map<std::int64_t, PostedEntry> earlier; ///< by id of usage: the entry that it corrects
    RateBooksPointer books;
    std::set<std::string> closed_periods;
    Timestamp now{};
};

/// The entries of a batch, chained to its head: one for each usage, before it the reversal of what it corrects.
std::vector<PostedEntry> plan_entries(const PostingBatch& batch);

/// The month that an entry for this usage counts in: that of its end, or the first one after it that is open.
std::string open_period(Timestamp until, const std::set<std::string>& closed);

/// Sets the entry's place in the chain and its hash, and moves `head` on to it.
void chain(PostedEntry& posted, LedgerHead& head);

/// Whose usage an entry posts, as it stands in the entry's text.
std::string detail_of(const UsageRecord& usage);

} // namespace fathom::server
