#include "cli/simulate/order_policy.hpp"

#include "core/decide/busy_share.hpp"
#include "core/decide/unit_worth.hpp"

#include <utility>

namespace fathom {
namespace {

constexpr std::size_t kArrivalsPerLook = 50;

class OrderPolicy {
  public:
    OrderPolicy(const OrderSettings& settings, LoadKnowledge knowledge) : settings_(settings), knowledge_(knowledge) {}

    std::vector<OrderedStart> operator()(const SimulatedQueue& queue)
    {
        loads_.assign(queue.unit_types.begin(), queue.unit_types.end());
        look_at_arrivals(queue);
        look_at_use(queue);
        return order_starts(queue.jobs, loads_, settings_);
    }

  private:
    void look_at_arrivals(const SimulatedQueue& queue)
    {
        const bool weighs_places =
            settings_.rule == OrderRule::kAdvantage || settings_.rule == OrderRule::kMinCostAssignment;
        if (weighs_places && queue.arrived_count >= looked_at_ + kArrivalsPerLook) {
            worths_ = unit_worths(queue.arrived, queue.arrived_within_s, queue.unit_types);
            looked_at_ = queue.arrived_count;
        }
        for (std::size_t type = 0; type < worths_.size(); ++type)
            loads_[type].worth = worths_[type].worth;
    }

    void look_at_use(const SimulatedQueue& queue)
    {
        busy_.resize(loads_.size());
        used_unit_s_.resize(loads_.size());
        const double passed_s = queue.now_s - std::exchange(last_s_, queue.now_s);
        for (std::size_t type = 0; type < loads_.size(); ++type) {
            const double used_unit_s =
                queue.used_unit_s[type] - std::exchange(used_unit_s_[type], queue.used_unit_s[type]);
            const double most_unit_s = passed_s * static_cast<double>(loads_[type].unit_count);
            if (most_unit_s > 0) busy_[type].note(used_unit_s / most_unit_s, passed_s);
            if (knowledge_ == LoadKnowledge::kTaken) loads_[type].load = busy_[type].mean();
        }
    }

    OrderSettings settings_;
    LoadKnowledge knowledge_;
    std::vector<UnitTypeLoad> loads_;
    std::vector<UnitWorth> worths_;
    std::size_t looked_at_ = 0; ///< arrivals
    std::vector<BusyShare> busy_;
    std::vector<double> used_unit_s_; ///< at the last look
    double last_s_ = 0;
};

} // namespace

StartRule order_policy(const OrderSettings& settings, LoadKnowledge knowledge)
{
    return OrderPolicy(settings, knowledge);
}

} // namespace fathom
