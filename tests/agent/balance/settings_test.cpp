#include "agent/config/agent_config.hpp"
#include "agent/executor/local/environment.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::HasSubstr;

TEST(BalanceSettings, AreOffByDefaultAndOnlySayWhatTheyWouldDoWhenOn)
{
    EXPECT_FALSE(parse_agent_tables("").value().balance.enabled);
    const BalanceConfig config = parse_agent_tables(R"toml(
        [balance]
        enabled = true
        [[balance.unit]]
        name = "gpu0"
        device = "GPU-5f1c"
        clock_mhz = 1000
    )toml")
                                     .value()
                                     .balance;
    EXPECT_EQ(config.units.at(0).clock_mhz, 1000);
    EXPECT_TRUE(config.enabled);
    EXPECT_TRUE(config.dry_run);
    EXPECT_EQ(config.period_s, 1);
    EXPECT_EQ(config.units.at(0).device, "GPU-5f1c");
    EXPECT_EQ(config.regulator, RegulatorSettings());
}

TEST(BalanceSettings, AreReadWithGainsAndActions)
{
    const BalanceConfig config = parse_agent_tables(R"toml(
        [balance]
        enabled = true
        dry_run = false
        period_s = 0.5
        law = "pi"
        band = 0.08
        actuators = ["clock", "precision"]
        actions = [{u = "[-0.9, 0)", clock_mhz = 100}, {u = "[0, 0.9]", clock_mhz = -100}]
        [balance.gains]
        proportional = [1.0, 0.5, 1.0]
        [balance.fuzzy]
        enabled = false
        [[balance.unit]]
        name = "socket"
        cpus = "0-3"
        link_bytes_per_s = 2e10
    )toml")
                                     .value()
                                     .balance;
    EXPECT_EQ(config.regulator.law, ControlLaw::kPi);
    EXPECT_EQ(config.regulator.band, 0.08);
    EXPECT_EQ(config.regulator.table.size(), 2U);
    EXPECT_EQ(config.regulator.gains.proportional[1], 0.5);
    EXPECT_EQ(config.units.at(0).cpus, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(BalanceSettings, ThatAreWrongAreRefusedWithTheirKeyAndRule)
{
    const auto refusal = [](const char* toml) {
        const Result<AgentTables> tables = parse_agent_tables(toml);
        return tables ? std::string() : describe(tables.error());
    };
    EXPECT_THAT(refusal("[balance]\nenabled = true\n"), HasSubstr("balance.unit"));
    EXPECT_THAT(refusal("[balance]\ngains = {integral = [0, 2, 1]}\n"), HasSubstr("breaks 0 = K_i1 < K_i2 < K_i3"));
    EXPECT_THAT(refusal("[balance]\nactions = [{u = \"[-0.9, 0]\"}, {u = \"[0, 0.9]\"}]\n"),
                HasSubstr("covered twice"));
    EXPECT_THAT(refusal("[balance]\nspeed = 1\n"), HasSubstr("balance.speed"));
    EXPECT_THAT(refusal("[[balance.unit]]\nname = \"a\"\n"), HasSubstr("balance.unit[0].device"));
    EXPECT_THAT(refusal("[[balance.unit]]\nname = \"a\"\ncpus = \"0\"\n"),
                HasSubstr("balance.unit[0].link_bytes_per_s"));
    EXPECT_THAT(refusal("[[balance.unit]]\nname = \"a\"\ncpus = \"0\"\nlink_bytes_per_s = 1\ncgroup = \"../x\"\n"),
                HasSubstr("balance.unit[0].cgroup"));
    EXPECT_THAT(refusal("[[balance.unit]]\nname = \"a\"\ncpus = \"0\"\nlink_bytes_per_s = 1\nclock_mhz = 1000\n"),
                HasSubstr("balance.unit[0].clock_mhz: is of GPUs"));
    EXPECT_THAT(refusal("[[balance.unit]]\nname = \"a\"\ndevice = \"GPU-5f1c\"\nclock_mhz = 0\n"),
                HasSubstr("balance.unit[0].clock_mhz"));
}

TEST(BalanceSettings, GiveAProcessorOrDeviceToOneUnitOnly)
{
    const auto refusal = [](const std::string& first, const std::string& second) {
        const Result<AgentTables> tables = parse_agent_tables("[[balance.unit]]\nname = \"a\"\n" + first +
                                                              "\n[[balance.unit]]\nname = \"b\"\n" + second + "\n");
        return tables ? std::string() : describe(tables.error());
    };
    const std::string link = "\nlink_bytes_per_s = 1e9";
    EXPECT_EQ(refusal("cpus = \"0-3\"" + link, "cpus = \"4-7\"" + link), "");
    EXPECT_THAT(refusal("cpus = \"0-3\"" + link, "cpus = \"3-7\"" + link),
                HasSubstr("balance.unit[1].cpus: processor 3 is of an earlier unit, too"));
    EXPECT_THAT(refusal("device = \"GPU-5f1c\"", "device = \"GPU-5f1c\""), HasSubstr("balance.unit[1].device"));
}

TEST(PrecisionVariables, AreThoseOfAJobThatStatesARange)
{
    RunOrder run{test::shell_order("true"), {0}, 1, 0, {}};
    EXPECT_FALSE(job_environment(run, {"/work", "/programs", "nobody"}).contains("FATHOM_PRECISION_FILE"));
    run.order.environment = {{"FATHOM_PRECISION_RANGE", "int8..fp16"}};
    const auto variables = job_environment(run, {"/work", "/programs", "nobody"});
    EXPECT_EQ(variables.at("FATHOM_PRECISION_FILE"), "/work/.fathom-precision");
    EXPECT_EQ(variables.at("FATHOM_PRECISION_ACK_FILE"), "/work/.fathom-precision-ack");
}

} // namespace
} // namespace fathom::agent
