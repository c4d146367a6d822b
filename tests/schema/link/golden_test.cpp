#include "core/base/file.hpp"
#include "schema/link/messages.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <utility>

namespace fathom::link {
namespace {

/// At least one sample for each message type: what is on the wire today must be understood for ever. Further ones of a
/// type are TYPE.WHAT.json.
std::vector<std::filesystem::path> samples()
{
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(FATHOM_GOLDEN_DIR))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::string type_of(const std::filesystem::path& sample)
{
    return sample.stem().stem().string();
}

template <std::size_t... Kinds>
std::set<std::string> names_of(std::index_sequence<Kinds...> /*of*/)
{
    return {std::string(type_name(Body(std::in_place_index<Kinds>)))...};
}

TEST(GoldenSamples, ThereIsOneForEachMessageType)
{
    std::set<std::string> types;
    for (const std::filesystem::path& path : samples())
        types.insert(type_of(path));

    EXPECT_EQ(types, names_of(std::make_index_sequence<std::variant_size_v<Body>>()));
}

TEST(GoldenSamples, AllDecodeAndAreWrittenTheSameWay)
{
    for (const std::filesystem::path& path : samples()) {
        SCOPED_TRACE(path.filename().string());
        const std::string text = read_file(path).value();
        const auto decoded = decode(text);
        ASSERT_TRUE(std::holds_alternative<Message>(decoded)) << describe(std::get<DecodeFailure>(decoded).error);

        const Message& message = std::get<Message>(decoded);
        EXPECT_EQ(type_name(message.body), type_of(path));
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
