#include "tests/agent/support/agent_link.hpp"

#include "agent/config/cpu_list.hpp"
#include "agent/executor/local/attempt_folder.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/executor_fixture.hpp"

namespace fathom::agent::test {

AgentLink::AgentLink()
{
    write_config("core");
    token_file_ = agent_.folder() / "token";
    ca_file_ = agent_.folder() / "ca.pem";
    write_file(token_file_, std::string(FakeMetascheduler::kToken) + "\n", 0600).value();
    write_file(ca_file_, server_.authority_pem()).value();
}

void AgentLink::write_config(const std::string& unit_type, const std::string& settings)
{
    const std::string cpu = std::to_string(allowed_cpus().front());
    write_file(agent_.config(),
               "cores = \"" + cpu + "\"\n" + settings + "[[unit_type]]\nname = \"" + unit_type + "\"\n")
        .value();
}

int AgentLink::enrol(std::vector<std::string> more)
{
    std::vector<std::string> arguments{"enrol",     "--server",        server_.address(),
                                       "--ca",      ca_file_.string(), "--token-file",
                                       token_file_, "--state-dir",     agent_.state_dir().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return agent_.call(std::move(arguments));
}

void AgentLink::start_enrolled()
{
    ASSERT_EQ(enrol(), 0) << agent_.log();
    agent_.start();
    wait_for_hello(1);
}

void AgentLink::wait_for_hello(std::size_t number)
{
    wait_until([&] { return server_.count(is<link::Hello>) >= number; }, "a greeting");
}

link::Hello AgentLink::last_hello() const
{
    link::Hello last;
    for (const link::Message& message : server_.received()) {
        if (const auto* hello = std::get_if<link::Hello>(&message.body)) last = *hello;
    }
    return last;
}

link::Ack AgentLink::wait_for_ack(const MessageId& id) const
{
    const auto fits = [&](const link::Message& message) {
        const auto* ack = std::get_if<link::Ack>(&message.body);
        return ack != nullptr && ack->of == id;
    };
    return std::get<link::Ack>(server_.wait_for("an ack", fits).body);
}

std::size_t AgentLink::ends_of(const AttemptId& id) const
{
    return server_.count([&](const link::Message& message) {
        const auto* ended = std::get_if<link::AttemptEnded>(&message.body);
        return ended != nullptr && ended->end.attempt_id == id;
    });
}

void AgentLink::let_go(const AttemptOrder& order) const
{
    const std::filesystem::path folder = agent_.state_dir() / "attempts" / order.attempt_id.value;
    write_file(AttemptFolder(folder).work() / "go", "").value();
}

} // namespace fathom::agent::test
