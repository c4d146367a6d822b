#include "core/decide/queue/order_index.hpp"
#include "core/decide/queue/wait_queue.hpp"
#include "tests/core/decide/queue/slow_order.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>

// A wait queue over a stream of jobs, starts, ends and prices against the rule as it is written down in
// docs/routing.md
// ("Order under load"), worked out anew for each decision, pair by pair. All figures are small multiples of powers of
// two, so that both come to the same numbers, and equal ones are frequent.

namespace fathom {
namespace {

using test::SlowOrder;

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : generator_(seed) {}
    /// low … high, both included.
    std::int64_t roll(std::int64_t low, std::int64_t high)
    {
        return low + static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(high - low + 1));
    }
    double pick(std::initializer_list<double> values) { return values.begin()[roll(0, std::ssize(values) - 1)]; }

  private:
    std::mt19937_64 generator_;
};

struct Start {
    std::uint64_t key{};
    std::size_t option{};
    bool operator==(const Start&) const = default;
};

/// A small network in the course of time, told to a queue piece by piece.
class Stream {
  public:
    explicit Stream(std::uint64_t seed) : dice_(seed)
    {
        constexpr std::array kRules{OrderRule::kFirstCome, OrderRule::kShortestFirst, OrderRule::kAdvantage,
                                    OrderRule::kAdvantage, OrderRule::kAdvantage};
        settings_.rule = kRules[static_cast<std::size_t>(dice_.roll(0, std::ssize(kRules) - 1))];
        settings_.starvation_limit_s = 64;
        settings_.starvation_limit_factor = 4;
        // More types than a decision looks up one by one, and fewer.
        types_.resize(static_cast<std::size_t>(dice_.roll(1, 12)));
        std::vector<std::int64_t> counts;
        for (UnitTypeLoad& type : types_) {
            type.unit_count = type.free_units = dice_.roll(1, 6);
            counts.push_back(type.unit_count);
        }
        queue_.emplace(settings_, counts);
    }

    void step()
    {
        now_s_ += 4 * static_cast<double>(dice_.roll(0, 4));
        if (dice_.roll(0, 9) == 0) {
            while (!waiting_.empty())
                leave();
        }
        if (dice_.roll(0, 2) == 0) change_prices(); // who comes then is weighed by them
        for (std::int64_t i = dice_.roll(0, 3); i > 0; --i)
            arrive();
        if (dice_.roll(0, 9) == 0) leave();
        end_some();
        change_prices();
        decide();
    }

  private:
    struct Running {
        std::size_t type{};
        std::int64_t units{};
        double expected_end_s{};
    };

    void arrive()
    {
        QueuedJob job;
        job.key = next_key_++;
        job.options = options();
        job.since_s = now_s_;
        job.fair_load = dice_.pick({0.5, 1, 1, 1});
        job.priority = 20 * dice_.roll(-1, 1);
        if (dice_.roll(0, 5) == 0) job.latest_start_s = now_s_ + 16 * static_cast<double>(dice_.roll(0, 8)) + 2;
        waiting_.emplace(job.key, std::pair(job, queue_->add(job)));
    }

    /// New ones, or those that an earlier job has, which the queue weighs together.
    JobOptions options()
    {
        if (!lists_.empty() && dice_.roll(0, 1) == 0)
            return lists_[static_cast<std::size_t>(dice_.roll(0, std::ssize(lists_) - 1))];
        std::vector<JobOption> options;
        for (std::size_t type = types_.size(); type-- > 0;) {
            for (std::int64_t count = 1; count <= 4; count *= 2) {
                if (dice_.roll(0, 2) == 0)
                    options.push_back(
                        {type, count, 8 * static_cast<double>(dice_.roll(1, 8)), dice_.roll(0, 3) == 0 ? 2.0 : 1.0});
            }
        }
        return lists_.emplace_back(std::move(options));
    }

    void leave()
    {
        if (waiting_.empty()) return;
        const auto gone = std::next(waiting_.begin(), dice_.roll(0, std::ssize(waiting_) - 1));
        queue_->remove(gone->second.second);
        waiting_.erase(gone);
    }

    void end_some()
    {
        std::erase_if(running_, [&](const Running& one) {
            const bool ends = dice_.roll(0, 3) == 0;
            if (!ends) return false;
            types_[one.type].free_units += one.units;
            queue_->remove_release(one.type, one.expected_end_s, one.units);
            return true;
        });
    }

    void change_prices()
    {
        for (std::size_t type = 0; type < types_.size(); ++type) {
            if (dice_.roll(0, 9) == 0) {
                types_[type].shadow_price = dice_.pick({0.5, 1, 2});
                queue_->set_shadow_price(type, types_[type].shadow_price);
            }
            if (dice_.roll(0, 4) == 0) {
                types_[type].load = dice_.pick({0, 0.75, 0.75, 1});
                queue_->set_load(type, types_[type].load);
            }
            if (dice_.roll(0, 9) == 0) types_[type].free_for_s = dice_.pick({kNever, kNever, 40, 16, 0});
            queue_->set_free(type, types_[type].free_units, types_[type].free_for_s);
        }
        for (auto& [key, waiting] : waiting_) {
            if (dice_.roll(0, 19) != 0) continue;
            waiting.first.fair_load = dice_.pick({0.5, 1, 2});
            queue_->set_fair_load(waiting.second, waiting.first.fair_load);
        }
    }

    void decide()
    {
        std::vector<WaitingJobView> views;
        std::map<std::size_t, std::uint64_t> key_of; // by number in the queue
        for (const auto& [key, waiting] : waiting_) {
            const QueuedJob& job = waiting.first;
            WaitingJobView view;
            view.id = fmt::format("{:06}", key);
            view.options = job.options;
            view.waited_s = now_s_ - job.since_s;
            view.fair_load = job.fair_load;
            view.priority = job.priority;
            if (job.latest_start_s) view.latest_start_s = *job.latest_start_s - now_s_;
            views.push_back(std::move(view));
            key_of.emplace(waiting.second, key);
        }
        std::vector<UnitTypeLoad> types = types_;
        for (const Running& one : running_)
            types[one.type].releases.push_back({std::abs(one.expected_end_s - now_s_), one.units});

        std::vector<Start> slow;
        for (const OrderedStart& start : SlowOrder(views, types, settings_).run())
            slow.push_back({std::stoull(views[start.job].id), start.option});
        std::vector<Start> once;
        for (const OrderedStart& start : order_starts(views, types, settings_))
            once.push_back({std::stoull(views[start.job].id), start.option});
        const std::vector<OrderedStart> queued = queue_->decide(now_s_);
        std::vector<Start> again;
        for (const OrderedStart& start : queued)
            again.push_back({key_of.at(start.job), start.option});
        RC_ASSERT(sorted(once) == sorted(slow));
        RC_ASSERT(again == once);
        for (const OrderedStart& start : queued)
            begin(key_of.at(start.job), start);
    }

    /// In which order starts that do not hinder each other are found does not matter.
    static std::vector<std::pair<std::uint64_t, std::size_t>> sorted(const std::vector<Start>& starts)
    {
        std::vector<std::pair<std::uint64_t, std::size_t>> result;
        for (const Start& start : starts)
            result.emplace_back(start.key, start.option);
        std::sort(result.begin(), result.end());
        return result;
    }

    void begin(std::uint64_t key, const OrderedStart& start)
    {
        queue_->remove(start.job);
        waiting_.erase(key);
        types_[start.place.unit_type].free_units -= start.place.unit_count;
        running_.push_back({start.place.unit_type, start.place.unit_count, now_s_ + start.place.run_s});
        queue_->add_release(start.place.unit_type, now_s_ + start.place.run_s, start.place.unit_count);
    }

    Dice dice_;
    OrderSettings settings_;
    std::vector<UnitTypeLoad> types_; ///< without releases
    std::optional<WaitQueue> queue_;
    double now_s_ = 0;
    std::uint64_t next_key_ = 1;
    std::map<std::uint64_t, std::pair<QueuedJob, std::size_t>> waiting_; ///< with the number in the queue
    std::vector<Running> running_;
    std::vector<JobOptions> lists_; ///< that jobs came with
};

RC_GTEST_PROP(WaitQueueProperty, DecidesAsTheRuleIsWritten, ())
{
    Stream stream(*rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, 1'000'000'000)));
    for (int step = 0; step < 40; ++step)
        stream.step();
}

} // namespace
} // namespace fathom
