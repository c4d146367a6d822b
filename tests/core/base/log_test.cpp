#include "core/base/json_reader.hpp"
#include "core/base/log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fathom {
namespace {

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

} // namespace
} // namespace fathom
