#include "server/api/readiness.hpp"

#include "core/base/log_limit.hpp"

#include <pqxx/transaction>

namespace fathom::server {
namespace {

constexpr std::chrono::seconds kFresh{1};
constexpr std::chrono::seconds kLookTimeout{2}; // with a look that goes on

} // namespace

Readiness::Readiness(Database& database, std::function<std::string()> embedded_state, std::function<bool()> is_disk_low)
    : database_(&database), embedded_state_(std::move(embedded_state)), is_disk_low_(std::move(is_disk_low))
{
}

boost::asio::awaitable<Readiness::State> Readiness::get()
{
    const auto now = std::chrono::steady_clock::now();
    {
        const std::scoped_lock lock(mutex_);
        const bool is_fresh = known_since_ && now - *known_since_ < kFresh;
        const bool is_looked_up = looking_since_ && known_since_; // nothing is known at first: then all look
        if (is_fresh) co_return known_;
        if (is_looked_up && now - *looking_since_ < kLookTimeout) co_return known_;
        if (is_looked_up) co_return State{false, embedded_state_ ? std::optional(ask_embedded()) : std::nullopt};
        looking_since_ = now;
    }
    State state;
    state.database = co_await ask_database();
    if (embedded_state_) state.embedded = ask_embedded();
    if (is_disk_low_) state.is_disk_low = is_disk_low_();
    const std::scoped_lock lock(mutex_);
    known_ = state;
    known_since_ = std::chrono::steady_clock::now();
    looking_since_.reset();
    co_return state;
}

boost::asio::awaitable<bool> Readiness::ask_database()
{
    auto work = [](pqxx::work& transaction) -> Result<void> {
        transaction.exec("SELECT 1");
        return {};
    };
    const Result<void> answered = co_await database_->run(work, DatabaseLine::kVital);
    if (!answered) log_limited("not_ready", {{"check", "database"}, {"error", describe(answered.error())}});
    co_return answered.has_value();
}

bool Readiness::ask_embedded() const
{
    const std::string state = embedded_state_();
    if (state != "ok") log_limited("not_ready", {{"check", "embedded_postgres"}, {"error", state}});
    return state == "ok";
}

} // namespace fathom::server
