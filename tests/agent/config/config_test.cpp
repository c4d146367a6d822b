#include "agent/config/agent_config.hpp"
#include "agent/config/cpu_list.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;

TEST(CpuList, ReadsAndWritesTheKernelsForm)
{
    EXPECT_THAT(parse_cpu_list("6,0-3").value(), ElementsAre(0, 1, 2, 3, 6));
    EXPECT_TRUE(parse_cpu_list("").value().empty());
    EXPECT_EQ(format_cpu_list(std::vector<std::int64_t>{0, 1, 2, 3, 6}), "0-3,6");
}

TEST(CpuList, RefusesAnythingElse)
{
    for (const char* text : {"a", "1-", "-1", "3-1", "1,", ",1", "1 2", "99999999999", "70000"}) {
        EXPECT_FALSE(parse_cpu_list(text)) << text;
    }
}

TEST(UserIds, AreARangeWithoutRoot)
{
    EXPECT_EQ(parse_user_ids("200000-265535")->first, 200000U);
    EXPECT_EQ(parse_user_ids("200000-265535")->last, 265535U);
    for (const char* text :
         {"", "1000", "0-10", "10-5", "1-4294967295", "1-4294967296", "-5", "a-b", "1-2-3", "1 - 2"}) {
        EXPECT_FALSE(parse_user_ids(text)) << text;
    }
}

TEST(AgentTables, ReadsUnitTypesEnvironmentAndOperators)
{
    const AgentTables tables = parse_agent_tables(R"(
        cores = "0-3"
        [[unit_type]]
        name = "pair"
        cores_per_unit = 2
        unit_count = 1
        memory_bytes_per_unit = 1000
        operators = ["dgemm"]
        [[unit_type]]
        name = "single"
        [environment]
        OPENBLAS_CORETYPE = "Haswell"
        [operators]
        cpu = ["dgemm", "fft3d"]
    )")
                                   .value();

    ASSERT_EQ(tables.unit_types.size(), 2U);
    EXPECT_EQ(tables.unit_types[0].cores_per_unit, 2);
    EXPECT_THAT(tables.unit_types[0].operators, ElementsAre("dgemm"));
    EXPECT_EQ(tables.unit_types[1].unit_count, 0);
    EXPECT_EQ(tables.environment.at("OPENBLAS_CORETYPE"), "Haswell");
    EXPECT_THAT(tables.operators.at("cpu"), ElementsAre("dgemm", "fft3d"));
}

TEST(AgentTables, ReportsEveryErrorWithItsKey)
{
    const Result<AgentTables> tables = parse_agent_tables(R"(
        [[unit_type]]
        name = "a"
        cores_per_unit = 0
        colour = "red"
        [[unit_type]]
        name = "a"
        [environment]
        X = 3
    )");

    ASSERT_FALSE(tables);
    const Error error = tables.error();
    for (const char* field :
         {"unit_type[0].cores_per_unit", "unit_type[0].colour", "unit_type[1].name", "environment.X"}) {
        EXPECT_THAT(error.fields, Contains(Field(&FieldError::field, field)));
    }
}

TEST(AgentTables, SharesGpuMemoryOnlyWhereItSaysSo)
{
    EXPECT_FALSE(parse_agent_tables("").value().gpu_memory.enabled);

    const GpuMemoryConfig config = parse_agent_tables(R"(
        [gpu_memory]
        enabled = true
        gap_bytes = 0
        slice_s = 0.5
        most_overrun_s = 0
        at_once = 2
    )")
                                       .value()
                                       .gpu_memory;
    EXPECT_TRUE(config.enabled);
    EXPECT_EQ(config.gap_bytes, 0);
    EXPECT_EQ(config.turns.slice_s, 0.5);
    EXPECT_EQ(config.turns.most_overrun_s, 0);
    EXPECT_EQ(config.turns.at_once, 2U);
    EXPECT_EQ(GpuMemoryConfig().turns.at_once, 1U);
    EXPECT_FALSE(parse_agent_tables("[gpu_memory]\nenabled = true\nat_once = 0\n"));
    EXPECT_FALSE(parse_agent_tables("[gpu_memory]\nenabled = true\nat_once = 17\n"));
    EXPECT_EQ(config.turns.most_slice_s, gpu::TurnSettings().most_slice_s);
}

TEST(AgentTables, RefusesGpuMemorySettingsThatContradictEachOther)
{
    const Result<AgentTables> tables = parse_agent_tables(R"(
        [environment]
        FATHOM_GPU_SOCKET = "/run/fathom-gpu.sock"
        [gpu_memory]
        enabled = true
        gap_bytes = -1
        slice_s = 9
        most_slice_s = 5
        colour = "red"
    )");

    ASSERT_FALSE(tables);
    const Error error = tables.error();
    for (const char* field :
         {"environment.FATHOM_GPU_SOCKET", "gpu_memory.gap_bytes", "gpu_memory.most_slice_s", "gpu_memory.colour"}) {
        EXPECT_THAT(error.fields, Contains(Field(&FieldError::field, field)));
    }
}

TEST(AgentTables, ReadsLocalUsersOfTheNetworksUsers)
{
    const std::vector<SlurmUserRule> rules = parse_agent_tables(R"(
        [[slurm_user]]
        users = ["ann", "tok_01KAFP6X5T8Z3Q4R5S6T7V8W9Z"]
        local_user = "ann"
        account = "physics"
        qos = "high"
        [[slurm_user]]
        project = "open"
        local_user = "guest"
    )")
                                                 .value()
                                                 .slurm_users;

    ASSERT_EQ(rules.size(), 2U);
    EXPECT_THAT(rules[0].users, ElementsAre("ann", "tok_01KAFP6X5T8Z3Q4R5S6T7V8W9Z"));
    EXPECT_EQ(rules[0].local_user, "ann");
    EXPECT_EQ(rules[0].account, "physics");
    EXPECT_EQ(rules[0].qos, "high");
    EXPECT_EQ(rules[1].project, "open");
    EXPECT_TRUE(rules[1].users.empty());
}

TEST(AgentTables, ReadsUserIdsOfPodsOfTheNetworksUsers)
{
    const std::vector<KubernetesUserRule> rules = parse_agent_tables(R"(
        [[kubernetes_user]]
        users = ["ann", "tok_01KAFP6X5T8Z3Q4R5S6T7V8W9Z"]
        uid = 20001
        gid = 20000
        name = "ann"
        [[kubernetes_user]]
        project = "open"
        uid = 20002
        gid = 20000
    )")
                                                      .value()
                                                      .kubernetes_users;

    ASSERT_EQ(rules.size(), 2U);
    EXPECT_THAT(rules[0].users, ElementsAre("ann", "tok_01KAFP6X5T8Z3Q4R5S6T7V8W9Z"));
    EXPECT_EQ(rules[0].uid, 20001U);
    EXPECT_EQ(rules[0].gid, 20000U);
    EXPECT_EQ(rules[0].name, "ann");
    EXPECT_EQ(rules[1].project, "open");
    EXPECT_EQ(rules[1].name, "20002");
}

TEST(AgentTables, RefusesIdsOfTheSystemForPods)
{
    const Result<AgentTables> tables = parse_agent_tables(R"(
        [[kubernetes_user]]
        uid = 20001
        gid = 20000
        [[kubernetes_user]]
        users = ["bob"]
        uid = 999
        gid = 0
        name = "b b"
        colour = "red"
    )");

    ASSERT_FALSE(tables);
    const Error error = tables.error();
    for (const char* field : {"kubernetes_user[0].users", "kubernetes_user[1].uid", "kubernetes_user[1].gid",
                              "kubernetes_user[1].name", "kubernetes_user[1].colour"}) {
        EXPECT_THAT(error.fields, Contains(Field(&FieldError::field, field)));
    }
}

TEST(AgentTables, RefusesLocalUsersOfNobodyAndOptionsInTheirNames)
{
    const Result<AgentTables> tables = parse_agent_tables(R"(
        [[slurm_user]]
        local_user = "ann"
        [[slurm_user]]
        users = ["bob"]
        account = "physics --uid=0"
        colour = "red"
    )");

    ASSERT_FALSE(tables);
    const Error error = tables.error();
    for (const char* field :
         {"slurm_user[0].users", "slurm_user[1].local_user", "slurm_user[1].account", "slurm_user[1].colour"}) {
        EXPECT_THAT(error.fields, Contains(Field(&FieldError::field, field)));
    }
}

TEST(AgentTables, RefusesWhatIsNotToml)
{
    EXPECT_FALSE(parse_agent_tables("unit_type = [[["));
    EXPECT_FALSE(parse_agent_tables("unit_type = 3"));
    EXPECT_FALSE(parse_agent_tables("a = \'\'\'\x9e\'\'\'\n"));
}

/// What the command line says.
SettingsOutcome settings_of(std::vector<const char*> arguments)
{
    arguments.insert(arguments.begin(), {"fathom-agent", "--state-dir", "/nowhere"});
    return read_settings(agent_settings("fathom-agent", "", true), static_cast<int>(arguments.size()),
                         arguments.data());
}

TEST(AgentSettings, RefuseJobsOfUsersWithoutALocalOneUnlessTheySayOtherwise)
{
    EXPECT_TRUE(make_agent_config(settings_of({})).value().slurm.refuses_unmapped);
    EXPECT_FALSE(make_agent_config(settings_of({"--slurm-unmapped", "run_as"})).value().slurm.refuses_unmapped);
    EXPECT_EQ(settings_of({"--slurm-unmapped", "nobody"}).exit_code, 2);
}

TEST(AgentSettings, NameASlurmrestdOfThisHostWithItsToken)
{
    for (const char* rest : {"unix:/run/slurmrestd/socket", "http://127.0.0.1:6820", "http://[::1]:6820"}) {
        const SlurmConfig slurm =
            make_agent_config(settings_of({"--slurm-rest", rest, "--slurm-token-file", "/etc/fathom/slurm"}))
                .value()
                .slurm;
        EXPECT_EQ(slurm.rest, rest);
        EXPECT_EQ(slurm.token_file, "/etc/fathom/slurm");
    }
    EXPECT_TRUE(make_agent_config(settings_of({})).value().slurm.rest.empty());
    EXPECT_FALSE(make_agent_config(settings_of({"--slurm-rest", "http://127.0.0.1:6820"}))) << "without a token";
    for (const char* rest : {"http://slurm.example.org:6820", "http://127.0.0.1", "http://127.0.0.1:0", "unix:socket",
                             "https://127.0.0.1:6820", "http://127.0.0.1:6820/x", "http://127.0.0.1:6820@evil:80"})
        EXPECT_EQ(settings_of({"--slurm-rest", rest}).exit_code, 2) << rest;
}

TEST(AgentSettings, SayHowLongSlurmMayWaitForNodesOfOneSwitch)
{
    EXPECT_EQ(make_agent_config(settings_of({})).value().slurm.switches_wait_s, 0);
    EXPECT_EQ(make_agent_config(settings_of({"--slurm-switches-wait-s", "300"})).value().slurm.switches_wait_s, 300);
    EXPECT_EQ(settings_of({"--slurm-switches-wait-s", "-1"}).exit_code, 2);
    const auto with_rest = make_agent_config(settings_of(
        {"--slurm-switches-wait-s", "300", "--slurm-rest", "http://127.0.0.1:6820", "--slurm-token-file", "/token"}));
    ASSERT_FALSE(with_rest) << "slurmrestd takes no word of it";
    EXPECT_THAT(with_rest.error().detail, testing::HasSubstr("slurm_switches_wait_s"));
}

TEST(AgentSettings, NameAKubernetesCluster)
{
    const AgentConfig config =
        make_agent_config(settings_of({"--executor", "kubernetes", "--kubernetes-api", "https://api:6443",
                                       "--kubernetes-node-selector", "pool=a,zone=b", "--kubernetes-grace-s", "7"}))
            .value();

    EXPECT_TRUE(config.uses_kubernetes);
    EXPECT_FALSE(config.uses_slurm);
    EXPECT_EQ(config.kubernetes.api, "https://api:6443");
    EXPECT_EQ(config.kubernetes.node_selector, (std::map<std::string, std::string>{{"pool", "a"}, {"zone", "b"}}));
    EXPECT_EQ(config.kubernetes.device_resources.at("cuda"), "nvidia.com/gpu");
    EXPECT_EQ(config.kubernetes.unit_labels.size(), 3U);
    EXPECT_EQ(config.kubernetes.grace_s, 7);
    EXPECT_FALSE(config.kubernetes.takes_job_images) << "with the center's right to pull images";
    EXPECT_TRUE(make_agent_config(settings_of({"--executor", "kubernetes", "--kubernetes-image", "jobs:1",
                                               "--kubernetes-job-images", "any"}))
                    .value()
                    .kubernetes.takes_job_images);
    EXPECT_EQ(settings_of({"--kubernetes-center", "-x"}).exit_code, 2);
}

TEST(AgentSettings, SayWhatJobsSeeOfTheHomeFolder)
{
    const auto home_folder = [](std::vector<const char*> arguments) {
        return make_agent_config(settings_of(std::move(arguments))).value().home_folder;
    };
    EXPECT_EQ(home_folder({}), HomeRule::kReadOnly);
    EXPECT_EQ(home_folder({"--home-folder", "read-only"}), HomeRule::kReadOnly);
    EXPECT_EQ(home_folder({"--home-folder", "hidden"}), HomeRule::kHidden);
    EXPECT_EQ(home_folder({"--home-folder", "open"}), HomeRule::kOpen);
    EXPECT_EQ(settings_of({"--home-folder", "readonly"}).exit_code, 2);
}

TEST(AgentSettings, SayWhereInputsMayComeFrom)
{
    const AgentConfig unset = make_agent_config(settings_of({})).value();
    EXPECT_FALSE(unset.staging.takes_http);
    EXPECT_TRUE(unset.staging.folders.empty());

    const AgentConfig set =
        make_agent_config(settings_of({"--input-http", "on", "--input-folders", "/shared/,/data"})).value();
    EXPECT_TRUE(set.staging.takes_http);
    EXPECT_EQ(set.staging.folders, (std::vector<std::filesystem::path>{"/shared", "/data"}));
    EXPECT_EQ(settings_of({"--input-folders", "shared"}).exit_code, 2);
}

TEST(AgentSettings, SayWhereOutputsMayGo)
{
    const AgentConfig unset = make_agent_config(settings_of({})).value();
    EXPECT_FALSE(unset.staging.sends_http);
    EXPECT_TRUE(unset.staging.output_folders.empty());

    const AgentConfig set =
        make_agent_config(settings_of({"--output-http", "on", "--output-folders", "/results"})).value();
    EXPECT_TRUE(set.staging.sends_http);
    EXPECT_EQ(set.staging.output_folders, (std::vector<std::filesystem::path>{"/results"}));
    EXPECT_FALSE(set.staging.takes_http);
}

TEST(AgentSettings, SayHowMuchOfInputsIsKept)
{
    EXPECT_EQ(make_agent_config(settings_of({})).value().input_cache_bytes, std::nullopt);
    EXPECT_EQ(make_agent_config(settings_of({"--input-cache-bytes", "0"})).value().input_cache_bytes, 0);
    EXPECT_EQ(settings_of({"--input-cache-bytes", "-1"}).exit_code, 2);
}

TEST(AgentSettings, SayWhatAJobMayTakeOfTheDisk)
{
    const AgentConfig unset = make_agent_config(settings_of({})).value();
    EXPECT_EQ(unset.disk_bytes_per_processor, std::nullopt);
    EXPECT_EQ(unset.disk_files_per_processor, std::nullopt);
    EXPECT_EQ(unset.io_write_bytes_per_s_per_processor, 0);

    const AgentConfig set =
        make_agent_config(
            settings_of({"--disk-bytes-per-processor", "0", "--disk-files-per-processor", "5000",
                         "--io-read-bytes-per-s-per-processor", "1", "--io-write-bytes-per-s-per-processor", "2",
                         "--io-reads-per-s-per-processor", "3", "--io-writes-per-s-per-processor", "4"}))
            .value();
    EXPECT_EQ(set.disk_bytes_per_processor, 0);
    EXPECT_EQ(set.disk_files_per_processor, 5000);
    EXPECT_EQ(set.io_read_bytes_per_s_per_processor, 1);
    EXPECT_EQ(set.io_write_bytes_per_s_per_processor, 2);
    EXPECT_EQ(set.io_reads_per_s_per_processor, 3);
    EXPECT_EQ(set.io_writes_per_s_per_processor, 4);
    EXPECT_EQ(settings_of({"--disk-files-per-processor", "many"}).exit_code, 2);
}

} // namespace
} // namespace fathom::agent
