#include "core/schedule/start_by_order.hpp"

#include "core/schedule/ordered_starts.hpp"
#include "core/schedule/second_look.hpp"
#include "core/schedule/start_rounds.hpp"

#include <span>
#include <utility>

namespace fathom {
namespace {

/// The rounds of one cycle.
class CycleRounds : public StartRounds {
  public:
    CycleRounds(const CycleTools& tools, FirstLook& look, HeldProbes& held, PlanDraft& draft)
        : tools_(tools), look_(look), held_(held), draft_(draft)
    {
    }

    Round start_next() override;
    bool look_again() override;
    bool drop_places() override;
    DeferredPlaces take_deferred() { return std::move(deferred_); }

  private:
    const CycleTools& tools_;
    FirstLook& look_;
    HeldProbes& held_;
    PlanDraft& draft_;
    DeferredPlaces deferred_;
    std::size_t viewed_starts_ = 0; ///< after which all jobs were looked at
};

StartRounds::Round CycleRounds::start_next()
{
    const OrderCall asked = jobs_to_start(look_.jobs);
    if (asked.jobs.empty()) return Round::kNothing;
    const std::size_t started = draft_.plan.starts.size();
    const std::vector<OrderedStart> starts = order_starts(asked.views, tools_.places->loads(), tools_.input->settings);
    if (make_starts(tools_, asked, starts, {look_.jobs, held_, draft_})) return Round::kRefused;
    return draft_.plan.starts.size() > started ? Round::kStarted : Round::kNothing;
}

bool CycleRounds::look_again()
{
    const std::span<const ScheduledStart> news = std::span(draft_.plan.starts).subspan(viewed_starts_);
    viewed_starts_ = draft_.plan.starts.size();
    return look_again_at_jobs(tools_, news_of(tools_, news), look_.kinds, look_.completion, look_.jobs);
}

bool CycleRounds::drop_places()
{
    const OrderCall asked = jobs_to_start(look_.jobs);
    return !asked.jobs.empty() && drop_vain_waits(tools_, asked, look_.jobs, deferred_);
}

} // namespace

DeferredPlaces start_by_order(const CycleTools& tools, FirstLook& look, HeldProbes& held, PlanDraft& draft)
{
    CycleRounds rounds(tools, look, held, draft);
    start_in_rounds(rounds);
    return rounds.take_deferred();
}

} // namespace fathom
