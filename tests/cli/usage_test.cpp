#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class TemporaryFile {
  public:
    TemporaryFile(const std::string& name, const std::string& content)
        : path_(std::filesystem::path(testing::TempDir()) / name)
    {
        write_file(path_, content).value();
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

TEST(Usage, HelpOfEachCommandHasAnExample)
{
    const std::vector<std::vector<std::string>> commands{{"center", "list"},
                                                         {"center", "drain"},
                                                         {"unit", "list"},
                                                         {"operator", "show"},
                                                         {"probe", "run"},
                                                         {"probe", "task", "create"},
                                                         {"policy", "list"},
                                                         {"policy", "activate"},
                                                         {"policy", "try"},
                                                         {"policy", "add"},
                                                         {"score", "list"},
                                                         {"score", "history"},
                                                         {"scaling", "show"},
                                                         {"window", "list"},
                                                         {"job", "submit"},
                                                         {"job", "preview"},
                                                         {"job", "wait"},
                                                         {"job", "logs"},
                                                         {"job", "explain"},
                                                         {"token", "create"},
                                                         {"event", "watch"},
                                                         {"center", "enrol-token"},
                                                         {"enrolment-token", "create"},
                                                         {"version"}};
    for (std::vector<std::string> command : commands) {
        command.emplace_back("--help");
        const Ran ran = fathom(command);
        EXPECT_EQ(ran.code, 0) << command[0];
        EXPECT_THAT(ran.out, HasSubstr("Example:\n  fathom " + command[0])) << command[0];
        EXPECT_THAT(ran.err, IsEmpty());
    }
}

TEST(Usage, TheWholeHelpDocumentsEnvironmentAndExitCodes)
{
    EXPECT_THAT(fathom({"--help"}).out,
                AllOf(HasSubstr("FATHOM_TOKEN_FILE"), HasSubstr("Exit codes"), HasSubstr("130")));
}

TEST(Usage, WrongUseIsTwoAndSaysWhereToLook)
{
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{},
                                               {"job"},
                                               {"jobs"},
                                               {"job", "show"},
                                               {"job", "list", "--nope"},
                                               {"job", "list", "--output", "xml"},
                                               {"job", "show", ""},
                                               {"center", "list", "--", "true"},
                                               {"token", "create", "--name", "x", "--role", "king"}}) {
        const Ran ran = fathom(arguments);
        EXPECT_EQ(ran.code, 2) << testing::PrintToString(arguments);
        EXPECT_THAT(ran.err, AllOf(StartsWith("fathom: "), HasSubstr("--help"))) << testing::PrintToString(arguments);
        EXPECT_THAT(ran.out, IsEmpty());
    }
}

TEST(Usage, ATokenIsNeverAFlagsValue)
{
    EXPECT_EQ(fathom({"job", "list", "--token", "fth_secret"}).code, 2);
}

TEST(Usage, VersionNeedsNoServer)
{
    EXPECT_EQ(fathom({"version"}).out, "fathom " FATHOM_VERSION "\n");
    EXPECT_EQ(fathom({"--version"}).code, 0);
}

TEST(Usage, WithoutATokenItSaysHowToGiveOne)
{
    const Ran ran = fathom({"job", "list"});

    EXPECT_EQ(ran.code, 4);
    EXPECT_THAT(ran.err, AllOf(StartsWith("fathom: no token is given\n"), HasSubstr("FATHOM_TOKEN_FILE")));
}

TEST(Usage, NamesTheFileAndEveryBadFieldOfAJob)
{
    const TemporaryFile file("bad.yaml", "comand: [true]\nunits: {count: 0}\noperators: [{count: 3}]\n");
    const Ran ran = fathom({"job", "submit", file.path()});

    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err,
                AllOf(StartsWith("fathom: " + file.path() + ": "), HasSubstr("  comand: "),
                      HasSubstr("  units.count: "), HasSubstr("  operators[0].id: "), HasSubstr("  command: ")));
}

TEST(Usage, PointsIntoAFileThatIsNotYaml)
{
    const TemporaryFile file("broken.yaml", "command: [true\nname: x\n");
    const Ran ran = fathom({"job", "submit", file.path()});

    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, AllOf(HasSubstr(file.path()), HasSubstr("line 2")));
}

TEST(Usage, ChecksTheFlagsOfAJobBeforeAnythingIsSent)
{
    const auto refusal_of = [](std::vector<std::string> flags) {
        flags.insert(flags.begin(), {"job", "submit"});
        const Ran ran = fathom(flags);
        EXPECT_EQ(ran.code, 2);
        return ran.err;
    };
    EXPECT_THAT(refusal_of({}), HasSubstr("nothing to run"));
    EXPECT_THAT(refusal_of({"--units", "some", "--", "true"}), HasSubstr("--units \"some\""));
    EXPECT_THAT(refusal_of({"--env", "novalue", "--", "true"}), HasSubstr("--env \"novalue\""));
    EXPECT_THAT(refusal_of({"--env", "1X=2", "--", "true"}), HasSubstr("environment.1X"));
    EXPECT_THAT(refusal_of({"--input", "https://data.example/x", "--", "true"}), HasSubstr("--input must be URL=PATH"));
    EXPECT_THAT(refusal_of({"--input", "https://data.example/x?a=b=../x", "--", "true"}), HasSubstr("inputs[0].path"));
    EXPECT_THAT(refusal_of({"--upload", "out/x", "--", "true"}), HasSubstr("--upload must be PATH=URL"));
    EXPECT_THAT(refusal_of({"--upload", "../x=https://data.example/x?a=b", "--", "true"}),
                HasSubstr("outputs[0].path"));
    EXPECT_THAT(refusal_of({"--secret-env", "UNSET", "--", "true"}), HasSubstr("read -rs UNSET"));
    EXPECT_THAT(refusal_of({"--operators", "dgemm", "--", "true"}), HasSubstr("dgemm=COUNT"));
    EXPECT_THAT(refusal_of({"job.yaml", "--", "true"}), HasSubstr("not both"));
    EXPECT_THAT(refusal_of({"no-such-file.yaml"}), HasSubstr("no-such-file.yaml"));
}

TEST(Place, WithStepsItSaysWhetherTheJobWouldBetterRunInThem)
{
    const TemporaryFile job("steps_job.yaml", "command: [a]\n");
    const TemporaryFile steps("steps.yaml", "- name: select\n  operators: [{id: sort}]\n  out_bytes: 1.0e9\n"
                                            "- name: combine\n  operators: [{id: dgemm}]\n");
    const FakeServer server(
        {{"POST /api/v1/placements:preview", {answer(200, R"({"decision": {"winner": null, "candidates": []}, "split": [
        {"center": "alpha", "run": "steps", "whole_on": "GPU", "cpu_s": 42, "gpu_s": 11, "total_s": 5, "passing_s": 2,
         "reason": "", "steps": [{"name": "select", "cpu_s": 2, "gpu_s": 10, "run_on": "CPU", "passing_s": 2},
                                 {"name": "combine", "cpu_s": 40, "gpu_s": 1, "run_on": "GPU", "passing_s": 0}]},
        {"center": "beta", "run": null, "reason": "no transfer was timed", "steps": []}]})")}}});

    const Ran ran = fathom(server, {"place", job.path(), "--steps", steps.path()});
    const Ran changed = fathom(server, {"place", job.path(), "--steps", steps.path(), "--without", "beta"});

    EXPECT_THAT(ran.out,
                AllOf(HasSubstr("Whole or in steps"), HasSubstr("- alpha: in steps, "), HasSubstr("select on CPU: "),
                      HasSubstr("combine on GPU: "), HasSubstr("- beta: no transfer was timed")));
    ASSERT_EQ(server.requests().size(), 1U) << "what is refused is not asked";
    const Json body = Json::parse(server.requests()[0].body);
    EXPECT_EQ(body["steps"].size(), 2U);
    EXPECT_EQ(body["steps"][0]["out_bytes"], 1e9);
    EXPECT_THAT(changed.err, HasSubstr("--steps asks about the job as it is"));
}

} // namespace
} // namespace fathom::cli::test
