#include "agent/config/agent_config.hpp"
#include "agent/executor/s3_grants.hpp"
#include "core/base/file.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kTablesOfStore = R"(
[s3]
endpoint = "https://s3.example"
region = "center-1"
key_file = "/etc/fathom/s3-key"
[[s3_access]]
project = "alpha"
read = ["s3://sets", "s3://shared/alpha/"]
write = ["s3://results/alpha"]
)";

S3Store store_of(const S3Config& config)
{
    return {.access = {.endpoint = config.endpoint,
                       .region = config.region,
                       .access_key = "key",
                       .secret_key = "not-told",
                       .ca_file = {}},
            .rules = config.access};
}

S3Grant grant_of(const AttemptOrder& order, const std::string& key)
{
    const S3Config config = parse_agent_tables(kTablesOfStore).value().s3;
    return with_s3_grants({}, store_of(config), order, Timestamp{}, std::chrono::seconds(60)).s3.at(key);
}

AttemptOrder order_of(const std::string& project)
{
    AttemptOrder order;
    order.owner.project = project;
    return order;
}

S3Grant grant_to_read(const std::string& project, const std::string& url)
{
    AttemptOrder order = order_of(project);
    order.inputs = {{url, "x", "", std::nullopt}};
    return grant_of(order, "GET " + url);
}

TEST(S3Grants, AreForWhatTheProjectMayRead)
{
    EXPECT_THAT(grant_to_read("alpha", "s3://sets/x").url, StartsWith("https://s3.example/sets/x?"));
    EXPECT_THAT(grant_to_read("alpha", "s3://shared/alpha/deep/x").url, HasSubstr("X-Amz-Expires=60&"));
    for (const char* url : {"s3://sets-of-others/x", "s3://shared/beta/x", "s3://results/alpha/x"}) {
        const S3Grant refused = grant_to_read("alpha", url);
        EXPECT_EQ(refused.url, "") << url;
        EXPECT_THAT(refused.refusal, HasSubstr("s3_access")) << url;
    }
    EXPECT_EQ(grant_to_read("beta", "s3://sets/x").url, "");
    EXPECT_EQ(grant_to_read("", "s3://sets/x").url, "");
}

TEST(S3Grants, AreForWhatTheProjectMayWrite)
{
    AttemptOrder order = order_of("alpha");
    order.outputs = {{"x", "s3://results/alpha/x"}, {"y", "s3://sets/y"}, {"z", "https://h/z"}};

    EXPECT_THAT(grant_of(order, "PUT s3://results/alpha/x").url, StartsWith("https://s3.example/results/alpha/x?"));
    EXPECT_EQ(grant_of(order, "PUT s3://sets/y").url, "") << "what may be read only";
    const StagingRule none = with_s3_grants({}, {}, order, Timestamp{}, std::chrono::seconds(60));
    EXPECT_EQ(none.s3.size(), 2U);
    EXPECT_THAT(none.s3.at("PUT s3://sets/y").refusal, HasSubstr("no object store"));
}

TEST(S3Grants, AreForNoOutputOfAJobThatMayOutliveThem)
{
    AttemptOrder order = order_of("alpha");
    order.outputs = {{"x", "s3://results/alpha/x"}};
    order.inputs = {{"s3://sets/x", "in", "", std::nullopt}};
    order.wall_limit_s = kMaxWallLimitOfSigned_s;
    EXPECT_NE(grant_of(order, "PUT s3://results/alpha/x").url, "");

    order.wall_limit_s = kMaxWallLimitOfSigned_s + 1;

    EXPECT_THAT(grant_of(order, "PUT s3://results/alpha/x").refusal, HasSubstr("6 days and 23 hours"));
    EXPECT_NE(grant_of(order, "GET s3://sets/x").url, "") << "which is fetched as it starts";
}

TEST(S3Grants, AreNotGivenWhereJobsCouldReadTheKeyUnlessTheyMay)
{
    AttemptOrder order = order_of("alpha");
    order.inputs = {{"s3://sets/x", "x", "", std::nullopt}};
    const auto grant_by = [&](const S3Store& store) {
        return with_s3_grants({}, store, order, Timestamp{}, std::chrono::seconds(60)).s3.at("GET s3://sets/x");
    };
    S3Config config = parse_agent_tables(kTablesOfStore).value().s3;
    EXPECT_FALSE(config.jobs_may_read_key);

    const S3Store refusing = in_reach_of_jobs(store_of(config));
    EXPECT_EQ(grant_by(refusing).url, "");
    EXPECT_THAT(grant_by(refusing).refusal, HasSubstr("jobs_may_read_key"));
    EXPECT_EQ(s3_facts(refusing), Json({{"s3", false}, {"s3_refusal", refusing.refusal}}));

    S3Store open = store_of(config);
    open.jobs_may_read_key = true;
    EXPECT_NE(grant_by(in_reach_of_jobs(open)).url, "");
    EXPECT_EQ(s3_facts(in_reach_of_jobs(open)), Json({{"s3", true}, {"s3_jobs_may_read_key", true}}));
    EXPECT_EQ(s3_facts(in_reach_of_jobs({})), Json({{"s3", false}})) << "there is no store";
}

TEST(S3Grants, GoWithTheOrderAndWithoutTheKey)
{
    AttemptOrder order = order_of("alpha");
    order.inputs = {{"s3://sets/x", "x", "", std::nullopt}};
    const S3Store store = store_of(parse_agent_tables(kTablesOfStore).value().s3);
    const StagingRule rule = with_s3_grants({}, store, order, Timestamp{}, std::chrono::seconds(60));

    const std::string text = to_json(rule).dump();

    EXPECT_EQ(transfer_url(read_staging_rule(Json::parse(text)).value(), "GET", "s3://sets/x").value(),
              rule.s3.at("GET s3://sets/x").url);
    EXPECT_THAT(text, testing::Not(HasSubstr("not-told")));
    EXPECT_EQ(transfer_url(rule, "PUT", "s3://sets/x").error().code, Errc::kInvalid);
    EXPECT_EQ(transfer_url(rule, "GET", "https://h/x").value(), "https://h/x");
}

TEST(S3Tables, SayWhatIsWrong)
{
    const auto errors_of = [](const std::string& toml) {
        std::string all;
        const Result<AgentTables> tables = parse_agent_tables(toml);
        if (tables) return all;
        for (const FieldError& error : tables.error().fields)
            all += error.field + " " + error.detail + "\n";
        return all;
    };

    EXPECT_EQ(errors_of(kTablesOfStore), "");
    EXPECT_THAT(errors_of("[s3]\nendpoint = \"s3.example\"\nregion = \"r\"\nkey_file = \"k\"\n"),
                HasSubstr("s3.endpoint"));
    EXPECT_THAT(errors_of("[[s3_access]]\nproject = \"a\"\nread = [\"s3://b\"]\n"), HasSubstr("with an [s3] table"));
    EXPECT_THAT(errors_of(std::string(kTablesOfStore) + "[[s3_access]]\nproject = \"b\"\n"),
                HasSubstr("s3_access[1].read"));
    EXPECT_THAT(errors_of(std::string(kTablesOfStore) + "[[s3_access]]\nproject = \"b\"\nread = [\"s3://\"]\n"),
                HasSubstr("s3://bucket/key"));
}

TEST(S3Stores, TakeTheirKeyFromAFileThatNobodyElseReads)
{
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "key";
    const S3Config config{.endpoint = "https://s3.example", .region = "r", .key_file = file, .access = {}};
    EXPECT_THAT(open_s3_store(config).error().detail, HasSubstr("s3.key_file"));

    write_file(file, "key\nsecret\n", 0644).value();
    EXPECT_THAT(open_s3_store(config).error().detail, HasSubstr("chmod 600"));
    write_file(file, "key\n", 0600).value();
    EXPECT_THAT(open_s3_store(config).error().detail, HasSubstr("a line each"));
    write_file(file, "key\nsecret\n", 0600).value();

    EXPECT_EQ(open_s3_store(config).value().access.secret_key, "secret");
    EXPECT_EQ(open_s3_store({}).value().access.endpoint, "");
}

} // namespace
} // namespace fathom::agent
