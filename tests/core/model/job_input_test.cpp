#include "core/model/data_location.hpp"
#include "core/model/job.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Json with_inputs(Json inputs)
{
    return {{"command", {"true"}}, {"inputs", std::move(inputs)}};
}

/// Field to what is wrong with it.
std::map<std::string, std::string> faults_of_inputs(Json inputs)
{
    std::map<std::string, std::string> faults;
    const Result<JobSpec> spec = parse_job_spec(with_inputs(std::move(inputs)));
    if (spec) return faults;
    const Error error = spec.error();
    for (const FieldError& fault : error.fields)
        faults[fault.field] = fault.detail;
    return faults;
}

Json input(const std::string& url, const std::string& path)
{
    return {{"url", url}, {"path", path}};
}

std::string fault_of_path(const std::string& path)
{
    const auto faults = faults_of_inputs(Json::array({input("https://data.example/x", path)}));
    const auto fault = faults.find("inputs[0].path");
    return fault == faults.end() ? "" : fault->second;
}

std::string fault_of_url(const std::string& url)
{
    const auto faults = faults_of_inputs(Json::array({input(url, "x")}));
    const auto fault = faults.find("inputs[0].url");
    return fault == faults.end() ? "" : fault->second;
}

TEST(JobInputs, AreReadAndWrittenAsTheyAre)
{
    const std::string digest(64, 'a');
    Json checked = input("file:///shared/b", "b");
    checked["sha256"] = digest;
    checked["size_bytes"] = 7;
    const Json inputs = Json::array({input("https://data.example/a?X-Amz-Signature=1", "in/a.bin"), checked});

    const JobSpec spec = parse_job_spec(with_inputs(inputs)).value();

    EXPECT_THAT(spec.inputs,
                ElementsAre(JobInput{"https://data.example/a?X-Amz-Signature=1", "in/a.bin", "", std::nullopt},
                            JobInput{"file:///shared/b", "b", digest, 7}));
    EXPECT_EQ(to_json(spec)["inputs"], inputs);
    EXPECT_FALSE(to_json(parse_job_spec({{"command", {"true"}}}).value()).contains("inputs"));
}

TEST(JobInputs, AreOutputsOfJobsByTheirNames)
{
    const std::string name = "job:job_01M8BQJSNM8TS8DY6A3W52ZNF5/out/sums.csv";
    const Json short_form = input(name, "in/a.csv");
    const Json with_url = {{"from", name}, {"url", "https://h/a?signature=1"}, {"path", "in/b.csv"}};

    const JobSpec spec = parse_job_spec(with_inputs(Json::array({short_form, with_url}))).value();

    EXPECT_THAT(spec.inputs, ElementsAre(JobInput{"", "in/a.csv", "", std::nullopt, name, {}},
                                         JobInput{"https://h/a?signature=1", "in/b.csv", "", std::nullopt, name, {}}));
    EXPECT_EQ(parse_job_spec(to_json(spec)).value().inputs, spec.inputs) << "as it is stored";
    EXPECT_EQ(parse_output_name(name), (OutputName{{"job_01M8BQJSNM8TS8DY6A3W52ZNF5"}, "out/sums.csv"}));
    EXPECT_EQ(shown_source(spec.inputs[1]), name);
    EXPECT_EQ(shown_source({"https://h/a?signature=1", "a", "", std::nullopt}), "https://h/a");
    for (const char* bad : {"job:", "job:job_01M8BQJSNM8TS8DY6A3W52ZNF5", "job:job_01M8BQJSNM8TS8DY6A3W52ZNF5/",
                            "job:sums/x", "job:job_01M8BQJSNM8TS8DY6A3W52ZNF5/../x"})
        EXPECT_THAT(fault_of_url(bad), HasSubstr("job:ID/path")) << bad;
    Json kept = input("https://h/x", "x");
    kept["kept_at"] = Json::array({"ctr_01M8BQJSNM8TS8DY6A3W52ZNF5"});
    EXPECT_THAT(faults_of_inputs(Json::array({kept})), ElementsAre(Pair("inputs[0].kept_at", testing::_)));
    EXPECT_THAT(faults_of_inputs(Json::array({Json{{"path", "x"}}})), ElementsAre(Pair("inputs[0].url", testing::_)));
}

TEST(JobInputs, StayInTheWorkingFolder)
{
    for (const char* good : {"x", "a/b/c.bin", "with space", "..x", ".hidden"})
        EXPECT_THAT(fault_of_path(good), IsEmpty()) << good;
    EXPECT_THAT(fault_of_path("/etc/passwd"), HasSubstr("relative"));
    for (const char* bad : {"..", "../x", "a/../../x", "a/..", "./x", "a//b", "a/"})
        EXPECT_THAT(fault_of_path(bad), HasSubstr("no .. in it")) << bad;
    EXPECT_THAT(fault_of_path(".fathom-inputs.json"), HasSubstr(".fathom-"));
    EXPECT_THAT(fault_of_path("a\nb"), HasSubstr("control"));
    EXPECT_THAT(fault_of_path(std::string(256, 'a')), HasSubstr("255"));
    EXPECT_THAT(fault_of_path(""), Not(IsEmpty()));
    EXPECT_THAT(fault_of_path(std::string(1025, 'a')), Not(IsEmpty()));
}

TEST(JobInputs, ComeFromUrlsThatSayWhere)
{
    for (const char* good :
         {"https://h/x", "http://h", "https://h/a?b=c@d", "file:///shared/a..b", "s3://s/3", "s3://sets/a@b/..c%"})
        EXPECT_THAT(fault_of_url(good), IsEmpty()) << good;
    EXPECT_THAT(fault_of_url("ftp://h/x"), HasSubstr("https://"));
    EXPECT_THAT(fault_of_url("https:///x"), HasSubstr("no host"));
    EXPECT_THAT(fault_of_url("https://ann:geheim@h/x"), HasSubstr("password"));
    EXPECT_THAT(fault_of_url("https://h/a b"), HasSubstr("spaces"));
    EXPECT_THAT(fault_of_url("file://host/x"), HasSubstr("no host"));
    for (const char* bad : {"s3:///x", "s3://.", "s3://ann@sets/x", "s3://../x"})
        EXPECT_THAT(fault_of_url(bad), HasSubstr("bucket")) << bad;
    for (const char* bad : {"s3://sets", "s3://sets/"})
        EXPECT_THAT(fault_of_url(bad), HasSubstr("name an object")) << bad;
    for (const char* bad : {"s3://sets/../x", "s3://sets/a/./b", "s3://sets/a//b", "s3://sets/a/"})
        EXPECT_THAT(fault_of_url(bad), HasSubstr("no empty part")) << bad;
    EXPECT_THAT(fault_of_url("s3://sets/x?y"), HasSubstr("without ?"));
    EXPECT_THAT(fault_of_url("file:///shared/../etc/passwd"), HasSubstr(".."));
    EXPECT_THAT(fault_of_url("file:///shared/%2e%2e"), HasSubstr("%"));
}

TEST(JobInputs, ReplaceNothing)
{
    const Json a = input("https://h/x", "a");
    const Json below = input("https://h/x", "a/b");
    EXPECT_THAT(faults_of_inputs(Json::array({a, a})), ElementsAre(Pair("inputs[1].path", HasSubstr("inputs[0]"))));
    EXPECT_THAT(faults_of_inputs(Json::array({below, a})), ElementsAre(Pair("inputs[1].path", HasSubstr("inputs[0]"))));

    Json job = with_inputs(Json::array({below}));
    job["files"] = {{"a", "text"}};
    const Error error = parse_job_spec(job).error();
    ASSERT_EQ(error.fields.size(), 1U);
    EXPECT_EQ(error.fields[0].field, "inputs[0].path");
}

TEST(JobInputs, HaveBoundsAndChecksums)
{
    Json wrong = input("https://h/x", "x");
    wrong["sha256"] = "ABC";
    wrong["size_bytes"] = -1;
    EXPECT_THAT(faults_of_inputs(Json::array({wrong})),
                ElementsAre(Pair("inputs[0].sha256", HasSubstr("64")), Pair("inputs[0].size_bytes", testing::_)));
    Json many = Json::array();
    for (int i = 0; i < 65; ++i)
        many.push_back(input("https://h/x", "x" + std::to_string(i)));
    EXPECT_THAT(faults_of_inputs(many), ElementsAre(Pair("inputs", testing::_)));
    Json unknown = input("https://h/x", "x");
    unknown["mode"] = 1;
    EXPECT_THAT(faults_of_inputs(Json::array({unknown})), ElementsAre(Pair("inputs[0].mode", testing::_)));
}

TEST(JobInputs, AreShownWithoutWhatMayBeSecret)
{
    EXPECT_EQ(shown_url("https://h/a/b?X-Amz-Signature=geheim#part"), "https://h/a/b");
    EXPECT_EQ(shown_url("https://ann:geheim@h:8443/a@b"), "https://h:8443/a@b");
    EXPECT_EQ(shown_url("file:///shared/a"), "file:///shared/a");
}

} // namespace
} // namespace fathom
