#include "tests/server/sub_units/broker_fixture.hpp"

#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <algorithm>

namespace fathom::server::test {

CenterId BrokerFixture::add(const std::string& name, std::int64_t count, std::int64_t most_count)
{
    Catalog catalog;
    catalog.unit_types = {unit_type("part", 0, {})};
    const CenterId center = add_center(store, name, catalog);
    said_[center] = {.kind = "vgpu", .unit_type = "part", .registered_count = count, .most_count = most_count};
    report(center);
    follow(center);
    return center;
}

void BrokerFixture::report(const CenterId& center)
{
    const Result<void> taken = io.run(service.take_state(Reporter(center), link::SubUnitState{{said_.at(center)}}));
    ASSERT_TRUE(taken) << describe(taken.error());
}

link::SubUnitTarget BrokerFixture::target(const CenterId& center)
{
    return io.run(service.targets(Reporter(center))).value().at(0);
}

void BrokerFixture::follow(const CenterId& center)
{
    const link::SubUnitTarget wanted = target(center);
    link::SubUnitHolding& holding = said_.at(center);
    holding.version = wanted.version;
    holding.held_count = wanted.held_count;
    holding.offered_count = wanted.offered_count;
    store.sql("UPDATE unit_type SET unit_count = " + std::to_string(wanted.offered_count) + " WHERE center_id = '" +
              center.value + "'");
    report(center);
}

void BrokerFixture::share(const CenterId& center, std::int64_t count)
{
    said_.at(center).registered_count = count;
    follow(center);
}

void BrokerFixture::settle()
{
    for (;;) {
        bool has_moved = false;
        look();
        for (const auto& [center, holding] : std::map(said_)) {
            if (target(center).version == holding.version) continue;
            follow(center);
            has_moved = true;
        }
        if (!has_moved) return;
    }
}

void BrokerFixture::refuse(const CenterId& center, const std::string& reason)
{
    link::SubUnitHolding& holding = said_.at(center);
    holding.refused_version = target(center).version;
    holding.refusal = reason;
    report(center);
}

void BrokerFixture::repeat(const CenterId& center)
{
    report(center);
}

Result<SubUnitRequestRecord> BrokerFixture::ask(const std::string& center, const std::string& action,
                                                std::int64_t count)
{
    SubUnitsService::Wanted wanted{
        .center = center, .kind = "vgpu", .action = action, .count = count, .reason = "test"};
    return io.run(service.ask(admin, std::move(wanted)));
}

std::vector<SubUnitGrantRecord> BrokerFixture::grants()
{
    std::vector<SubUnitGrantRecord> all = io.run(service.list_grants({}, 1000, "")).value().items;
    std::reverse(all.begin(), all.end());
    return all;
}

void BrokerFixture::look()
{
    store.run([](pqxx::work& transaction) { return SubUnitsService::look(transaction); }).value();
}

std::int64_t BrokerFixture::held(const CenterId& center) const
{
    return std::stoll(store.sql("SELECT held_count FROM sub_unit_holding WHERE center_id = '" + center.value + "'"));
}

std::int64_t BrokerFixture::free_count() const
{
    return std::stoll(store.sql("SELECT coalesce(sum(free_count), 0) FROM sub_unit_request"));
}

std::int64_t BrokerFixture::missing() const
{
    return std::stoll(store.sql("SELECT sum(registered_count) - sum(held_count) - (SELECT coalesce(sum(free_count), 0) "
                                "FROM sub_unit_request) FROM sub_unit_holding"));
}

void BrokerFixture::run_job(const CenterId& center, std::int64_t units)
{
    const std::string job = JobId::make().value;
    store.sql("INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('" + job + "', 'j', 'p', '{}', 't')");
    store.sql(
        "INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, decided_by) SELECT '" +
        AttemptId::make().value + "', '" + job + "', 1, center_id, id, " + std::to_string(units) +
        ", 'running', 'r' FROM unit_type WHERE center_id = '" + center.value + "'");
}

void BrokerFixture::end_jobs()
{
    store.sql("UPDATE attempt SET state = 'ended', outcome = 'exited', ended_at = now()");
}

} // namespace fathom::server::test
