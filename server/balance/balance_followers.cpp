#include "server/balance/balance_followers.hpp"

#include <pqxx/pqxx>

#include <vector>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kPageSteps = 500;
/// Proxies drop connections that are silent for long.
constexpr auto kCommentEvery = 15s;

std::string frame_of(const BalanceStepRecord& step)
{
    return "id: " + std::to_string(step.number) + "\nevent: balance\ndata: " + to_json(step).dump() + "\n\n";
}

} // namespace

/// What one look found.
struct BalanceFollowers::News {
    bool is_gone = false;   ///< the unit, with its last step
    std::int64_t after = 0; ///< the number that the steps follow
    std::vector<BalanceStepRecord> steps;
};

Result<std::shared_ptr<const void>> BalanceFollowers::take_place()
{
    const auto show = [metrics = metrics_](std::int64_t count) {
        metrics->set("fathom_balance_followers", "Clients that watch a unit's balance loop.",
                     static_cast<double>(count));
    };
    const std::int64_t taken = count_->fetch_add(1) + 1;
    if (taken > pace_.most_followers) {
        count_->fetch_sub(1);
        return Error{Errc::kTooMany, "as many clients as this server takes watch balance loops already"};
    }
    show(taken);
    return std::shared_ptr<const void>(this, [count = count_, show](const void*) { show(count->fetch_sub(1) - 1); });
}

asio::awaitable<Result<BalancedUnitRow>> BalanceFollowers::find(BalancedUnitKey key)
{
    auto work = [&](pqxx::work& transaction) -> Result<BalancedUnitRow> {
        const std::optional<BalancedUnitRow> unit = find_balanced_unit(transaction, key);
        if (!unit) return Error{Errc::kNotFound, "the center has told of no such balanced unit"};
        return *unit;
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<BalanceFollowers::News>> BalanceFollowers::look(const Wanted* wanted, std::int64_t after)
{
    auto work = [wanted, after](pqxx::work& transaction) -> Result<News> {
        News news;
        news.after = after;
        const std::optional<BalancedUnitRow> unit = find_balanced_unit(transaction, wanted->key);
        news.is_gone = !unit;
        if (!unit || unit->last_number == after) return news;
        if (unit->last_number < after) news.after = 0; // it went with its steps, and has come again
        news.steps = select_balance_steps(transaction, unit->id, news.after, kPageSteps, wanted->scope);
        return news;
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<void> BalanceFollowers::stream(Wanted wanted, std::shared_ptr<const void> place,
                                               std::shared_ptr<net::BodyWriter> writer)
{
    // Held to the end: it is the follower's place.
    const std::shared_ptr<const void> held = std::move(place);
    Result<void> alive = co_await writer->write("retry: 1000\n\n");
    std::int64_t after = wanted.after.value_or(0);
    auto last_write = std::chrono::steady_clock::now();
    while (alive) {
        Result<News> news = co_await look(&wanted, after);
        if (!news || news->is_gone) co_return; // it may come again, and go on where it was
        after = news->after;
        std::string text;
        for (const BalanceStepRecord& step : news->steps) {
            text += frame_of(step);
            after = step.number;
        }
        const auto now = std::chrono::steady_clock::now();
        if (text.empty() && now - last_write > kCommentEvery) text = ": alive\n\n";
        if (!text.empty()) {
            last_write = now;
            alive = co_await writer->write(std::move(text));
        }
        const bool is_full = news->steps.size() == static_cast<std::size_t>(kPageSteps);
        if (alive && !is_full) alive = co_await writer->sleep(pace_.look);
    }
}

} // namespace fathom::server
