#include "core/model/money.hpp"
#include "server/billing/entry_plan.hpp"
#include "server/billing/ledger_service.hpp"

#include <pqxx/pqxx>

#include <memory>

namespace fathom::server {
namespace {

constexpr std::int64_t kEntriesOfPage = 2000;
constexpr std::size_t kMaxFaults = 100;

/// A page of the ledger with the usage that it posts.
struct LedgerPage {
    std::vector<PostedEntry> entries;
    std::map<std::int64_t, UsageRecord> usage;
};

/// Follows the chain from its first entry on.
class LedgerReader {
  public:
    explicit LedgerReader(RateBooksPointer books) : books_(std::move(books)) {}

    void add(const LedgerPage& page)
    {
        for (const PostedEntry& posted : page.entries) {
            add_chain(posted);
            const auto usage = page.usage.find(posted.usage.id);
            if (usage != page.usage.end()) add_usage(posted, usage->second);
        }
    }
    void add_fault(std::string fault)
    {
        if (check.faults.size() < kMaxFaults) check.faults.push_back(std::move(fault));
    }

    LedgerCheck check;
    std::int64_t last_seq = 0;
    std::string last_hash = kFirstHash;

  private:
    void add_chain(const PostedEntry& posted)
    {
        const LedgerEntry& entry = posted.entry;
        const std::string name = "entry " + std::to_string(entry.seq);
        if (entry.seq != last_seq + 1) add_fault(name + " follows entry " + std::to_string(last_seq));
        if (posted.previous_sha256 != last_hash) add_fault(name + " is not chained to the one before it");
        if (posted.sha256 != chain_hash(posted.previous_sha256, entry)) add_fault(name + " has been changed");
        if (!is_balanced(entry.postings)) add_fault(name + " does not balance");
        check.charges += static_cast<std::int64_t>(entry.charges.size());
        ++check.entries;
        last_seq = entry.seq;
        last_hash = posted.sha256;
    }

    void add_usage(const PostedEntry& posted, const UsageRecord& record)
    {
        const LedgerEntry& entry = posted.entry;
        const std::string name = "entry " + std::to_string(entry.seq);
        if (entry.detail != detail_of(record)) add_fault(name + " is not of the usage that it names");
        const Usage usage = usage_of(record);
        if (entry.postings != postings_of(usage, entry.charges))
            add_fault(name + " has other postings than its charges make");
        const Result<std::vector<Charge>> rated = rate(usage, *books_);
        const std::vector<Charge> expected = rated ? *rated : std::vector<Charge>();
        if (entry.charges != (entry.kind == EntryKind::kReversal ? reversed(expected) : expected))
            add_fault(name + " has other charges than its usage rates to");
    }

    RateBooksPointer books_;
};

LedgerPage read_page(pqxx::work& transaction, std::int64_t after_seq)
{
    LedgerPage page;
    page.entries = select_entries(transaction, after_seq, kEntriesOfPage);
    std::vector<std::int64_t> ids;
    for (const PostedEntry& posted : page.entries)
        if (posted.usage.id > 0) ids.push_back(posted.usage.id);
    for (UsageRecord& record : select_usage_of(transaction, ids)) {
        const std::int64_t id = record.id;
        page.usage.emplace(id, std::move(record));
    }
    return page;
}

} // namespace

asio::awaitable<Result<LedgerCheck>> LedgerService::verify(std::string token_id)
{
    auto begin = [this](pqxx::work& transaction) -> Result<std::shared_ptr<LedgerReader>> {
        return std::make_shared<LedgerReader>(books_.get(transaction));
    };
    const Result<std::shared_ptr<LedgerReader>> reader = co_await database_->run(std::move(begin));
    if (!reader) co_return reader.error();
    for (;;) {
        auto read = [after = (*reader)->last_seq](pqxx::work& transaction) -> Result<std::shared_ptr<LedgerPage>> {
            return std::make_shared<LedgerPage>(read_page(transaction, after));
        };
        const Result<std::shared_ptr<LedgerPage>> page = co_await database_->run(std::move(read));
        if (!page) co_return page.error();
        if ((*page)->entries.empty()) break;
        auto look = [reader = *reader, page = *page]() -> Result<void> {
            reader->add(*page);
            return {};
        };
        const Result<void> looked = co_await compute_->run(token_id, std::move(look));
        if (!looked) co_return looked.error();
    }
    auto finish = [reader = *reader](pqxx::work& transaction) -> Result<LedgerCheck> {
        for (std::string& fault : find_usage_faults(transaction))
            reader->add_fault(std::move(fault));
        const UsageCounts counts = count_usage(transaction);
        reader->check.usage_records = counts.all;
        reader->check.unrated = counts.unposted;
        reader->check.head_sha256 = reader->last_hash;
        return reader->check;
    };
    co_return co_await database_->run(std::move(finish));
}

Json to_json(const LedgerCheck& check)
{
    return {{"entries", check.entries},    {"charges", check.charges},         {"usage_records", check.usage_records},
            {"unrated", check.unrated},    {"head_sha256", check.head_sha256}, {"faults", check.faults},
            {"good", check.faults.empty()}};
}

} // namespace fathom::server
