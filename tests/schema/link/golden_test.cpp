#include "core/base/file.hpp"
#include "schema/link/messages.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace fathom::link {
namespace {

/// One sample for each message type: what is on the wire today must be understood for ever.
std::vector<std::filesystem::path> samples()
{
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(FATHOM_GOLDEN_DIR))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

TEST(GoldenSamples, ThereIsOneForEachMessageType)
{
    EXPECT_EQ(samples().size(), std::variant_size_v<Body>);
}

TEST(GoldenSamples, AllDecodeAndAreWrittenTheSameWay)
{
    for (const std::filesystem::path& path : samples()) {
        SCOPED_TRACE(path.filename().string());
        const std::string text = read_file(path).value();
        const auto decoded = decode(text);
        ASSERT_TRUE(std::holds_alternative<Message>(decoded)) << describe(std::get<DecodeFailure>(decoded).error);

        const Message& message = std::get<Message>(decoded);
        EXPECT_EQ(type_name(message.body), path.stem().string());
        EXPECT_EQ(Json::parse(encode(message)), Json::parse(text));
    }
}

TEST(GoldenSamples, NewFieldsAreIgnored)
{
    for (const std::filesystem::path& path : samples()) {
        SCOPED_TRACE(path.filename().string());
        Json newer = Json::parse(read_file(path).value());
        const Json known = newer;
        newer["from_the_future"] = {1, 2, 3};
        newer["body"]["from_the_future"] = "x";

        const auto decoded = decode(newer.dump());

        ASSERT_TRUE(std::holds_alternative<Message>(decoded));
        EXPECT_EQ(Json::parse(encode(std::get<Message>(decoded))), known);
    }
}

TEST(GoldenSamples, WithoutABodyNoneIsTaken)
{
    for (const std::filesystem::path& path : samples()) {
        SCOPED_TRACE(path.filename().string());
        Json message = Json::parse(read_file(path).value());
        message["body"] = Json::object();

        EXPECT_TRUE(std::holds_alternative<DecodeFailure>(decode(message.dump())));
    }
}

} // namespace
} // namespace fathom::link
