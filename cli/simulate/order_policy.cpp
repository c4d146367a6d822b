#include "cli/simulate/order_policy.hpp"

namespace fathom {
namespace {

constexpr std::size_t kArrivalsPerLook = 50;

class OrderPolicy {
  public:
    OrderPolicy(const OrderSettings& settings, LoadKnowledge knowledge)
        : settings_(settings), knowledge_(knowledge),
          needs_worths_(settings.rule == OrderRule::kAdvantage || settings.rule == OrderRule::kMinCostAssignment)
    {
    }

    std::vector<OrderedStart> operator()(const SimulatedQueue& queue)
    {
        if (needs_worths_ && queue.arrived_count >= looked_at_ + kArrivalsPerLook) {
            worths_ = unit_worths(queue.arrived, queue.arrived_within_s, queue.unit_types);
            looked_at_ = queue.arrived_count;
        }
        loads_.assign(queue.unit_types.begin(), queue.unit_types.end());
        for (std::size_t type = 0; type < worths_.size(); ++type) {
            loads_[type].worth = worths_[type].worth;
            if (knowledge_ == LoadKnowledge::kTaken) loads_[type].load = worths_[type].load;
        }
        return order_starts(queue.jobs, loads_, settings_);
    }

  private:
    OrderSettings settings_;
    LoadKnowledge knowledge_;
    bool needs_worths_;
    std::vector<UnitWorth> worths_;
    std::vector<UnitTypeLoad> loads_;
    std::size_t looked_at_ = 0;
};

} // namespace

StartRule order_policy(const OrderSettings& settings, LoadKnowledge knowledge)
{
    return OrderPolicy(settings, knowledge);
}

} // namespace fathom
