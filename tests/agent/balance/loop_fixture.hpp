#pragma once

#include "agent/balance/processor_clock.hpp"
#include "agent/balance/sub_unit_actuator.hpp"
#include "tests/agent/balance/balance_fixture.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fathom::agent::test {

/// Says what it is told to.
class FakeSensor final : public OccupancySensor {
  public:
    explicit FakeSensor(const Result<Occupancies>& next) : next_(next) {}
    Result<Occupancies> measure() override { return next_; }

  private:
    const Result<Occupancies>& next_;
};

/// A host with a unit, its journal, and sub-units that are granted at once.
class BalanceLoop : public ::testing::Test {
  protected:
    UnitLoop make(std::vector<std::unique_ptr<Actuator>> actuators, bool dry_run = false)
    {
        RegulatorSettings regulator;
        regulator.pause_periods = 0;
        return UnitLoop({.unit = "pair", .dry_run = dry_run, .regulator = regulator},
                        std::make_unique<FakeSensor>(occupancies_), std::move(actuators), journal_, sub_units_);
    }
    std::vector<std::unique_ptr<Actuator>> clock_and_sub_units()
    {
        std::vector<std::unique_ptr<Actuator>> actuators;
        actuators.push_back(std::make_unique<SubUnitActuator>("pair", sub_units_));
        actuators.push_back(std::make_unique<ProcessorClock>(host_.unit(), host_.files()));
        return actuators;
    }
    std::string limit() const { return read(host_.limit(0)).substr(0, 7); }

    BalancedHost host_;
    FakeSubUnits sub_units_{10};
    BalanceJournal journal_ = BalanceJournal::open(host_.journal()).value();
    Result<Occupancies> occupancies_ = Occupancies{0.2, 1.0};
};

} // namespace fathom::agent::test
