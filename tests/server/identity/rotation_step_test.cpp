#include "server/identity/rotation_step.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr RotationPhase kPhases[] = {RotationPhase::kNone, RotationPhase::kBegun, RotationPhase::kSwitched};
constexpr RotationStep kSteps[] = {RotationStep::kBegin, RotationStep::kSwitch, RotationStep::kFinish,
                                   RotationStep::kCancel};

WaitingCenter waiting(const std::string& name, std::optional<Timestamp> last_seen_at = std::nullopt)
{
    return {.id = "ctr_" + name,
            .name = name,
            .agent_version = "0.1.0",
            .last_seen_at = last_seen_at,
            .reason = "its certificate is of the past authority"};
}

NetworkAuthorities network(const char* name)
{
    return only_authority(net::make_authority(name, 100).value()).value();
}

TEST(RotationStep, IsTakenInItsTurnOnly)
{
    const auto may = [](RotationStep step, RotationPhase phase) {
        return check_rotation_step(step, phase, {}, false).has_value();
    };
    const auto is_next = [](RotationStep step, RotationPhase phase) {
        switch (phase) {
        case RotationPhase::kNone:
            return step == RotationStep::kBegin;
        case RotationPhase::kBegun:
            return step == RotationStep::kSwitch || step == RotationStep::kCancel;
        case RotationPhase::kSwitched:
            return step == RotationStep::kFinish;
        }
        return false;
    };

    for (const RotationPhase phase : kPhases)
        for (const RotationStep step : kSteps)
            EXPECT_EQ(may(step, phase), is_next(step, phase)) << to_string(step) << " in " << to_string(phase);
}

TEST(RotationStep, ARefusalNamesTheStepThatIsNext)
{
    const auto refusal = [](RotationStep step, RotationPhase phase) {
        return check_rotation_step(step, phase, {}, true).error();
    };

    EXPECT_EQ(refusal(RotationStep::kSwitch, RotationPhase::kNone).code, Errc::kConflict);
    EXPECT_THAT(refusal(RotationStep::kFinish, RotationPhase::kNone).detail, HasSubstr("rotate --begin"));
    EXPECT_THAT(refusal(RotationStep::kBegin, RotationPhase::kBegun).detail, HasSubstr("rotate --switch"));
    EXPECT_THAT(refusal(RotationStep::kCancel, RotationPhase::kSwitched).detail, HasSubstr("rotate --finish"));
}

TEST(RotationStep, WaitsForCentersUnlessItIsForced)
{
    const std::vector<WaitingCenter> centers{waiting("beta", parse_rfc3339("2026-11-20T11:04:14Z").value()),
                                             waiting("alpha")};

    const Error refused = check_rotation_step(RotationStep::kSwitch, RotationPhase::kBegun, centers, false).error();

    EXPECT_EQ(refused.code, Errc::kConflict);
    EXPECT_THAT(refused.detail, HasSubstr("2 centers"));
    EXPECT_THAT(refused.detail,
                HasSubstr("alpha (its certificate is of the past authority; last seen: never), beta ("));
    EXPECT_THAT(refused.detail, HasSubstr("last seen: 2026-11-20T11:04:14"));
    EXPECT_TRUE(check_rotation_step(RotationStep::kSwitch, RotationPhase::kBegun, centers, true));
    EXPECT_FALSE(check_rotation_step(RotationStep::kFinish, RotationPhase::kSwitched, centers, false));
    EXPECT_TRUE(check_rotation_step(RotationStep::kFinish, RotationPhase::kSwitched, centers, true));
    EXPECT_TRUE(check_rotation_step(RotationStep::kCancel, RotationPhase::kBegun, centers, false)) << "cuts nobody off";
}

TEST(RotationStep, ARefusalNamesSomeOfManyCenters)
{
    std::vector<WaitingCenter> centers;
    for (int i = 100; i < 125; ++i)
        centers.push_back(waiting("c" + std::to_string(i)));

    const std::string detail =
        check_rotation_step(RotationStep::kFinish, RotationPhase::kSwitched, centers, false).error().detail;

    EXPECT_THAT(detail, HasSubstr("25 centers"));
    EXPECT_THAT(detail, HasSubstr("c119"));
    EXPECT_THAT(detail, Not(HasSubstr("c120")));
    EXPECT_THAT(detail, HasSubstr("and 5 more"));
}

TEST(RotationStep, IsReadAndWrittenByName)
{
    for (const std::string_view name : rotation_step_names())
        EXPECT_EQ(to_string(parse_rotation_step(name).value()), name);
    EXPECT_EQ(parse_rotation_step("renew"), std::nullopt);
}

TEST(AuthorityCertificates, ABundleHoldsAllOfThemTheSignersFirst)
{
    const AuthorityCertificate one = network("one").certificates.current;
    const AuthorityCertificate two = network("two").certificates.current;
    AuthorityCertificates all{.current = one};
    EXPECT_EQ(all.phase(), RotationPhase::kNone);
    EXPECT_EQ(all.bundle_pem(), one.pem);

    all.next = two;
    EXPECT_EQ(all.phase(), RotationPhase::kBegun);
    EXPECT_EQ(all.bundle_pem(), one.pem + two.pem);

    all = {.current = two, .past = one};
    EXPECT_EQ(all.phase(), RotationPhase::kSwitched);
    EXPECT_EQ(all.bundle_pem(), two.pem + one.pem);
    EXPECT_EQ(all.sha256_hex(), (std::vector{two.facts.sha256_hex, one.facts.sha256_hex}));
    EXPECT_NE(one.facts.sha256_hex, two.facts.sha256_hex);
}

TEST(AuthorityCertificates, ABundleIsWholeWhereACertificateHasNoLastLineEnd)
{
    AuthorityCertificates all{.current = network("one").certificates.current};
    all.current.pem.pop_back();
    all.next = network("two").certificates.current;

    EXPECT_EQ(net::read_authorities(all.bundle_pem()).value().size(), 2U);
}

TEST(AuthorityAdvice, NamesTheCommandOfEachPhase)
{
    EXPECT_THAT(authority_advice(RotationPhase::kNone), HasSubstr("fathom authority rotate --begin"));
    EXPECT_THAT(authority_advice(RotationPhase::kBegun), HasSubstr("fathom authority rotate --switch"));
    EXPECT_THAT(authority_advice(RotationPhase::kSwitched), HasSubstr("fathom authority rotate --finish"));
}

} // namespace
} // namespace fathom::server
