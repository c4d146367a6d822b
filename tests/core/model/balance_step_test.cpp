#include "core/model/balance_step.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::HasSubstr;

BalanceStep measured_step()
{
    BalanceStep step{.unit = "gpu0", .outcome = "acted", .law = "pid", .band = 0.05};
    step.figures = BalanceFigures{.transfer = 0.75, .load = 0.25, .error = 0.5, .region = "far", .output = 0.875};
    step.sub_units = -4;
    step.wanted_sub_units = 3;
    step.reason = "transfer-bound";
    step.faults = {"precision: absent"};
    return step;
}

/// What is read, or the first field error.
Result<BalanceStep> read(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    BalanceStep step = read_balance_step(reader, errors);
    return value_or_errors(std::move(step), std::move(errors), "the step");
}

TEST(BalanceStepJson, IsReadAsItWasWritten)
{
    EXPECT_EQ(read(to_json(measured_step())).value(), measured_step());
    const BalanceStep without_sample{.unit = "gpu0", .outcome = "no_sample"};
    EXPECT_EQ(read(to_json(without_sample)).value(), without_sample);
    EXPECT_TRUE(to_json(without_sample)["error"].is_null());
}

TEST(BalanceStepJson, IsTakenFromANewerAgentAndRefusedWhereItIsWrong)
{
    Json newer = to_json(measured_step());
    newer["voltage"] = 1;
    newer["outcome"] = "something_new";
    EXPECT_TRUE(read(newer));
    for (const auto& [field, value] : std::vector<std::pair<std::string, Json>>{{"unit", ""},
                                                                                {"at", "yesterday"},
                                                                                {"load", 7},
                                                                                {"output", "much"},
                                                                                {"gains", 3},
                                                                                {"faults", Json::array({1})}}) {
        Json wrong = to_json(measured_step());
        wrong[field] = value;
        EXPECT_THAT(describe(read(wrong).error()), HasSubstr(field)) << field;
    }
}

TEST(BalanceStepJson, TextsAreCutToWhatIsRead)
{
    BalanceStep step = measured_step();
    step.reason = std::string(kMaxBalanceReasonLength - 1, 'x') + "é" + std::string(1, '\0');
    step.faults.assign(kMaxBalanceFaults + 5, std::string(5000, 'y') + std::string(1, '\0'));
    fit_bounds(step);
    EXPECT_EQ(step.reason.size(), kMaxBalanceReasonLength - 1) << "a character is not cut in two";
    EXPECT_EQ(read(to_json(step)).value(), step);
}

} // namespace
} // namespace fathom
