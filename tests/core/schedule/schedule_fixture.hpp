#pragma once

#include "core/decide/queue/busy_share.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waiting_reason.hpp"

#include <gtest/gtest.h>

namespace fathom::test {

inline constexpr Timestamp kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};

inline UnitTypeView unit_type(const std::string& center, const std::string& name, std::int64_t units)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + center};
    view.name = name;
    view.center_id = CenterId{"ctr_" + center};
    view.center_name = center;
    view.resource_type = "cpu";
    view.unit_count = units;
    view.availability = Availability(units);
    return view;
}

/// Units of alpha/gpu and beta/cpu, and jobs of one operator each.
class ScheduleTest : public ::testing::Test {
  protected:
    ScheduleTest() { unit_types_ = {unit_type("alpha", "gpu", 1), unit_type("beta", "cpu", 2)}; }

    /// A job that runs so long on each; unit counts as asked. In order of id.
    void add_job(const std::string& id, double on_alpha_s, double on_beta_s, UnitRequest units = {})
    {
        const double run_s[] = {on_alpha_s, on_beta_s};
        for (std::size_t type = 0; type < 2; ++type) {
            MeasuredOperator one;
            one.operator_id = "op_" + id;
            one.parameters_key = "n=1";
            one.operations = 1e6;
            one.median_s = one.ci_low_s = one.ci_high_s = run_s[type];
            unit_types_[type].operators.push_back(one.operator_id);
            unit_types_[type].measured.push_back(one);
        }
        ReadyJob job;
        job.id = id;
        job.kind = id;
        job.request.operators = {{"op_" + id, "n=1", 1, 1e6, 1e5}};
        job.request.units = std::move(units);
        job.request.transfer.now = kNow;
        input_.jobs.push_back(std::move(job));
    }
    void take(const std::string& center, double until_s, std::int64_t units = 1)
    {
        taken_.push_back({.unit_type_id = UnitTypeId{"ut_" + center}, .unit_count = units, .release_s = until_s});
    }
    /// Nothing has been in use for so long.
    void idle_for(int hours)
    {
        BusyShare share;
        share.note(0, Seconds(std::chrono::hours(hours)).count());
        loads_.busy_shares = {{"ut_alpha", share.mean()}, {"ut_beta", share.mean()}};
    }
    void set_shadow_prices(std::unordered_map<std::string, double> shadow_prices)
    {
        loads_.shadow_prices = std::move(shadow_prices);
    }
    SchedulePlan decide()
    {
        input_.loads = std::make_shared<const UnitTypeLoads>(loads_);
        UnitLedger units(unit_types_, knowledge_, {.reserved = taken_, .now = kNow});
        return schedule(units, input_);
    }

    std::vector<UnitTypeView> unit_types_;
    ScheduleInput input_;
    UnitTypeLoads loads_;
    RouteKnowledge knowledge_;
    std::vector<Reservation> taken_;
};

inline std::string reason_of(const ScheduledWait& wait)
{
    return waiting_reason_of(wait, kNow);
}

} // namespace fathom::test
