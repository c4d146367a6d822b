#pragma once

#include "tests/agent/support/agent_process.hpp"
#include "tests/agent/support/fake_metascheduler.hpp"

#include <gtest/gtest.h>

namespace fathom::agent::test {

template <class Body>
bool is(const link::Message& message)
{
    return std::holds_alternative<Body>(message.body);
}

/// A real agent process with one unit, enrolled at a fake metascheduler.
class AgentLink : public testing::Test {
  protected:
    AgentLink();

    /// `settings`: more lines of the config file, before its tables.
    void write_config(const std::string& unit_type, const std::string& settings = "");
    int enrol(std::vector<std::string> more = {});
    void start_enrolled();
    void wait_for_hello(std::size_t number);
    link::Hello last_hello() const;
    link::Ack wait_for_ack(const MessageId& id) const;
    std::size_t ends_of(const AttemptId& id) const;
    /// Writes the file `go` into the folder of a job, which waits for it.
    void let_go(const AttemptOrder& order) const;

    FakeMetascheduler server_;
    AgentProcess agent_;
    std::filesystem::path token_file_;
    std::filesystem::path ca_file_;
};

} // namespace fathom::agent::test
