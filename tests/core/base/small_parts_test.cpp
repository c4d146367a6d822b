#include "core/base/argument_pointers.hpp"
#include "core/base/clock.hpp"
#include "core/base/csv_field.hpp"
#include "core/base/escape_markup.hpp"
#include "core/base/file.hpp"
#include "core/base/hex.hpp"
#include "core/base/id.hpp"
#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "core/base/metrics.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/process_limits.hpp"
#include "core/base/secret.hpp"
#include "core/base/ulid_time.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/base/wait_for_child.hpp"
#include "core/base/yaml.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fathom {
namespace {

TEST(Rfc3339, SurvivesTheWayThroughText)
{
    const Timestamp time = parse_rfc3339("2026-12-01T18:00:00.123456Z").value();

    EXPECT_EQ(format_rfc3339(time), "2026-12-01T18:00:00.123456Z");
    EXPECT_EQ(parse_rfc3339("2026-12-01T20:30:00.123456+02:30").value(), time);
    EXPECT_EQ(format_rfc3339(parse_rfc3339("2024-02-29T00:00:00Z").value()), "2024-02-29T00:00:00.000000Z");
}

TEST(Rfc3339, RefusesWhatIsNoTime)
{
    for (const char* text : {"", "2026-12-01", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-12-01T24:00:00Z",
                             "2026-12-01T00:00:00", "2026-12-01T00:00:00Zx", "2026-12-01T00:00:00.Z", "tomorrow"})
        EXPECT_FALSE(parse_rfc3339(text)) << text;
}

TEST(Rfc3339, WhatIsReadCanBeWrittenAndReadAgain)
{
    for (const char* text : {"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59+00:01"}) {
        const Timestamp time = parse_rfc3339(text).value();
        EXPECT_EQ(parse_rfc3339(format_rfc3339(time)).value(), time) << text;
    }
    for (const char* text : {"9999-12-31T23:59:59-23:59", "0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01"})
        EXPECT_FALSE(parse_rfc3339(text)) << text;
}

TEST(CsvField, OfANameIsNoFormula)
{
    const auto field = [](std::string_view name) {
        std::string text;
        append_csv_name(text, name);
        return text;
    };

    EXPECT_EQ(field("=HYPERLINK(\"https://h\")"), "\"'=HYPERLINK(\"\"https://h\"\")\"");
    for (const char* name : {"+1+1", "-1+1", "@SUM(A1)", "\t=1"})
        EXPECT_EQ(field(name), "'" + std::string(name));
    EXPECT_EQ(field("\r=1"), "\"'\r=1\"");
    for (const char* name : {"", "-1.5", "core", "a=b"})
        EXPECT_EQ(field(name), name);
}

TEST(Utf8Prefix, EndsWhereACharacterEnds)
{
    EXPECT_EQ(utf8_prefix("abc", 5), "abc");
    EXPECT_EQ(utf8_prefix("abc", 2), "ab");
    EXPECT_EQ(utf8_prefix("计算", 6), "计算");
    EXPECT_EQ(utf8_prefix("计算", 5), "计");
    EXPECT_EQ(utf8_prefix("计算", 4), "计");
    EXPECT_EQ(utf8_prefix("计算", 2), "");
}

TEST(Ulid, AscendsWithinAProcessAndNeverRepeats)
{
    std::set<std::string> seen;
    std::string last;
    for (int i = 0; i < 10000; ++i) {
        const std::string ulid = new_ulid();
        EXPECT_LT(last, ulid);
        EXPECT_TRUE(is_ulid(ulid)) << ulid;
        last = ulid;
        seen.insert(ulid);
    }
    EXPECT_EQ(seen.size(), 10000U);
}

TEST(Ulid, TellsWhenItWasMade)
{
    EXPECT_EQ(format_rfc3339(ulid_time("job_01KAFP6X5T8Z3Q4R5S6T7V8W9X")), "2025-11-20T03:51:26.650000Z");

    const Timestamp before = SystemClock().now();
    const Timestamp made = ulid_time(JobId::make().value);

    EXPECT_GT(made, before - std::chrono::seconds(1));
    EXPECT_LT(made, SystemClock().now() + std::chrono::seconds(60)) << "those of one process run ahead a little";
}

TEST(Ulid, TheFirstOfAMillisecondDividesTheEarlierFromTheOthers)
{
    const Timestamp at = ulid_time("job_01KAFP6X5T8Z3Q4R5S6T7V8W9X");

    EXPECT_EQ(first_ulid_of(at), "01KAFP6X5T0000000000000000");
    EXPECT_EQ(first_ulid_of(at + std::chrono::microseconds(999)), "01KAFP6X5T0000000000000000");
    EXPECT_EQ(first_ulid_of(at + std::chrono::milliseconds(1)), "01KAFP6X5V0000000000000000");
    EXPECT_EQ(first_ulid_of(Timestamp(std::chrono::seconds(-5))), std::string(26, '0'));
    EXPECT_EQ(first_ulid_of(Timestamp::max()), "7ZZZZZZZZZ0000000000000000");
    EXPECT_TRUE(is_ulid(first_ulid_of(Timestamp::max())));
}

TEST(Ids, OfOneKindAreNotOfAnother)
{
    const JobId id = JobId::make();

    EXPECT_EQ(JobId::parse(id.value), id);
    EXPECT_FALSE(AttemptId::parse(id.value));
    EXPECT_FALSE(JobId::parse("job_"));
    EXPECT_FALSE(JobId::parse("job_01J00000000000000000000lower"));
    EXPECT_FALSE(JobId::parse("job_'; DROP TABLE job; --000000"));
}

TEST(Base64, DecodesWhatItEncoded)
{
    for (const std::string& data : {std::string(), std::string("a"), std::string("ab"), std::string("abc"),
                                    std::string("\0\xff\n", 3), std::string(1000, 'x')}) {
        const Base64Decoded decoded = base64_decode(base64_encode(data));
        EXPECT_TRUE(decoded.ok);
        EXPECT_EQ(decoded.data, data);
    }
    EXPECT_FALSE(base64_decode("a").ok);
    EXPECT_FALSE(base64_decode("a$==").ok);
    for (const char* other : {"SG=sbG8=", "SGVsbB==", "====", "    ", "SGVsbG8=\n\n\n\n"})
        EXPECT_FALSE(base64_decode(other).ok) << other;
}

TEST(Hex, HasTwoLowerCaseDigitsForEachByte)
{
    std::string text = "0x";
    for (const int byte : {0x00, 0x0a, 0x7f, 0xff})
        append_hex(text, static_cast<unsigned char>(byte));

    EXPECT_EQ(text, "0x000a7fff");
}

TEST(Hex, ReadsDigitsOfEitherCase)
{
    EXPECT_EQ(parse_hex_byte('0', '0'), 0x00);
    EXPECT_EQ(parse_hex_byte('0', 'a'), 0x0a);
    EXPECT_EQ(parse_hex_byte('7', 'F'), 0x7f);
    EXPECT_EQ(parse_hex_byte('F', 'f'), 0xff);
}

TEST(Hex, ReadsNothingWithoutTwoDigits)
{
    for (const char c : {'g', 'G', ' ', '-', '/', ':', '@', '`', '\0'}) {
        EXPECT_FALSE(parse_hex_byte(c, '0')) << c;
        EXPECT_FALSE(parse_hex_byte('0', c)) << c;
    }
}

TEST(ReapChild, TellsHowTheChildEnded)
{
    const pid_t child = ::fork();
    if (child == 0) ::_exit(3);
    ASSERT_GT(child, 0);

    int status = 0;
    EXPECT_EQ(reap_child(child, status), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(ReapChild, FailsWithoutSuchAChild)
{
    int status = 7;
    EXPECT_EQ(reap_child(::getpid(), status), -1); // nobody is the own child
    EXPECT_EQ(status, 7);
}

TEST(ArgumentPointers, EndWithANullPointer)
{
    std::vector<std::string> texts{"program", ""};

    const std::vector<char*> pointers = argument_pointers(texts);

    ASSERT_EQ(pointers.size(), 3U);
    EXPECT_STREQ(pointers[0], "program");
    EXPECT_STREQ(pointers[1], "");
    EXPECT_EQ(pointers[2], nullptr);
}

TEST(Sha256, OfAKnownText)
{
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Secrets, AreLongAndDiffer)
{
    EXPECT_EQ(new_secret("fth_").size(), 4U + 43U);
    EXPECT_NE(new_secret(""), new_secret(""));
}

TEST(WriteFile, LeavesPipesAndDevicesInPlace)
{
    const std::string path = testing::TempDir() + "write_file_pipe";
    ::unlink(path.c_str());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int reader = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);

    ASSERT_TRUE(write_file(path, "through"));

    EXPECT_TRUE(std::filesystem::is_fifo(path));
    std::array<char, 16> text{};
    EXPECT_EQ(::read(reader, text.data(), text.size()), 7);
    ::close(reader);
    ::unlink(path.c_str());
}

TEST(WriteFile, ReplacesWithTheGivenMode)
{
    const std::filesystem::path path = std::filesystem::temp_directory_path() / ("fathom-test-" + new_ulid());

    ASSERT_TRUE(write_file(path, "one", 0600));
    ASSERT_TRUE(write_file(path, "two", 0600));

    EXPECT_EQ(read_file(path).value(), "two");
    struct stat status = {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_EQ(read_file(path, 2).error().code, Errc::kTooLarge);
    std::filesystem::remove(path);
    EXPECT_EQ(read_file(path).error().code, Errc::kNotFound);
    EXPECT_EQ(write_file("/nonexistent/x", "").error().code, Errc::kUnavailable);
}

TEST(WriteFile, ThreadsMayWriteTheSameFile)
{
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("fathom-test-" + new_ulid());
    std::filesystem::create_directory(folder);
    const std::filesystem::path path = folder / "shared";
    const std::string one(20000, '1');
    const std::string two(30000, '2');

    std::atomic<int> failures{0};
    const auto write_often = [&](const std::string& content) {
        for (int i = 0; i < 100; ++i) {
            if (!write_file(path, content)) ++failures;
        }
    };
    std::thread other([&] { write_often(one); });
    write_often(two);
    other.join();

    EXPECT_EQ(failures, 0);
    const std::string left = read_file(path).value();
    EXPECT_TRUE(left == one || left == two);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "temporary files are left";
    std::filesystem::remove_all(folder);
}

TEST(ProcessLimitsDeathTest, DescriptorsAreRaisedAndTheOldLimitIsKnown)
{
    const auto check = [] {
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = 100;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        const std::size_t raised = raise_descriptor_limit();
        const bool is_raised = raised == std::min(limit.rlim_max, rlim_t{1} << 20U);
        const bool is_known = descriptor_limit_at_start() == 100;
        set_descriptor_limit(100);
        ::getrlimit(RLIMIT_NOFILE, &limit);
        std::exit(is_raised && is_known && limit.rlim_cur == 100 ? 0 : 1);
    };
    EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

TEST(ProcessLimitsDeathTest, MemoryOfAPrivateProcessIsNotDumped)
{
    const auto check = [] {
        keep_memory_private();
        rlimit limit{1, 1};
        ::getrlimit(RLIMIT_CORE, &limit);
        std::exit(limit.rlim_max == 0 && ::prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
    };
    EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

TEST(LogLines, HoldNothingThatATerminalObeys)
{
    testing::internal::CaptureStderr();
    // Escape sequences of one byte and of two, DEL, a line break, text that turns around; the name after it stays.
    log_info("named", {{"account", "\x1b[2J \xC2\x9B[2J \x7F\n \xE2\x80\xAEnimda\xE2\x81\xA6 \u738B\u4F1F"}});
    const std::string line = testing::internal::GetCapturedStderr();

    EXPECT_NE(line.find("\"\\u001b[2J \\u009b[2J \\u007f\\n \\u202enimda\\u2066 \u738B\u4F1F\""), std::string::npos)
        << line;
    EXPECT_EQ(Json::parse(line)["account"], "\x1b[2J \xC2\x9B[2J \x7F\n \xE2\x80\xAEnimda\xE2\x81\xA6 \u738B\u4F1F");
}

TEST(LogLimiter, TellsHowManyLinesItLeftOut)
{
    using namespace std::chrono_literals;
    LogLimiter limiter;
    const auto start = std::chrono::steady_clock::now();

    EXPECT_EQ(limiter.take("flood", start), 0);
    for (int i = 0; i < 1000; ++i)
        EXPECT_EQ(limiter.take("flood", start + 1s), std::nullopt);
    EXPECT_EQ(limiter.take("other", start + 1s), 0);

    EXPECT_EQ(limiter.take("flood", start + 10s), 1000);
    EXPECT_EQ(limiter.take("flood", start + 20s), 0);
}

TEST(Metrics, AreExposedInPrometheusText)
{
    Metrics metrics;
    metrics.count("fathom_jobs_total", "Jobs.", {{"state", "failed"}}, 2);
    metrics.count("fathom_jobs_total", "Jobs.", {{"state", "failed"}});
    metrics.set("fathom_free_units", "Units.", 7);
    metrics.observe_seconds("fathom_wait_seconds", "Waits.", 0.3);

    const std::string text = metrics.expose();

    EXPECT_NE(text.find("fathom_jobs_total{state=\"failed\"} 3"), std::string::npos) << text;
    EXPECT_NE(text.find("fathom_free_units 7"), std::string::npos);
    EXPECT_NE(text.find("fathom_wait_seconds_bucket{le=\"0.5\"} 1"), std::string::npos);
}

TEST(Metrics, WhatIsReplacedIsExposedNoLonger)
{
    Metrics metrics;
    const auto has = [&](const std::string& line) { return metrics.expose().find(line + "\n") != std::string::npos; };

    metrics.replace("fathom_things", "Things.", {{{{"thing", "a"}}, 1}, {{{"thing", "b"}}, 2}});
    EXPECT_TRUE(has("fathom_things{thing=\"a\"} 1"));
    EXPECT_TRUE(has("fathom_things{thing=\"b\"} 2"));

    metrics.replace("fathom_things", "Things.", {{{{"thing", "b"}}, 3}, {{{"thing", "c"}}, 4}});
    EXPECT_EQ(metrics.expose().find("thing=\"a\""), std::string::npos);
    EXPECT_TRUE(has("fathom_things{thing=\"b\"} 3"));
    EXPECT_TRUE(has("fathom_things{thing=\"c\"} 4"));

    metrics.replace("fathom_things", "Things.", {});
    EXPECT_EQ(metrics.expose().find("thing="), std::string::npos);
    metrics.replace("fathom_things", "Things.", {{{{"thing", "a"}}, 5}});
    EXPECT_TRUE(has("fathom_things{thing=\"a\"} 5"));
}

TEST(ParseNumber, TakesTheWholeTextOrNothing)
{
    EXPECT_EQ(parse_number<std::int64_t>("-42"), -42);
    EXPECT_EQ(parse_number<unsigned>("7"), 7U);
    EXPECT_EQ(parse_number<double>("1.5e3"), 1500.0);
    for (const char* const none : {"", " 1", "1 ", "+1", "1x", "0x10", "one", "9223372036854775808"})
        EXPECT_EQ(parse_number<std::int64_t>(none), std::nullopt) << none;
    EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
    EXPECT_EQ(parse_number<std::uint16_t>("65536"), std::nullopt);
    for (const char* const none : {"inf", "nan", "1e999", "1.5 ", "."})
        EXPECT_EQ(parse_number<double>(none), std::nullopt) << none;
}

TEST(Yaml, ReadsTheCoreSchema)
{
    const Result<Json> json = parse_yaml(R"(
name: si-bulk
count: 3
big: 2.0e9
flag: true
nothing:
quoted: "3"
list: [a, 1, {b: 2}]
text: |
  two
  lines
)");

    ASSERT_TRUE(json) << json.error().detail;
    EXPECT_EQ(*json, Json::parse(R"({"name": "si-bulk", "count": 3, "big": 2e9, "flag": true, "nothing": null,
        "quoted": "3", "list": ["a", 1, {"b": 2}], "text": "two\nlines\n"})"));
    EXPECT_EQ(parse_yaml("+-5").value(), "+-5") << "no number has two signs";
}

TEST(Yaml, RefusesWhatCouldHarm)
{
    EXPECT_FALSE(parse_yaml("a: \xf3")) << "not UTF-8";
    EXPECT_FALSE(parse_yaml("a: &x [1]\nb: *x")) << "aliases";
    EXPECT_FALSE(parse_yaml("a: 1\na: 2")) << "a key that is duplicated";
    EXPECT_FALSE(parse_yaml(std::string(200, '[')));
    EXPECT_FALSE(parse_yaml("a: [1"));
    EXPECT_FALSE(parse_yaml(""));
    const Result<Json> wrong = parse_yaml("a: 1\n b: 2\n");
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().detail.find("line 2"), std::string::npos) << wrong.error().detail;
}

TEST(EscapeMarkup, LeavesNoTagAndNoEndOfAnAttribute)
{
    EXPECT_EQ(escape_markup(R"(<a href='x' title="y">R&D</a>)"),
              "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;R&amp;D&lt;/a&gt;");
    EXPECT_EQ(escape_markup("&amp;"), "&amp;amp;");
    EXPECT_EQ(escape_markup("核"), "核");
}

} // namespace
} // namespace fathom
