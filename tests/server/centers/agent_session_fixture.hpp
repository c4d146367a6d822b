#pragma once

#include "tests/server/centers/support/test_agent.hpp"

#include <gmock/gmock.h>

#include <string>

namespace fathom::server::test {

inline link::StartAttempt start_order(const AttemptId& attempt)
{
    link::StartAttempt start;
    start.order.attempt_id = attempt;
    start.order.job_id = JobId::make();
    start.order.name = "a job";
    start.order.label = "job";
    start.order.unit_type = "u1";
    start.order.command = {"/bin/true"};
    return start;
}

inline link::AttemptStarted started(const AttemptId& attempt)
{
    link::AttemptStarted message;
    message.attempt_id = attempt;
    return message;
}

/// A server with center alpha, whose agent may connect.
class AgentSession : public testing::Test {
  protected:
    /// An agent of center alpha whose hello was answered.
    TestAgent greeted_agent()
    {
        TestAgent agent(server_, &enrolled_.credential);
        agent.greet();
        return agent;
    }

    /// The change of the center's row is made before this replica hears of it.
    void expect_that_reports_change_nothing_after(const std::string& change)
    {
        TestAgent agent = greeted_agent();
        server_.store.sql("UPDATE center SET probe_requested_at = NULL, " + change + " RETURNING 1");

        agent.send(link::ProbeRequest{"measure me"});

        EXPECT_THAT(agent.expect_end(),
                    testing::AnyOf(testing::HasSubstr("not available now"), testing::HasSubstr("superseded")));
        EXPECT_EQ(server_.store.sql("SELECT count(*) FROM center WHERE probe_requested_at IS NOT NULL"), "0");
    }

    AgentServer server_;
    AgentServer::Enrolled enrolled_ = server_.enrol("alpha");
};

} // namespace fathom::server::test
