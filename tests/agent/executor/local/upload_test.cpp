// Probes with uploaded operators, from the order to their output: real agent, real supervisor, real sandbox.

#include "core/base/file.hpp"
#include "core/model/operator_package.hpp"
#include "core/model/probe_result.hpp"
#include "tests/agent/support/agent_link.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace fathom::agent {
namespace {

#if defined(__has_feature)
constexpr bool kHasShadow = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kHasShadow = false;
#endif

using test::AgentLink;
using testing::HasSubstr;

constexpr const char* kTask = R"({"name": "lu", "repeats": 3, "min_sample_s": 0.002, "operators": [
    {"id": "dense_lu", "parameters": {"n": 64}}]})";

class AgentUploads : public AgentLink {
  protected:
    AgentUploads() : keys_(new_key_pair().value())
    {
        write_file(agent_.folder() / "keys.pem", keys_.public_pem, 0600).value();
        trust("core");
    }

    void trust(const std::string& unit_type)
    {
        write_config(unit_type, "operator_keys = \"" + (agent_.folder() / "keys.pem").string() + "\"\n");
    }

    static OperatorPackage package(const KeyPair& keys)
    {
        const std::string manifest = read_file(std::string(FATHOM_UPLOAD_SOURCES) + "/dense_lu/manifest.json").value();
        return sign_operator(parse_operator_manifest(parse_json(manifest).value()).value(),
                             read_file(std::string(FATHOM_UPLOAD_OBJECTS) + "/dense_lu.so").value(), keys.private_pem)
            .value();
    }

    static AttemptOrder probe(const OperatorPackage& package)
    {
        AttemptOrder order =
            test::order({"fathom-probe", "--task", "task.json", "--operator", "operator-dense_lu.json"});
        order.label = "probe";
        order.files = {{"task.json", kTask}, {"operator-dense_lu.json", to_json(package).dump()}};
        return order;
    }

    AttemptEnd run(const AttemptOrder& order)
    {
        server_.send(link::StartAttempt{order});
        return server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end;
    }

    std::string output_of(const AttemptId& id) const
    {
        std::string text;
        for (const link::Message& message : server_.received()) {
            const auto* output = std::get_if<link::AttemptOutput>(&message.body);
            if (output != nullptr && output->attempt_id == id) text += output->data;
        }
        return text;
    }

    KeyPair keys_;
};

TEST_F(AgentUploads, RunWhenATrustedKeySignedThem)
{
    if (kHasShadow) GTEST_SKIP() << "the sandbox has less room than sanitizers map";
    start_enrolled();
    EXPECT_EQ(last_hello().catalog.unit_types.at(0).facts.value("accepts_uploads", false), true);
    AttemptOrder order = probe(package(keys_));
    order.environment["FATHOM_OPERATOR_KEYS"] = "/nowhere"; // the job has no say in whom to trust
    order.files["trusted-operator-keys.pem"] = new_key_pair()->public_pem;

    const AttemptEnd end = run(order);

    ASSERT_EQ(end.outcome, AttemptOutcome::kExited) << end.detail;
    EXPECT_EQ(end.exit_code, 0) << output_of(order.attempt_id);
    EXPECT_THAT(output_of(order.attempt_id), HasSubstr("dense_lu 1.0 (uploaded)"));
}

TEST_F(AgentUploads, AreNotStartedWhenTheirSignatureIsNotTrusted)
{
    start_enrolled();
    OperatorPackage changed = package(keys_);
    changed.manifest.tolerance = 1;

    const AttemptEnd stranger = run(probe(package(new_key_pair().value())));
    const AttemptEnd tampered = run(probe(changed));

    EXPECT_EQ(stranger.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_THAT(stranger.detail, HasSubstr("operator-dense_lu.json: operator dense_lu, version 1, is signed by key"));
    EXPECT_FALSE(stranger.started_at);
    EXPECT_EQ(tampered.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_THAT(tampered.detail, HasSubstr("was changed after it was signed"));
}

TEST_F(AgentUploads, AreTrustedNoMoreOnceTheirKeyIsRemoved)
{
    start_enrolled();
    write_file(agent_.folder() / "keys.pem", new_key_pair()->public_pem, 0600).value();
    trust("renamed"); // the new catalog tells that the settings were read
    agent_.signal(SIGHUP);
    server_.wait_for("a new catalog", [](const link::Message& message) {
        const auto* report = std::get_if<link::CatalogChanged>(&message.body);
        return report != nullptr && report->catalog.unit_types.at(0).name == "renamed";
    });
    AttemptOrder order = probe(package(keys_));
    order.unit_type = "renamed";

    EXPECT_EQ(run(order).outcome, AttemptOutcome::kFailedToStart);
}

TEST_F(AgentUploads, ACenterWithoutKeysAcceptsNone)
{
    write_config("core");
    start_enrolled();

    EXPECT_FALSE(last_hello().catalog.unit_types.at(0).facts.contains("accepts_uploads"));
    const AttemptEnd end = run(probe(package(keys_)));
    EXPECT_EQ(end.outcome, AttemptOutcome::kFailedToStart);
    EXPECT_THAT(end.detail, HasSubstr("no key is trusted here"));
}

TEST_F(AgentUploads, KeysThatCannotBeReadStopTheAgentWithTheSettingsName)
{
    ASSERT_EQ(enrol(), 0);
    write_file(agent_.folder() / "keys.pem", "no keys", 0600).value();

    EXPECT_EQ(agent_.call({"run", "--state-dir", agent_.state_dir().string(), "--config", agent_.config().string()}),
              2);
    EXPECT_THAT(agent_.log(), HasSubstr("operator_keys: "));
    EXPECT_THAT(agent_.log(), HasSubstr("there is no public key"));
}

} // namespace
} // namespace fathom::agent
