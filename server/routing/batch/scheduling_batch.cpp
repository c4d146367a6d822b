#include "server/routing/batch/scheduling_batch.hpp"

#include "server/routing/batch/batch_commit.hpp"

namespace fathom::server {
namespace {

/// The moment that a batch decides at: that of the cycle, whose ledger is made anew where the ledger does not serve.
Timestamp begin_moment(CycleLedger& ledger, const CatalogPointer& catalog, Timestamp now)
{
    if (ledger.serves(catalog, now)) return ledger.now;
    ledger.units.reset();
    return now;
}

BatchRequests make_requests(const BatchTools& tools)
{
    const Timestamp now = tools.clock->now();
    const CatalogPointer catalog = tools.cache->get();
    return {catalog, *tools.columns, begin_moment(*tools.ledger, catalog, now)};
}

} // namespace

SchedulingBatch::SchedulingBatch(const BatchTools& tools, std::shared_ptr<const UnitTypeLoads> loads)
    : tools_(tools), loads_(std::move(loads)), requests_(make_requests(tools_))
{
}

Result<void> SchedulingBatch::read(pqxx::work& transaction, CycleCursor state, std::int64_t limit)
{
    Result<ReadBatch> read = read_batch(transaction, tools_, requests_, loads_, std::move(state), limit);
    if (!read) return read.error();
    read_ = std::move(*read);
    return {};
}

Result<void> SchedulingBatch::plan()
{
    Result<DecidedBatch> decided = plan_batch(std::move(read_), tools_, requests_);
    if (!decided) return decided.error();
    decided_ = std::move(*decided);
    return {};
}

Result<BatchReport> SchedulingBatch::commit(pqxx::work& transaction) const
{
    return commit_batch(transaction, decided_.planned, tools_);
}

} // namespace fathom::server
