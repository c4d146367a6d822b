#pragma once

#include "server/sub_units/sub_units_service.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <map>
#include <string>

namespace fathom::server::test {

/// The room of sub-units on a database with centers, whose agents are played here.
class BrokerFixture {
  public:
    BrokerFixture() : service(store.database()) {}
    ~BrokerFixture() { store.database().stop(); }
    BrokerFixture(const BrokerFixture&) = delete;
    BrokerFixture& operator=(const BrokerFixture&) = delete;

    /// An online center whose agent has said that it brings so many sub-units of kind "vgpu", and has them.
    CenterId add(const std::string& name, std::int64_t count, std::int64_t most_count = 1000);

    /// What the center's agent says when it has reached what it is to have: its catalog, then its counts.
    void follow(const CenterId& center);
    /// The same of all, until nothing moves any more.
    void settle();
    /// The same, and the center's settings say that it brings so many.
    void share(const CenterId& center, std::int64_t count);
    /// The agent will not do what it is told.
    void refuse(const CenterId& center, const std::string& reason);
    /// What the agent has said last, said again.
    void repeat(const CenterId& center);
    /// What the agent is told to have.
    link::SubUnitTarget target(const CenterId& center);

    Result<SubUnitRequestRecord> ask(const std::string& center, const std::string& action, std::int64_t count);
    SubUnitRequestRecord request(const SubUnitRequestId& id) { return io.run(service.get_request(id.value)).value(); }
    /// Grants of all times, oldest first.
    std::vector<SubUnitGrantRecord> grants();
    /// What a periodic task does once a second.
    void look();
    std::int64_t held(const CenterId& center) const;
    std::int64_t free_count() const;
    /// A job that has so many units of the center until end_jobs().
    void run_job(const CenterId& center, std::int64_t units);
    void end_jobs();
    /// Registered less what is held and free: 0, or something exists twice, or is gone.
    std::int64_t missing() const;

    const Caller admin{"tok_admin", "req_1"};
    TestStore store;
    fathom::test::TestIo io;
    SubUnitsService service;

  private:
    void report(const CenterId& center);

    std::map<CenterId, link::SubUnitHolding> said_;
};

} // namespace fathom::server::test
