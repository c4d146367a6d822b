#include "core/model/job.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Result<JobSpec> job_with(Json outputs)
{
    return parse_job_spec({{"command", {"true"}}, {"outputs", std::move(outputs)}});
}

Json output(const std::string& path, const std::string& url)
{
    return {{"path", path}, {"url", url}};
}

/// What is wrong with a field; empty: nothing.
std::string fault_of(const std::string& field, Json outputs)
{
    const Result<JobSpec> spec = job_with(std::move(outputs));
    if (spec) return "";
    const Error error = spec.error();
    for (const FieldError& fault : error.fields) {
        if (fault.field == field) return fault.detail;
    }
    return "";
}

TEST(JobOutputs, AreReadAndWritten)
{
    const Json outputs = {output("out/x", "https://h/x?key=1"), output("y", "file:///results/y")};

    const JobSpec spec = job_with(outputs).value();

    EXPECT_EQ(spec.outputs, (std::vector<JobOutput>{{"out/x", "https://h/x?key=1"}, {"y", "file:///results/y"}}));
    EXPECT_EQ(to_json(spec)["outputs"], outputs);
    EXPECT_FALSE(to_json(job_with(Json::array()).value()).contains("outputs"));
}

TEST(JobOutputs, LieInTheWorkingFolderAndGoToFilesThatAreNamed)
{
    EXPECT_THAT(fault_of("outputs[0].path", Json::array({output("/etc/passwd", "https://h/x")})),
                HasSubstr("relative"));
    EXPECT_THAT(fault_of("outputs[0].path", Json::array({output("../x", "https://h/x")})), HasSubstr(".."));
    EXPECT_THAT(fault_of("outputs[0].url", Json::array({output("x", "ftp://h/x")})), HasSubstr("https://"));
    EXPECT_THAT(fault_of("outputs[0].url", Json::array({output("x", "https://ann:geheim@h/x")})), HasSubstr("user"));
    EXPECT_THAT(fault_of("outputs[0].url", Json::array({output("x", "file:///results/")})), HasSubstr("not a folder"));
    EXPECT_THAT(fault_of("outputs[0].sha256", Json::array({{{"path", "x"}, {"url", "https://h/x"}, {"sha256", ""}}})),
                testing::Not(IsEmpty()));
}

TEST(JobOutputs, AreDistinct)
{
    const Json first = output("x", "https://h/x");
    EXPECT_THAT(fault_of("outputs[1].path", {first, output("x", "https://h/y")}), HasSubstr("outputs[0]"));
    EXPECT_THAT(fault_of("outputs[1].url", {first, output("y", "https://h/x")}), HasSubstr("outputs[0]"));
    EXPECT_TRUE(job_with({first, output("y", "https://h/y")}));
}

TEST(StoredOutputs, AreReadAsTheyWereWritten)
{
    const std::vector<StoredOutput> stored{{"out/x", 7, std::string(64, 'a')}};
    const auto read = [](const Json& json) {
        std::vector<FieldError> errors;
        ObjectReader reader(json, "", errors);
        std::vector<StoredOutput> outputs = parse_stored_outputs(reader, errors);
        return value_or_errors(std::move(outputs), std::move(errors), "the report");
    };

    EXPECT_EQ(read({{"outputs", to_json(stored)}}).value(), stored);
    EXPECT_THAT(read(Json::object()).value(), IsEmpty());
    EXPECT_FALSE(
        read({{"outputs", Json::array({{{"path", "x"}, {"size_bytes", -1}, {"sha256", std::string(64, 'a')}}})}}));
    EXPECT_FALSE(read({{"outputs", Json::array({{{"path", "x"}, {"size_bytes", 1}, {"sha256", "none"}}})}}));
    EXPECT_FALSE(
        read({{"outputs", Json::array({{{"path", "../x"}, {"size_bytes", 1}, {"sha256", std::string(64, 'a')}}})}}));
}

} // namespace
} // namespace fathom
