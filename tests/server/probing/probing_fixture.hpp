#pragma once

#include "server/probing/orders/probing_service.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace fathom::server {

/// Probing on a database of its own, with simple operators; a test adds its centers.
class ProbingFixture : public testing::Test {
  protected:
    explicit ProbingFixture(std::initializer_list<const char*> operators)
    {
        std::vector<OperatorManifest> manifests;
        for (const char* id : operators)
            manifests.push_back(test::simple_operator(id));
        operators_.seed(std::move(manifests)).value();
    }
    ~ProbingFixture() override { store_.database().stop(); }

    static OperatorUse use_of(const std::string& id, std::int64_t count = 1)
    {
        OperatorUse use;
        use.id = id;
        use.count = count;
        return use;
    }

    /// Of these operators at their default sizes, on every unit type that a full benchmark would take.
    static RunOrder order_of(std::initializer_list<const char*> ids)
    {
        RunOrder order;
        for (const char* id : ids)
            order.operators.push_back(use_of(id));
        return order;
    }

    /// The same on one unit type, "alpha/u1".
    static RunOrder order_on(const std::string& unit_type, std::initializer_list<const char*> ids)
    {
        RunOrder order = order_of(ids);
        order.places.selection = RunSelection::kUser;
        order.places.unit_types = {unit_type};
        return order;
    }

    const Caller expert_{"tok_expert", "req_1"};
    test::TestStore store_;
    fathom::test::TestIo io_;
    OperatorsService operators_{store_.database()};
    test::FakeJobWriter writer_;
    test::FakeJobWork jobs_;
    ProbingService service_{store_.database(), operators_, writer_, jobs_};
};

} // namespace fathom::server
