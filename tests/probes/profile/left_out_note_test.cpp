#include "probes/operators/manifests.hpp"
#include "probes/profile/render_profile.hpp"

#include <gtest/gtest.h>

namespace fathom::profile {
namespace {

OperatorUse product(std::int64_t m, double share)
{
    OperatorUse use;
    use.id = "dgemm";
    use.parameters = {{"m", m}, {"n", 64}, {"k", 64}};
    use.count = 10;
    use.share = share;
    return use;
}

TEST(LeftOutNote, IsEmptyWhereTheProbeTaskHasAllOperators)
{
    Profile profile;
    EXPECT_EQ(left_out_note(profile, probes::operator_manifests()), "");

    for (std::int64_t i = 0; i < 16; ++i)
        profile.operators.push_back(product(100 + i, 0.05));
    EXPECT_EQ(left_out_note(profile, probes::operator_manifests()), "");
}

TEST(LeftOutNote, CountsWhatIsBeyondTheLimitAndWhatIsTooSmall)
{
    Profile profile;
    for (std::int64_t i = 0; i < 18; ++i)
        profile.operators.push_back(product(100 + i, i < 16 ? 0.05 : 0.03));
    profile.operators.push_back(product(200, 0.004));

    EXPECT_EQ(left_out_note(profile, probes::operator_manifests()),
              "a probe task leaves out the 3 operators that take least time, 6.4 % together");
    EXPECT_EQ(profile_json(profile, probes::operator_manifests())["probe_task"]["operators"].size(), 16U);
}

} // namespace
} // namespace fathom::profile
