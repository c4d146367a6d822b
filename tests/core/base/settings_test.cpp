#include "core/base/file.hpp"
#include "core/base/id.hpp"
#include "core/base/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace fathom {
namespace {

SettingsProgram program()
{
    return {"sample",
            "A sample.",
            "SAMPLE_TEST_",
            {{"listen", "127.0.0.1:1", "where to listen", check_address_port},
             {"period_s", "10", "a period", check_number(1, 100)},
             {"key", "", "a secret", nullptr, true}}};
}

SettingsOutcome read(std::vector<const char*> arguments)
{
    arguments.insert(arguments.begin(), "sample");
    return read_settings(program(), static_cast<int>(arguments.size()), arguments.data());
}

/// A file that is gone after the test.
struct TemporaryFile {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("fathom-test-" + new_ulid());
    explicit TemporaryFile(std::string_view content) { EXPECT_TRUE(write_file(path, content)); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { std::filesystem::remove(path); }
};

TEST(Settings, FlagsWinOverTheEnvironmentAndThatOverTheFile)
{
    const TemporaryFile file("listen = \"127.0.0.1:2\"\nperiod_s = 20\nkey = \"k\"\n");
    ::setenv("SAMPLE_TEST_LISTEN", "127.0.0.1:3", 1);
    ::setenv("SAMPLE_TEST_PERIOD_S", "30", 1);

    const SettingsOutcome outcome = read({"--config", file.path.c_str(), "--listen", "127.0.0.1:4"});
    ::unsetenv("SAMPLE_TEST_LISTEN");
    ::unsetenv("SAMPLE_TEST_PERIOD_S");

    ASSERT_EQ(outcome.kind, SettingsOutcome::Kind::kRun);
    EXPECT_EQ(outcome.settings.text("listen"), "127.0.0.1:4");
    EXPECT_DOUBLE_EQ(outcome.settings.number("period_s"), 30);
    EXPECT_EQ(outcome.settings.text("key"), "k");
}

TEST(Settings, ReportsAllErrorsAtOnce)
{
    const TemporaryFile file("surprise = 1\nlisten = \"nowhere\"\n");

    testing::internal::CaptureStderr();
    const SettingsOutcome outcome = read({"--config", file.path.c_str(), "--period-s", "1000"});
    const std::string text = testing::internal::GetCapturedStderr();

    EXPECT_EQ(outcome.kind, SettingsOutcome::Kind::kExit);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(text.find("\"surprise\" is not a setting"), std::string::npos) << text;
    EXPECT_NE(text.find("listen ("), std::string::npos) << text;
    EXPECT_NE(text.find("period_s (--period-s): \"1000\" must be a number between 1 and 100"), std::string::npos)
        << text;
}

TEST(Settings, PrintConfigHidesSecretsAndNamesSources)
{
    testing::internal::CaptureStdout();
    const SettingsOutcome outcome = read({"--print-config", "--key", "topsecret"});
    const std::string text = testing::internal::GetCapturedStdout();

    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(text.find("topsecret"), std::string::npos);
    EXPECT_NE(text.find("listen = \"127.0.0.1:1\"  # default"), std::string::npos) << text;
    EXPECT_NE(text.find("# --key"), std::string::npos) << text;
}

TEST(Settings, MayBeFlagsWithoutAValueWordsAndHidden)
{
    SettingsProgram program{
        .name = "sample", .description = "A sample.", .environment_prefix = "SAMPLE_TEST_", .specs = {}};
    program.specs = {{.key = "force", .default_value = "off", .help = "a flag", .is_flag = true},
                     {.key = "file", .default_value = "", .help = "a word", .word = "FILE"},
                     {.key = "quiet", .default_value = "1", .help = "nobody hears of it", .is_hidden = true}};
    const auto read_words = [&](std::vector<const char*> arguments) {
        arguments.insert(arguments.begin(), "sample");
        return read_settings(program, static_cast<int>(arguments.size()), arguments.data());
    };

    const Settings said = read_words({"--force", "a.txt", "--quiet", "2"}).settings;
    EXPECT_EQ(said.text("force"), "on");
    EXPECT_EQ(said.text("file"), "a.txt");
    EXPECT_EQ(said.text("quiet"), "2");
    EXPECT_EQ(read_words({"--file", "b.txt"}).settings.text("file"), "b.txt");
    EXPECT_EQ(read_words({}).settings.text("force"), "off");

    testing::internal::CaptureStdout();
    read_words({"--help"});
    const std::string help = testing::internal::GetCapturedStdout();
    EXPECT_EQ(help.find("quiet"), std::string::npos) << help;
    EXPECT_NE(help.find("without its flag, too"), std::string::npos) << help;
}

TEST(Settings, AreStillSetByTheirFormerKeys)
{
    SettingsProgram program{
        .name = "sample", .description = "A sample.", .environment_prefix = "SAMPLE_TEST_", .specs = {}};
    program.specs = {{.key = "max_jobs", .default_value = "1", .help = "jobs", .former_key = "most_jobs"},
                     {.key = "listen", .default_value = "", .help = "an address"}};
    const auto read_jobs = [&](std::vector<const char*> arguments) {
        arguments.insert(arguments.begin(), "sample");
        const SettingsOutcome outcome = read_settings(program, static_cast<int>(arguments.size()), arguments.data());
        return outcome.kind == SettingsOutcome::Kind::kRun ? outcome.settings.text("max_jobs") : "refused";
    };
    const TemporaryFile file("most_jobs = 2\n");
    const TemporaryFile both("most_jobs = 2\nmax_jobs = 3\n");

    EXPECT_EQ(read_jobs({"--config", file.path.c_str()}), "2");
    EXPECT_EQ(read_jobs({"--config", file.path.c_str(), "--most-jobs", "4"}), "4");
    EXPECT_EQ(read_jobs({"--max-jobs", "5"}), "5");
    ::setenv("SAMPLE_TEST_MOST_JOBS", "6", 1);
    EXPECT_EQ(read_jobs({"--config", file.path.c_str()}), "6");
    ::setenv("SAMPLE_TEST_MAX_JOBS", "7", 1);
    EXPECT_EQ(read_jobs({}), "7");
    EXPECT_EQ(read_jobs({"--most-jobs", "8"}), "8") << "a flag wins over the environment by either name";
    ::unsetenv("SAMPLE_TEST_MOST_JOBS");
    ::unsetenv("SAMPLE_TEST_MAX_JOBS");

    testing::internal::CaptureStderr();
    EXPECT_EQ(read_jobs({"--config", both.path.c_str()}), "refused");
    EXPECT_EQ(read_jobs({"--most-jobs", "8", "--max-jobs", "9"}), "refused");
    const std::string errors = testing::internal::GetCapturedStderr();
    EXPECT_NE(errors.find("\"most_jobs\" is the former name of \"max_jobs\", which is there, too"), std::string::npos)
        << errors;
    testing::internal::CaptureStdout();
    EXPECT_EQ(read_jobs({"--help"}), "refused");
    EXPECT_EQ(testing::internal::GetCapturedStdout().find("most"), std::string::npos);
}

TEST(AddressPort, KnowsIpv6)
{
    EXPECT_EQ(parse_address_port("[::1]:8443").value().host, "::1");
    EXPECT_EQ(parse_address_port("host:0").value().port, 0);
    for (const char* text : {"", "host", ":1", "host:", "host:65536", "::1:80", "host:80x"})
        EXPECT_FALSE(parse_address_port(text)) << text;
}

} // namespace
} // namespace fathom
