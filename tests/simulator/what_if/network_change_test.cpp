#include "simulator/what_if/network_change.hpp"

#include <gmock/gmock.h>

namespace fathom::simulation {
namespace {

using testing::HasSubstr;

/// Two centers; alpha has two unit types.
Json two_centers()
{
    return Json::parse(R"({"centers": [
      {"name": "alpha", "unit_types": [{"name": "core", "unit_count": 4}, {"name": "gpu", "unit_count": 1}]},
      {"name": "beta", "unit_types": [{"name": "core", "unit_count": 8}]}]})");
}

std::vector<NetworkChange> changes_of(const char* text)
{
    std::vector<FieldError> errors;
    std::vector<NetworkChange> changes = parse_network_changes(Json::parse(text), "changes", errors);
    EXPECT_TRUE(errors.empty()) << errors.front().field << ": " << errors.front().detail;
    return changes;
}

Json changed(const char* text)
{
    Json centers = two_centers();
    const Result<void> done = apply_changes(centers, changes_of(text), "changes");
    EXPECT_TRUE(done) << describe(done.error());
    return centers["centers"];
}

/// "field: detail" of the refusal.
std::string refusal_of(const char* text)
{
    Json centers = two_centers();
    const Result<void> done = apply_changes(centers, changes_of(text), "changes");
    if (done) return "";
    const Error error = done.error();
    EXPECT_EQ(error.code, Errc::kInvalid);
    return error.fields.at(0).field + ": " + error.fields.at(0).detail;
}

TEST(NetworkChange, ScalesACenterOrOneUnitType)
{
    const Json all = changed(R"([{"kind": "scale_units", "center": "alpha", "factor": 2.5}])");
    EXPECT_EQ(all[0]["unit_types"][0]["unit_count"], 10);
    EXPECT_EQ(all[0]["unit_types"][1]["unit_count"], 3);
    EXPECT_EQ(all[1]["unit_types"][0]["unit_count"], 8);

    const Json one = changed(R"([{"kind": "scale_units", "center": "alpha", "unit_type": "core", "factor": 0.001}])");
    EXPECT_EQ(one[0]["unit_types"][0]["unit_count"], 1) << "one unit at least";
    EXPECT_EQ(one[0]["unit_types"][1]["unit_count"], 1);
}

TEST(NetworkChange, SetsUnitsAddsAndRemovesCentersOneAfterAnother)
{
    const Json centers = changed(R"([
      {"kind": "add_center", "center": "gamma", "like": "alpha"},
      {"kind": "set_units", "center": "gamma", "unit_type": "core", "unit_count": 128},
      {"kind": "remove_center", "center": "alpha"}])");

    ASSERT_EQ(centers.size(), 2U);
    EXPECT_EQ(centers[0]["name"], "beta");
    EXPECT_EQ(centers[1]["name"], "gamma");
    EXPECT_EQ(centers[1]["unit_types"][0]["unit_count"], 128);
    EXPECT_EQ(centers[1]["unit_types"][1]["unit_count"], 1);
}

TEST(NetworkChange, SaysWhatDoesNotFitTheNetwork)
{
    EXPECT_THAT(refusal_of(R"([{"kind": "scale_units", "center": "gamma", "factor": 2}])"),
                HasSubstr("changes[0].center: there is no center gamma: there are alpha, beta"));
    EXPECT_THAT(refusal_of(R"([{"kind": "set_units", "center": "beta", "unit_type": "gpu", "unit_count": 2}])"),
                HasSubstr("changes[0].unit_type: beta has no unit type gpu: it has core"));
    EXPECT_THAT(refusal_of(R"([{"kind": "add_center", "center": "beta", "like": "alpha"}])"),
                HasSubstr("there is a center beta already"));
    EXPECT_THAT(refusal_of(R"([{"kind": "add_center", "center": "gamma", "like": "delta"}])"),
                HasSubstr("changes[0].like: there is no center delta"));
    EXPECT_THAT(refusal_of(R"([{"kind": "remove_center", "center": "beta"},
                               {"kind": "remove_center", "center": "alpha"}])"),
                HasSubstr("changes[1].center: alpha is the only center that is left"));
    EXPECT_THAT(refusal_of(R"([{"kind": "set_units", "center": "beta", "unit_type": "core", "unit_count": 1000000},
                               {"kind": "scale_units", "center": "beta", "factor": 2}])"),
                HasSubstr("changes[1].factor: makes more than 1000000 units"));
}

TEST(NetworkChange, IsReadStrictly)
{
    const auto faults_of = [](const Json& json) {
        std::vector<FieldError> errors;
        parse_network_changes(json, "changes", errors);
        std::string text;
        for (const FieldError& error : errors)
            text += error.field + ";";
        return text;
    };
    EXPECT_EQ(faults_of(Json::parse(R"([{"kind": "close", "center": "alpha"}])")), "changes[0].kind;");
    EXPECT_EQ(faults_of(Json::parse(R"([{"kind": "scale_units", "center": "", "factor": 0}])")),
              "changes[0].center;changes[0].factor;");
    EXPECT_EQ(faults_of(Json::parse(R"([{"kind": "remove_center", "center": "alpha", "factor": 2}])")),
              "changes[0].factor;");
    EXPECT_EQ(faults_of(Json::parse(R"({"kind": "remove_center"})")), "changes;");
    EXPECT_EQ(faults_of(Json::array_t(51, Json::object())), "changes;");
}

} // namespace
} // namespace fathom::simulation
