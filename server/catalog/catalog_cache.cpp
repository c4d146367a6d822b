#include "server/catalog/catalog_cache.hpp"

#include "core/base/log.hpp"
#include "server/catalog/catalog_gpu_pairs.hpp"
#include "server/catalog/catalog_networks.hpp"
#include "server/catalog/catalog_prices.hpp"
#include "server/catalog/catalog_scores.hpp"
#include "server/catalog/catalog_store.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// Changes come in groups (an agent connects, a probe stores ten measurements): they are read once.
constexpr auto kDebounce = 20ms;
/// Runs end in groups, too, and none teaches more than half a second later.
constexpr auto kRunsDebounce = 200ms;
/// A wake-up can be lost with its connection.
constexpr auto kReadAtLeastEvery = 30s;
/// Networks are measured over weeks, their transfers are many: counting them may take a twentieth of the time at most.
constexpr int kNetworksShare = 20;
/// Refusals read the catalog to make sure: who is refused in a loop must not keep the database busy.
constexpr int kRefreshesShare = 5;
/// Likewise: quotas need scores of many unit types, but not those of this second.
constexpr int kScoresShare = 20;

void assign_trust(CatalogSnapshot& catalog, const std::map<std::string, Trust>& trust)
{
    constexpr double kMinTrust = 0.01; // what is not trusted at all is a last resort, not an infinity
    for (UnitTypeView& view : catalog.unit_types) {
        const auto judged = trust.find(view.id.value);
        if (judged != trust.end()) view.trust_factor = std::max(judged->second.factor, kMinTrust);
    }
}

} // namespace

CatalogCache::CatalogCache(Database& database, const asio::any_io_executor& executor, Metrics& metrics,
                           NetworkCalendar calendar, TrustSource trust, PolicySource policy)
    : database_(&database), metrics_(&metrics), calendar_(calendar), trust_(std::move(trust)),
      policy_(std::move(policy)), wake_(executor), runs_wake_(executor), current_(std::make_shared<CatalogSnapshot>()),
      refreshes_(database, executor, "catalog_refreshes", metrics,
                 [this](pqxx::work& transaction, const std::vector<Refresh>& all) {
                     return read_for(transaction, all.size());
                 })
{
}

void CatalogCache::subscribe(Notifier& notifier)
{
    notifier.subscribe("catalog", [this](const std::string&) { wake_.wake(); });
    // Whoever ends an attempt frees units.
    notifier.subscribe("route", [this](const std::string& payload) {
        if (payload != "submitted") runs_wake_.wake();
    });
}

Result<void> CatalogCache::load()
{
    auto read = [this](pqxx::work& transaction) -> Result<void> {
        reload(transaction);
        return {};
    };
    return database_->blocking_run(read);
}

void CatalogCache::start(net::TaskGroup& group)
{
    group.keep_running(wake_.executor(), "follow_catalog", [this] { return follow_changes(); });
    group.keep_running(runs_wake_.executor(), "follow_runs", [this] { return follow_runs(); });
}

CatalogPointer CatalogCache::get() const
{
    const std::scoped_lock lock(mutex_);
    return current_;
}

RouteKnowledge CatalogCache::knowledge_for(const CatalogSnapshot& catalog) const
{
    RouteKnowledge known = history_.newest_runs();
    known.estimates = catalog.knowledge.estimates;
    return known;
}

asio::awaitable<Result<CatalogPointer>> CatalogCache::refresh()
{
    std::uint64_t asked_at = 0;
    std::chrono::steady_clock::time_point due;
    {
        const std::scoped_lock lock(mutex_);
        asked_at = started_reads_;
        due = refresh_due_;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
    if (left.count() > 0) {
        co_await net::TaskGroup::sleep(left);
        const std::scoped_lock lock(mutex_);
        if (current_read_ > asked_at) co_return current_; // somebody read it meanwhile
    }
    co_return co_await refreshes_.add(Refresh());
}

Result<std::vector<CatalogPointer>> CatalogCache::read_for(pqxx::work& transaction, std::size_t count)
{
    const auto began = std::chrono::steady_clock::now();
    const CatalogPointer fresh = reload(transaction);
    const auto ended = std::chrono::steady_clock::now();
    const std::scoped_lock lock(mutex_);
    refresh_due_ = ended + (kRefreshesShare - 1) * (ended - began);
    return std::vector<CatalogPointer>(count, fresh);
}

asio::awaitable<Result<CatalogPointer>> CatalogCache::read_now()
{
    auto read = [this](pqxx::work& transaction) -> Result<CatalogPointer> { return reload(transaction); };
    co_return co_await database_->run(read);
}

CatalogPointer CatalogCache::reload(pqxx::work& transaction)
{
    std::uint64_t number = 0;
    {
        const std::scoped_lock lock(mutex_);
        number = ++started_reads_;
    }
    const CatalogPointer previous = get();
    CatalogSnapshot read = select_catalog(transaction, *previous);
    read_networks(transaction, read, *previous);
    read.projects = select_project_rules(transaction);
    read.project_members = select_project_members(transaction);
    read.calendar = select_calendar(transaction);
    read.gpu_threshold = gpu_threshold_;
    read_scores(transaction, read, *previous);
    assign_prices(read, previous->prices);
    read.spent_projects = select_spent_projects(transaction, read.prices);
    read.knowledge = history_.read(transaction, read, previous->knowledge);
    read.gpu_pairs = select_gpu_pairs(transaction, previous->gpu_pairs);
    read.gpu_needs = select_gpu_needs(transaction, previous->gpu_needs);
    read.turn_pairs = select_turn_pairs(transaction, previous->turn_pairs);
    if (trust_) assign_trust(read, trust_(transaction));
    const auto fresh = std::make_shared<const CatalogSnapshot>(std::move(read));
    metrics_->count("fathom_catalog_reads_total", "Times the catalog snapshot was read.");
    metrics_->set("fathom_catalog_unit_types", "Active unit types in the snapshot.",
                  static_cast<double>(fresh->unit_types.size()));
    const std::scoped_lock lock(mutex_);
    if (number > current_read_) {
        current_read_ = number;
        current_ = fresh;
    }
    return fresh;
}

void CatalogCache::read_networks(pqxx::work& transaction, CatalogSnapshot& catalog, const CatalogSnapshot& previous)
{
    const auto began = std::chrono::steady_clock::now();
    bool is_due = false;
    {
        const std::scoped_lock lock(mutex_);
        is_due = began >= networks_due_;
    }
    catalog.networks = is_due ? select_networks(transaction, previous.networks, calendar_) : previous.networks;
    catalog.nodes = is_due ? select_nodes(transaction, catalog, previous.nodes) : previous.nodes;
    assign_networks(catalog);
    assign_nodes(catalog);
    if (!is_due) return;
    const auto ended = std::chrono::steady_clock::now();
    const std::scoped_lock lock(mutex_);
    networks_due_ = ended + kNetworksShare * (ended - began);
}

void CatalogCache::read_scores(pqxx::work& transaction, CatalogSnapshot& catalog, const CatalogSnapshot& previous)
{
    keep_scores(catalog, previous);
    const auto began = std::chrono::steady_clock::now();
    {
        const std::scoped_lock lock(mutex_);
        if (!policy_ || began < scores_due_) return;
    }
    if (const std::optional<MetricPolicy> policy = policy_(transaction)) assign_scores(catalog, *policy);
    const auto ended = std::chrono::steady_clock::now();
    const std::scoped_lock lock(mutex_);
    scores_due_ = ended + kScoresShare * (ended - began);
}

void CatalogCache::read_new_runs(pqxx::work& transaction)
{
    history_.read_runs_only(transaction);
}

asio::awaitable<void> CatalogCache::follow_runs()
{
    auto read = [this](pqxx::work& transaction) -> Result<void> {
        read_new_runs(transaction);
        return {};
    };
    for (;;) {
        co_await runs_wake_.wait(kReadAtLeastEvery);
        const auto due = history_.runs_due() - std::chrono::steady_clock::now();
        co_await net::TaskGroup::sleep(std::max(kRunsDebounce, std::chrono::ceil<std::chrono::milliseconds>(due)));
        const Result<void> done = co_await database_->run(read);
        if (!done) log_warning("runs_not_read", {{"error", describe(done.error())}});
    }
}

asio::awaitable<void> CatalogCache::follow_changes()
{
    for (;;) {
        // A price book comes into force by itself, at its moment.
        const std::chrono::milliseconds pause = get()->prices.next_change.value_or(kReadAtLeastEvery);
        const bool woken =
            co_await wake_.wait(std::clamp<std::chrono::milliseconds>(pause, kDebounce, kReadAtLeastEvery));
        if (woken) co_await net::TaskGroup::sleep(kDebounce);
        const Result<CatalogPointer> fresh = co_await read_now();
        if (!fresh) {
            log_warning("catalog_not_read", {{"error", describe(fresh.error())}});
            wake_.wake();
            co_await net::TaskGroup::sleep(1s);
        }
    }
}

} // namespace fathom::server
