#include "core/base/file.hpp"
#include "tests/agent/support/agent_link.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <csignal>

/// A real agent that is told what to offer (M9).
namespace fathom::agent {
namespace {

using test::AgentLink;
using test::is;
using test::wait_until;
using testing::HasSubstr;

UnitCut cut_named(const std::string& name, std::int64_t count)
{
    UnitCut cut;
    cut.name = name;
    cut.unit_count = count;
    return cut;
}

class AgentResources : public AgentLink {
  protected:
    ResourceState wait_for_state(std::int64_t version)
    {
        const link::Message message = server_.wait_for("the state of the order", [&](const link::Message& received) {
            const auto* const state = std::get_if<ResourceState>(&received.body);
            return state != nullptr && state->version == version;
        });
        return std::get<ResourceState>(message.body);
    }
    /// The unit types that were told last.
    Catalog last_catalog()
    {
        Catalog catalog;
        for (const link::Message& message : server_.received()) {
            if (const auto* hello = std::get_if<link::Hello>(&message.body)) catalog = hello->catalog;
            if (const auto* changed = std::get_if<link::CatalogChanged>(&message.body)) catalog = changed->catalog;
        }
        return catalog;
    }
};

TEST_F(AgentResources, OffersWhatItIsToldAndNoMoreThanItsFile)
{
    start_enrolled();
    EXPECT_EQ(last_hello().catalog.facts["remote_resources"], "within");

    server_.send(ResourceOrder{.version = 4, .unit_types = {cut_named("renamed", 3)}});
    const ResourceState state = wait_for_state(4);

    EXPECT_EQ(state.state, "applied");
    EXPECT_EQ(state.permission, "within");
    ASSERT_EQ(state.differences.size(), 1U);
    EXPECT_EQ(state.differences[0].code, "fewer_cores");
    EXPECT_EQ(state.differences[0].wanted, 3);
    EXPECT_EQ(state.differences[0].seen, 1);
    ASSERT_EQ(last_catalog().unit_types.size(), 1U);
    EXPECT_EQ(last_catalog().unit_types[0].name, "renamed");
    EXPECT_EQ(last_catalog().unit_types[0].unit_count, 1);

    AttemptOrder order = test::shell_order("exit 4");
    order.unit_type = "renamed";
    server_.send(link::StartAttempt{order});
    EXPECT_EQ(server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end.exit_code, 4);
}

TEST_F(AgentResources, WhatRunsGoesOnWhenTheUnitsAreCutAnew)
{
    start_enrolled();
    const AttemptOrder order = test::shell_order("sleep 3; exit 5");
    server_.send(link::StartAttempt{order});
    server_.wait_for_attempt<link::AttemptStarted>(order.attempt_id);

    server_.send(ResourceOrder{.version = 1, .unit_types = {cut_named("renamed", 1)}});
    wait_for_state(1);

    EXPECT_EQ(server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end.exit_code, 5);
}

TEST_F(AgentResources, KeepsTheOrderOverARestartAndGoesBackWhenItIsTakenBack)
{
    start_enrolled();
    server_.send(ResourceOrder{.version = 2, .unit_types = {cut_named("renamed", 1)}});
    wait_for_state(2);

    agent_.stop(SIGKILL);
    agent_.start();
    wait_for_hello(2);
    EXPECT_EQ(last_hello().catalog.unit_types.at(0).name, "renamed");

    server_.send(ResourceOrder{.version = 3, .unit_types = {}});
    EXPECT_EQ(wait_for_state(3).state, "file");
    EXPECT_EQ(last_catalog().unit_types.at(0).name, "core");
}

TEST_F(AgentResources, WhatTheFileForbidsIsNotDone)
{
    ASSERT_EQ(enrol(), 0);
    write_config("core", "remote_resources = \"off\"\n");
    agent_.start();
    wait_for_hello(1);

    server_.send(ResourceOrder{.version = 1, .unit_types = {cut_named("renamed", 1)}});
    const ResourceState state = wait_for_state(1);

    EXPECT_EQ(state.state, "forbidden");
    EXPECT_THAT(state.detail, HasSubstr("remote_resources"));
    EXPECT_EQ(last_catalog().unit_types.at(0).name, "core");
}

TEST_F(AgentResources, SaysNothingAsLongAsThereIsNothingToSay)
{
    start_enrolled();
    server_.send(link::UnitTypesQuery{MessageId::make(), {{"dgemm", false}}});
    server_.wait_for("an answer", is<link::UnitTypesAnswer>);

    EXPECT_EQ(server_.count(is<ResourceState>), 0U) << "an older server would count it as malformed";
}

} // namespace
} // namespace fathom::agent
