#include "server/routing/cycles/cycle_recorder.hpp"

#include "core/base/log.hpp"
#include "core/base/secret.hpp"
#include "core/schedule/catalog_document.hpp"
#include "core/schedule/unit_types_document.hpp"
#include "server/routing/cycles/deflated.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// Cycles that wait to be written: each may hold megabytes.
constexpr std::size_t kMaxWaiting = 8;
/// Longer than an order takes to its center: what was decided is carried out before it is kept.
constexpr auto kPause = 25ms;
/// A part that is in use is noted as such at least so often (cycle_store).
constexpr auto kTouchEvery = 10min;
/// Of new parts so many bytes, before they are compressed, go into one transaction.
constexpr std::size_t kMaxPartBytes = std::size_t{16} << 20U;

constexpr const char* kCycles = "fathom_cycles_total";
constexpr const char* kCyclesHelp = "Scheduling cycles that could be kept to be decided again, by result.";

} // namespace

std::vector<std::string> listed_hashes(const std::string& list)
{
    std::vector<std::string> hashes;
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t end = std::min(list.find('\n', begin), list.size());
        hashes.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return hashes;
}

CycleRecorder::CycleRecorder(Database& database, const asio::any_io_executor& executor, Metrics& metrics,
                             std::string replica)
    : database_(&database), replica_(std::move(replica)), wake_(executor),
      kept_(metrics.counter(kCycles, kCyclesHelp, {{"result", "kept"}})),
      left_out_(metrics.counter(kCycles, kCyclesHelp, {{"result", "left_out"}})),
      bytes_(metrics.counter("fathom_cycle_bytes_total", "What cycles were kept in, compressed, without catalogs.")),
      seconds_(metrics.seconds_histogram("fathom_cycle_write_seconds", "Time to keep one cycle."))
{
}

void CycleRecorder::add(DecidedCycle cycle)
{
    {
        const std::scoped_lock lock(mutex_);
        if (waiting_.size() == kMaxWaiting) {
            left_out_.add();
            return;
        }
        waiting_.push_back(std::make_shared<DecidedCycle>(std::move(cycle)));
    }
    wake_.wake();
}

void CycleRecorder::start(net::TaskGroup& group)
{
    group.keep_running(wake_.executor(), "keep_cycles", [this] { return follow(); });
}

asio::awaitable<void> CycleRecorder::follow()
{
    for (;;) {
        co_await wake_.wait(60s);
        if (!is_half_full()) co_await net::TaskGroup::sleep(kPause);
        const Result<void> written = co_await write_all();
        if (!written) log_warning("cycles_not_kept", {{"error", describe(written.error())}});
    }
}

bool CycleRecorder::is_half_full()
{
    const std::scoped_lock lock(mutex_);
    return waiting_.size() >= kMaxWaiting / 2;
}

std::shared_ptr<DecidedCycle> CycleRecorder::next()
{
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return nullptr;
    std::shared_ptr<DecidedCycle> cycle = std::move(waiting_.front());
    waiting_.pop_front();
    return cycle;
}

asio::awaitable<Result<void>> CycleRecorder::write_all()
{
    for (;;) {
        const std::shared_ptr<DecidedCycle> cycle = next();
        if (cycle == nullptr) co_return Result<void>();
        const auto began = std::chrono::steady_clock::now();
        const Result<void> written = co_await write(*cycle);
        seconds_.observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
        (written ? kept_ : left_out_).add();
        if (!written) co_return written;
    }
}

asio::awaitable<Result<void>> CycleRecorder::write(const DecidedCycle& cycle)
{
    const Result<std::string> root = co_await keep_catalog(cycle);
    if (!root) co_return root.error();
    auto pack = [&]() -> Result<StoredCycle> {
        StoredCycle stored;
        stored.id = cycle.id.value;
        stored.decided_at = cycle.moment.now;
        stored.decided_by = replica_;
        stored.job_count = std::ssize(cycle.moment.input.jobs);
        stored.start_count =
            std::count_if(cycle.plan.begin(), cycle.plan.end(), [](const PlannedJob& job) { return job.is_start; });
        stored.decision_s = cycle.decision_s;
        stored.currency = cycle.catalog->prices.currency();
        stored.catalog = *root;
        stored.input = deflated(write_cycle(cycle.moment));
        stored.plan = deflated(write_plan(cycle.plan));
        return stored;
    };
    const Result<StoredCycle> stored = co_await pool_.run(std::string(), std::move(pack));
    if (!stored) co_return stored.error();
    bytes_.add(static_cast<double>(stored->input.size() + stored->plan.size()));
    auto insert = [&](pqxx::work& transaction) -> Result<void> {
        insert_cycle(transaction, *stored);
        return {};
    };
    co_return co_await database_->run(std::move(insert));
}

CycleRecorder::Listed CycleRecorder::listed_parts(const DecidedCycle& cycle) const
{
    Listed listed;
    const auto note = [&](const std::string& part) { listed.hashes.push_back(sha256_hex(part)); };
    // Jobs that end teach new run times twice a second, while the unit types stay as they are for minutes.
    if (cycle.catalog == catalog_)
        listed.hashes = unit_type_hashes_;
    else
        write_unit_types(cycle.catalog->unit_types, note);
    listed.unit_types = listed.hashes.size();
    write_knowledge(cycle.knowledge, note);
    if (cycle.moment.input.loads == loads_)
        listed.hashes.push_back(loads_hash_);
    else
        write_loads(*cycle.moment.input.loads, note);
    for (const std::string& hash : listed.hashes)
        listed.list += hash + '\n';
    listed.root = sha256_hex(listed.list);
    return listed;
}

asio::awaitable<Result<std::string>> CycleRecorder::keep_catalog(const DecidedCycle& cycle)
{
    const auto now = std::chrono::steady_clock::now();
    const bool is_known = cycle.catalog == catalog_ && cycle.knowledge.runs == knowledge_.runs &&
                          cycle.knowledge.waits == knowledge_.waits && cycle.moment.input.loads == loads_;
    if (is_known && now < touch_due_) co_return root_;
    auto list = [&]() -> Result<Listed> { return listed_parts(cycle); };
    const Result<Listed> listed = co_await pool_.run(std::string(), std::move(list));
    if (!listed) co_return listed.error();
    // Most catalogs are read anew without a change.
    if (listed->root != root_ || now >= touch_due_) {
        std::vector<std::string> all = listed->hashes;
        all.push_back(listed->root);
        auto touch = [&](pqxx::work& transaction) -> Result<std::vector<std::string>> {
            return touch_parts(transaction, all);
        };
        const Result<std::vector<std::string>> missing = co_await database_->run(std::move(touch));
        if (!missing) co_return missing.error();
        const Result<void> written = co_await write_parts(cycle, *listed, *missing);
        if (!written) co_return written.error();
        touch_due_ = now + kTouchEvery;
    }
    catalog_ = cycle.catalog;
    unit_type_hashes_.assign(listed->hashes.begin(),
                             listed->hashes.begin() + static_cast<std::ptrdiff_t>(listed->unit_types));
    knowledge_ = cycle.knowledge;
    loads_ = cycle.moment.input.loads;
    loads_hash_ = listed->hashes.back();
    root_ = listed->root;
    co_return root_;
}

asio::awaitable<Result<void>> CycleRecorder::write_parts(const DecidedCycle& cycle, const Listed& listed,
                                                         std::vector<std::string> missing)
{
    std::set<std::string, std::less<>> left(missing.begin(), missing.end());
    while (!left.empty()) {
        auto pack = [&]() -> Result<std::vector<StoredPart>> {
            std::vector<StoredPart> parts;
            std::size_t bytes = 0;
            const auto take = [&](const std::string& hash, const std::string& part) {
                if (bytes >= kMaxPartBytes || left.erase(hash) == 0) return;
                bytes += part.size();
                parts.push_back({hash, deflated(part)});
            };
            std::size_t place = 0;
            const auto take_next = [&](const std::string& part) { take(listed.hashes[place++], part); };
            const auto behind = listed.hashes.begin() + static_cast<std::ptrdiff_t>(listed.unit_types);
            if (std::any_of(listed.hashes.begin(), behind, [&](const auto& hash) { return left.contains(hash); }))
                write_unit_types(cycle.catalog->unit_types, take_next);
            place = listed.unit_types;
            write_knowledge(cycle.knowledge, take_next);
            if (left.contains(listed.hashes.back())) write_loads(*cycle.moment.input.loads, take_next);
            take(listed.root, listed.list);
            return parts;
        };
        const Result<std::vector<StoredPart>> parts = co_await pool_.run(std::string(), std::move(pack));
        if (!parts) co_return parts.error();
        auto insert = [&](pqxx::work& transaction) -> Result<void> {
            insert_parts(transaction, *parts);
            return {};
        };
        const Result<void> written = co_await database_->run(std::move(insert));
        if (!written) co_return written;
    }
    co_return Result<void>();
}

} // namespace fathom::server
