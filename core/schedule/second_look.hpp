#pragma once

#include "core/schedule/cycle_jobs.hpp"
#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/first_look.hpp"

#include <set>
#include <span>
#include <string_view>

/// What the jobs of a cycle can have after some have started; part of core/schedule/schedule.
namespace fathom {

/// What starts have changed. Refers to the ledger's unit types and the input's jobs.
struct StartNews {
    std::set<const UnitTypeView*> unit_types;
    std::set<std::string_view> projects;
};
StartNews news_of(const CycleTools& tools, std::span<const ScheduledStart> starts);

/// Decides again on the jobs whose places starts have changed. @return false when there are none.
bool look_again_at_jobs(const CycleTools& tools, const StartNews& news, const KindViews& kinds,
                        OptionCompletion& completion, CycleJobs& jobs);

} // namespace fathom
