// As whom jobs of the network's users run in Slurm.

#include "agent/executor/batch/user_map.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <pwd.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kToken = "tok_01KAFP6X5T8Z3Q4R5S6T7V8W9Z";
const JobUser kProbes{"probes", 3000, 3000};

MappedUser mapped(std::vector<std::string> users, const std::string& project, const JobUser& user)
{
    return {.rule = {.users = std::move(users), .project = project, .local_user = user.name, .account = {}, .qos = {}},
            .user = user};
}

const std::vector<MappedUser> kMap{mapped({"ann"}, "secret", {"ann-secret", 2001, 2001}),
                                   mapped({"ann", kToken}, "", {"ann", 2000, 2000}),
                                   mapped({}, "open", {"open", 2002, 2002})};

JobIdentity own()
{
    return {.user = kProbes, .user_name = kProbes.name, .account = "grid", .qos = "normal"};
}

AttemptOrder order_from(const AttemptOwner& owner)
{
    AttemptOrder order = test::shell_order("true");
    order.owner = owner;
    return order;
}

/// The name of the local user; empty: the job is refused.
std::string user_of(const AttemptOwner& owner)
{
    const Result<JobIdentity> identity = choose_identity(order_from(owner), own(), kMap, true);
    return identity ? identity->user_name : std::string();
}

TEST(SlurmUserMap, TheFirstTableThatIsForAJobCounts)
{
    EXPECT_EQ(user_of({"tok_x", "ann", "secret"}), "ann-secret");
    EXPECT_EQ(user_of({"tok_x", "ann", "open"}), "ann");
    EXPECT_EQ(user_of({"tok_x", "bob", "open"}), "open");
    EXPECT_EQ(user_of({kToken, "", "p"}), "ann");
}

TEST(SlurmUserMap, AnAccountWithATokensIdForItsNameIsNotThatToken)
{
    EXPECT_EQ(user_of({"tok_x", kToken, "p"}), "");
}

TEST(SlurmUserMap, WhoHasNoTableIsRefusedOrRunsAsAllOthers)
{
    const Result<JobIdentity> refused = choose_identity(order_from({"tok_x", "bob", "p"}), own(), kMap, true);
    const Result<JobIdentity> shared = choose_identity(order_from({"tok_x", "bob", "p"}), own(), kMap, false);

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().detail, StartsWith("no local user: "));
    EXPECT_THAT(refused.error().detail, HasSubstr("bob (tok_x) in the project p"));
    EXPECT_EQ(shared.value().user_name, "probes");
}

TEST(SlurmUserMap, AJobWhoseOwnerIsNotToldIsRefused)
{
    const Result<JobIdentity> refused = choose_identity(order_from({}), own(), kMap, true);

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().detail, HasSubstr("the metascheduler does not say whose job it is"));
}

TEST(SlurmUserMap, ProbesAndCentersWithoutTablesHaveOneUser)
{
    AttemptOrder probe = order_from({"tok_x", "ann", "p"});
    probe.label = "probe";

    EXPECT_EQ(choose_identity(probe, own(), kMap, true).value().user_name, "probes");
    EXPECT_EQ(choose_identity(order_from({}), own(), {}, true).value().user_name, "probes");
}

TEST(SlurmUserMap, ATablesAccountGoesBeforeTheCenters)
{
    std::vector<MappedUser> map = kMap;
    map[1].rule.account = "physics";

    const JobIdentity identity = choose_identity(order_from({kToken, "", "p"}), own(), map, true).value();

    EXPECT_EQ(identity.account, "physics");
    EXPECT_EQ(identity.qos, "normal");
    EXPECT_EQ(identity.user->uid, 2000U);
}

TEST(SlurmUserMap, LocalUsersAreNoneOfTheSystems)
{
    EXPECT_TRUE(check_mapped_user({"ann", 1000, 100}));
    EXPECT_FALSE(check_mapped_user({"root", 0, 0}));
    EXPECT_FALSE(check_mapped_user({"daemon", 999, 1000}));
    EXPECT_FALSE(check_mapped_user({"ann", 1000, 0}));
}

TEST(SlurmUserMap, LocalUsersHaveToExistAndTakeRoot)
{
    const auto error_of = [](const std::string& local_user) {
        const Result<std::vector<MappedUser>> found = find_mapped_users({mapped({"ann"}, "", {local_user, 0, 0}).rule});
        return found ? std::string() : found.error().detail;
    };
    EXPECT_TRUE(find_mapped_users({}).value().empty());
    if (::getuid() == 0) {
        EXPECT_THAT(error_of("no-such-user"), HasSubstr("there is no local user \"no-such-user\""));
        EXPECT_THAT(error_of("root"), HasSubstr("is a user of the system's"));
    } else {
        EXPECT_THAT(error_of("root"), HasSubstr("needs an agent that is started as root"));
    }
}

TEST(SlurmUserMap, TellsWhereUsersShareALocalUser)
{
    const std::vector<MappedUser> apart{mapped({"ann"}, "a", {"ann", 2000, 2000}),
                                        mapped({"ann"}, "b", {"ann", 2000, 2000}),
                                        mapped({"bob"}, "", {"bob", 2001, 2001})};
    EXPECT_THAT(find_shared_users(apart, kProbes), IsEmpty());

    std::vector<MappedUser> together = apart;
    together.push_back(mapped({"eve"}, "", {"bob", 2001, 2001}));
    EXPECT_THAT(find_shared_users(together, kProbes), ElementsAre("jobs of several users run as bob"));
    EXPECT_THAT(find_shared_users(kMap, kProbes), ElementsAre("jobs of several users run as open"));
    EXPECT_THAT(find_shared_users({mapped({"ann"}, "", kProbes)}, kProbes),
                ElementsAre("jobs run as probes, as the probes do"));
}

TEST(SlurmUserMap, ALocalUserIsReadAsItWasNoted)
{
    const std::optional<JobUser> user = decode_job_user(encode(JobUser{"ann", 2000, 100}));

    ASSERT_TRUE(user);
    EXPECT_EQ(user->name, "ann");
    EXPECT_EQ(user->uid, 2000U);
    EXPECT_EQ(user->gid, 100U);
    EXPECT_FALSE(decode_job_user(""));
    EXPECT_FALSE(decode_job_user("2000 ann"));
}

TEST(KubernetesUserMap, HasIdsThatNeedNoAccount)
{
    const std::vector<KubernetesUserRule> rules{
        {.users = {"ann"}, .project = {}, .uid = 4'000'001, .gid = 4'000'002, .name = "ann"}};
    const Result<std::vector<MappedUser>> mapped = map_ids(rules);
    if (::getuid() != 0) {
        EXPECT_THAT(mapped.error().detail, testing::HasSubstr("started as root"));
        return;
    }

    const JobIdentity identity =
        choose_identity(order_from({"tok_x", "ann", "p"}), own(), *mapped, true, "[[kubernetes_user]]").value();
    ASSERT_TRUE(identity.user);
    EXPECT_EQ(identity.user->uid, 4'000'001U);
    EXPECT_EQ(identity.user->gid, 4'000'002U);
    EXPECT_EQ(identity.user_name, "ann");
    EXPECT_TRUE(map_ids({}).value().empty());
}

} // namespace
} // namespace fathom::agent
