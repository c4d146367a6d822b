#include "core/model/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::UnorderedElementsAre;

Json job(const Json& fields)
{
    Json json = {{"command", {"true"}}};
    json.update(fields);
    return json;
}

JobSpec parsed(const char* fields)
{
    return parse_job_spec(job(Json::parse(fields))).value();
}

std::map<std::string, std::string> faults_of(const char* fields)
{
    std::map<std::string, std::string> faults;
    const Result<JobSpec> spec = parse_job_spec(job(Json::parse(fields)));
    if (spec) return faults;
    const Error error = spec.error();
    for (const FieldError& fault : error.fields)
        faults[fault.field] = fault.detail;
    return faults;
}

TEST(JobSpec, ChoosesItsPlaceByTimeUnlessItSaysOtherwise)
{
    const JobSpec spec = parsed("{}");

    EXPECT_EQ(to_string(spec.prefer), "fastest");
    EXPECT_FALSE(spec.budget);
    EXPECT_EQ(spec.priority, 0);
    EXPECT_TRUE(spec.units.device.empty());
    EXPECT_TRUE(spec.data.sites.empty());
    EXPECT_FALSE(to_json(spec)["data"].contains("compressed"));
}

TEST(JobSpec, TellsNamesOfSecretsOnly)
{
    const JobSpec spec =
        parsed(R"({"environment": {"A": "1"}, "secret_environment": {"KEY": "geheim", "PASSWORD": "x"}})");

    EXPECT_EQ(to_json(spec)["secret_environment"], Json::parse(R"({"KEY": null, "PASSWORD": null})"));
    EXPECT_THAT(to_json(spec).dump(), ::testing::Not(::testing::HasSubstr("geheim")));
    EXPECT_EQ(Json::parse(secrets_text(spec)), Json::parse(R"({"KEY": "geheim", "PASSWORD": "x"})"));
    EXPECT_TRUE(check_secrets_given(spec));
    const JobSpec read_again = parse_job_spec(to_json(spec)).value();
    EXPECT_EQ(secrets_text(read_again), "");
    ASSERT_FALSE(check_secrets_given(read_again));
    EXPECT_EQ(check_secrets_given(read_again).error().fields.size(), 2U);
    EXPECT_FALSE(to_json(parsed("{}")).contains("secret_environment"));
}

TEST(JobSpec, BoundsSecrets)
{
    EXPECT_THAT(faults_of(R"({"environment": {"A": "1"}, "secret_environment": {"A": "2", "1B": "3", "C": 4}})"),
                ::testing::UnorderedElementsAre(
                    ::testing::Pair("secret_environment.A", "stands in environment, too"),
                    ::testing::Pair("secret_environment.1B", "is not the name of an environment variable"),
                    ::testing::Pair("secret_environment.C", ::testing::_)));
    const Json large = {{"secret_environment", {{"A", std::string(40000, 'x')}, {"B", std::string(40000, 'x')}}}};
    EXPECT_THAT(faults_of(large.dump().c_str()),
                ::testing::ElementsAre(::testing::Pair("secret_environment", "must have at most 65536 bytes in all")));
}

TEST(JobSpec, IsReadAndWrittenWithoutLoss)
{
    const JobSpec spec = parsed(R"({
        "units": {"device": "gpu", "isa": ["avx512f", "amx_tile"], "memory_bytes": 17179869184,
                  "gpu_memory": {"persistent_bytes": 4294967296, "temporary_bytes": 1073741824}, "min": 2, "max": 8},
        "data": {"sites": ["alpha", "beta"], "compressed": true}, "prefer": {"time": 0.7, "cost": 0.3},
        "deadline": "2026-12-01T18:00:00Z", "budget": {"amount": "12.50", "currency": "EUR"}, "priority": -5,
        "gang": {"id": "pair", "size": 2}})");
    const Json written = to_json(spec);

    EXPECT_EQ(to_json(parse_job_spec(written).value()), written);
    EXPECT_EQ(written["units"]["device"], "gpu");
    EXPECT_EQ(written["units"]["isa"], Json({"avx512f", "amx_tile"}));
    EXPECT_EQ(written["units"]["memory_bytes"], 17179869184);
    EXPECT_EQ(written["units"]["gpu_memory"]["temporary_bytes"], 1073741824);
    EXPECT_EQ(written["data"]["sites"], Json({"alpha", "beta"}));
    EXPECT_EQ(written["data"]["compressed"], true);
    EXPECT_EQ(written["prefer"], (Json{{"time", 0.7}, {"cost", 0.3}, {"energy", 0.0}}));
    EXPECT_EQ(written["budget"], (Json{{"amount", "12.5"}, {"currency", "EUR"}}));
    EXPECT_EQ(written["priority"], -5);
    EXPECT_EQ(written["gang"], (Json{{"id", "pair"}, {"size", 2}}));
}

TEST(JobSpec, APreferenceIsANameOrWeights)
{
    EXPECT_EQ(parsed(R"({"prefer": "cheapest"})").prefer.cost, 1);
    EXPECT_EQ(parsed(R"({"prefer": "greenest"})").prefer.energy, 1);
    EXPECT_EQ(to_string(parsed(R"({"prefer": {"energy": 1}})").prefer), "greenest");
    EXPECT_EQ(to_string(parsed(R"({"prefer": {"time": 0.5, "cost": 0.5}})").prefer), "time 0.5, cost 0.5");
    // A third is no decimal number.
    EXPECT_THAT(faults_of(R"({"prefer": {"time": 0.3333333, "cost": 0.3333333, "energy": 0.3333333}})"), ElementsAre());
}

TEST(JobSpec, WeightsSumToOne)
{
    EXPECT_THAT(faults_of(R"({"prefer": {"time": 0.5, "cost": 0.4}})")["prefer"], HasSubstr("must sum to 1, not 0.9"));
    EXPECT_THAT(faults_of(R"({"prefer": {}})")["prefer"], HasSubstr("not 0.0"));
    EXPECT_THAT(faults_of(R"({"prefer": {"time": 1.5, "cost": -0.5, "speed": 1}})"),
                UnorderedElementsAre(Key("prefer.time"), Key("prefer.cost"), Key("prefer.speed")));
    EXPECT_THAT(faults_of(R"({"prefer": "best"})")["prefer"], HasSubstr("\"cheapest\""));
    EXPECT_THAT(faults_of(R"({"prefer": 7})"), ElementsAre(Key("prefer")));
}

TEST(JobSpec, ABudgetOfNothingIsRefused)
{
    EXPECT_THAT(faults_of(R"({"budget": {"amount": "0", "currency": "EUR"}})")["budget.amount"],
                HasSubstr("must be above 0"));
    EXPECT_THAT(faults_of(R"({"budget": {"amount": "-3", "currency": "EUR"}})")["budget.amount"],
                HasSubstr("must not be negative"));
    EXPECT_THAT(faults_of(R"({"budget": 12})"), ElementsAre(Key("budget")));
}

TEST(JobSpec, DataIsBoundedInAll)
{
    EXPECT_THAT(faults_of(R"({"data": {"in": [{"bytes": 6e17}, {"bytes": 6e17}]}})")["data.in"], HasSubstr("in all"));
    EXPECT_THAT(faults_of(R"({"data": {"in": [{"bytes": 4e17}, {"bytes": 4e17}]}})"), ElementsAre());
}

TEST(JobSpec, ContradictionsAreFoundWhenItIsRead)
{
    EXPECT_THAT(faults_of(R"({"units": {"center": "gamma"}, "data": {"sites": ["alpha", "beta"]}})")["units.center"],
                HasSubstr("not among data.sites"));
    EXPECT_THAT(faults_of(R"({"units": {"center": "beta"}, "data": {"sites": ["alpha", "beta"]}})"), ElementsAre());
    EXPECT_THAT(faults_of(R"({"units": {"min": 5, "max": 2}})"), ElementsAre(Key("units.max")));
    EXPECT_THAT(faults_of(R"({"units": {"count": 9, "max": 8}})")["units.count"], HasSubstr("allow 1 to 8"));
    EXPECT_THAT(faults_of(R"({"units": {"count": 1, "min": 2}})"), ElementsAre(Key("units.count")));
    EXPECT_THAT(faults_of(R"({"units": {"count": 2000}})"), ElementsAre()) << "the usual limit is no wish";
    EXPECT_EQ(parsed(R"({"units": {"count": 2000}})").units.max, 2000);
}

TEST(JobSpec, ANameMayMeanACenterOfAnId)
{
    EXPECT_THAT(faults_of(R"({"units": {"center": "alpha"}, "data": {"sites": ["ctr_01ARZ3NDEKTSV4RRFFQ69G5FAV"]}})"),
                ElementsAre());
}

TEST(JobSpec, IsNamedAfterItsProgram)
{
    const auto name_for = [](const std::string& program) {
        const JobSpec spec = parse_job_spec({{"command", {program}}}).value();
        EXPECT_EQ(parse_job_spec(Json::parse(to_json(spec).dump())).value().name, spec.name);
        return spec.name;
    };
    EXPECT_EQ(name_for("/opt/bin/pw.x"), "pw.x");
    EXPECT_EQ(name_for("folder/"), "job");
    EXPECT_EQ(name_for(std::string(199, 'a') + "\u00fc"), std::string(199, 'a')) << "never half a letter";
}

TEST(JobSpec, GpuMemoryIsOfGpusAndHasAnAmount)
{
    EXPECT_EQ(parsed(R"({"units": {"gpu_memory": {"persistent_bytes": 5}}})").units.gpu_memory.all_bytes(), 5);
    EXPECT_THAT(faults_of(R"({"units": {"device": "cpu", "gpu_memory": {"persistent_bytes": 5}}})"),
                ElementsAre(Key("units.gpu_memory")));
    EXPECT_THAT(faults_of(R"({"units": {"gpu_memory": {"temporary_bytes": -1, "gap": 3}}})"),
                UnorderedElementsAre(Key("units.gpu_memory.persistent_bytes"), Key("units.gpu_memory.temporary_bytes"),
                                     Key("units.gpu_memory.gap")));
}

TEST(JobSpec, SharingIsAllowedUnlessTheJobRefusesIt)
{
    EXPECT_FALSE(parsed("{}").units.is_exclusive());
    EXPECT_FALSE(parsed(R"({"units": {"sharing": "allowed"}})").units.is_exclusive());
    const JobSpec exclusive = parsed(R"({"units": {"sharing": "exclusive"}})");
    EXPECT_TRUE(exclusive.units.is_exclusive());
    EXPECT_EQ(to_json(exclusive)["units"]["sharing"], "exclusive");
    EXPECT_FALSE(to_json(parsed("{}"))["units"].contains("sharing"));
    EXPECT_THAT(faults_of(R"({"units": {"sharing": "never"}})"), ElementsAre(Key("units.sharing")));
}

TEST(JobSpec, EveryFaultIsSaidAtOnce)
{
    EXPECT_THAT(faults_of(R"({"units": {"device": "tpu", "isa": [""], "memory_bytes": -1}, "priority": 101,
                             "gang": {"id": "", "size": 1}, "data": {"sites": [7]}, "budget": {"amount": "x"}})"),
                UnorderedElementsAre(Key("units.device"), Key("units.isa[0]"), Key("units.memory_bytes"),
                                     Key("priority"), Key("gang.id"), Key("gang.size"), Key("data.sites[0]"),
                                     Key("budget.amount"), Key("budget.currency")));
}

} // namespace
} // namespace fathom
