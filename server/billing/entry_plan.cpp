#include "server/billing/entry_plan.hpp"

#include "core/base/log.hpp"

namespace fathom::server {
namespace {

PostedEntry plan_usage(const PostingBatch& batch, const UsageRecord& usage)
{
    PostedEntry posted;
    posted.usage = usage;
    LedgerEntry& entry = posted.entry;
    entry.source = "usage/" + std::to_string(usage.id);
    entry.posted_at = batch.now;
    entry.detail = detail_of(usage);
    entry.period = open_period(usage.until, batch.closed_periods);
    const Usage rated = usage_of(usage);
    Result<std::vector<Charge>> charges = rate(rated, *batch.books);
    if (charges) {
        entry.charges = std::move(*charges);
        entry.postings = postings_of(rated, entry.charges);
    } else {
        entry.note = "not charged: " + charges.error().detail;
        log_error("usage_not_rated", {{"usage_id", usage.id}, {"error", describe(charges.error())}});
    }
    if (entry.period != period_of(usage.until)) {
        entry.kind = EntryKind::kCorrection;
        entry.note += (entry.note.empty() ? "" : "; ") + ("late: " + period_of(usage.until)) + " was closed";
    }
    return posted;
}

PostedEntry plan_reversal(const PostingBatch& batch, const PostedEntry& earlier, const UsageRecord& usage)
{
    PostedEntry posted;
    posted.usage = earlier.usage;
    LedgerEntry& entry = posted.entry;
    entry.kind = EntryKind::kReversal;
    entry.source = "reversal/" + std::to_string(earlier.entry.seq);
    entry.corrects = earlier.entry.seq;
    entry.posted_at = batch.now;
    entry.note = "replaced by usage " + std::to_string(usage.id);
    entry.detail = earlier.entry.detail;
    entry.charges = reversed(earlier.entry.charges);
    entry.postings = earlier.entry.postings;
    for (Posting& posting : entry.postings)
        posting.amount_micros = -posting.amount_micros;
    entry.period = batch.closed_periods.contains(earlier.entry.period)
                       ? open_period(*start_of_period(earlier.entry.period), batch.closed_periods)
                       : earlier.entry.period;
    return posted;
}

} // namespace

std::string detail_of(const UsageRecord& usage)
{
    const Json detail = {{"usage_id", usage.id},
                         {"source", usage.source},
                         {"revision", usage.revision},
                         {"kind", to_string(usage.kind)},
                         {"paid_by", to_string(usage.payer)},
                         {"project", usage.project},
                         {"job_id", usage.job_id},
                         {"center", usage.center},
                         {"unit_type", usage.unit_type},
                         {"unit_count", usage.unit_count},
                         {"score_milli", usage.score_milli},
                         {"score_evidence_id", usage.evidence_id},
                         {"bytes", usage.kind == UsageKind::kStorage ? usage.stored_bytes : usage.moved_bytes},
                         {"idle_unit_us", usage.idle_unit_us},
                         {"from", format_rfc3339(usage.from)},
                         {"until", format_rfc3339(usage.until)}};
    return detail.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string open_period(Timestamp until, const std::set<std::string>& closed)
{
    std::string period = period_of(until);
    while (closed.contains(period))
        period = next_period(period);
    return period;
}

void chain(PostedEntry& posted, LedgerHead& head)
{
    posted.entry.seq = head.seq + 1;
    posted.previous_sha256 = head.sha256;
    posted.sha256 = chain_hash(head.sha256, posted.entry);
    head.seq = posted.entry.seq;
    head.sha256 = posted.sha256;
}

std::vector<PostedEntry> plan_entries(const PostingBatch& batch)
{
    std::vector<PostedEntry> entries;
    entries.reserve(batch.usage.size());
    LedgerHead head = batch.head;
    // A correction of usage of the same batch finds what it corrects among the entries before it.
    std::map<std::string, std::size_t> by_source;
    for (const UsageRecord& usage : batch.usage) {
        std::optional<PostedEntry> earlier;
        if (const auto stored = batch.earlier.find(usage.id); stored != batch.earlier.end())
            earlier = stored->second;
        else if (const auto planned = by_source.find(usage.source); planned != by_source.end())
            earlier = entries[planned->second];
        PostedEntry posted = plan_usage(batch, usage);
        if (earlier) {
            entries.push_back(plan_reversal(batch, *earlier, usage));
            chain(entries.back(), head);
            posted.entry.kind = EntryKind::kCorrection;
            posted.entry.corrects = earlier->entry.seq;
        }
        chain(posted, head);
        by_source[usage.source] = entries.size();
        entries.push_back(std::move(posted));
    }
    return entries;
}

} // namespace fathom::server
