#include "tests/server/operators/copied_library.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::simple_operator;
using test::uploaded_operator;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(CopiedLibrary, HasChangesAndUploadsUnderTheNumbersThatTheyHaveThere)
{
    trust_key();
    other.add(changed_operator(2, "told"), "expert");
    other.add(changed_operator(5), "expert");
    other.upload(package(uploaded_operator("lu", 3)));

    const LibraryCopy copy = look().value();

    EXPECT_EQ(copy.missing.size(), 3U);
    EXPECT_THAT(copy.differences, IsEmpty());
    EXPECT_EQ(stored(), "lu@3 uploaded, op1@1 built_in, op1@2 expert, op1@5 expert");
    EXPECT_EQ(store.sql("SELECT manifest ->> 'description' FROM operator WHERE id = 'op1' AND version = 5"),
              "better told");
    EXPECT_EQ(store.sql("SELECT package FROM operator_package WHERE operator_id = 'lu'"),
              to_json(package(uploaded_operator("lu", 3))).dump());
    EXPECT_EQ(
        store.sql("SELECT string_agg(subject || (detail ->> 'version') || (detail ->> 'from'), ' ' ORDER BY subject, "
                  "detail ->> 'version') FROM audit_log WHERE action = 'operator.copy' AND actor = 'library'"),
        "lu3https://other.example.org op12https://other.example.org op15https://other.example.org");
    EXPECT_THAT(look().value().missing, IsEmpty()) << "once";
}

TEST_F(CopiedLibrary, WithdrawsWhatIsWithdrawnThere)
{
    trust_key();
    other.add(changed_operator(2), "expert");
    other.upload(package(uploaded_operator("lu", 1)));
    look().value();
    other.newest("op1")["withdrawn_at"] = "2026-11-20T08:00:00Z";
    other.newest("lu")["withdrawn_at"] = "2026-11-20T08:00:00Z";
    other.add(changed_operator(3), "expert");
    other.newest("op1")["withdrawn_at"] = "2026-11-20T08:00:00Z";

    const LibraryCopy copy = look().value();

    EXPECT_THAT(copy.withdrawn, ElementsAre(VersionName("lu", 1), VersionName("op1", 2)));
    EXPECT_EQ(stored(), "lu@1 uploaded withdrawn, op1@1 built_in, op1@2 expert withdrawn")
        << "what was withdrawn before it was here stays away";
    EXPECT_THAT(runs.ended, ElementsAre("lu@1"));
    EXPECT_EQ(store.sql("SELECT DISTINCT withdrawn_by FROM operator WHERE withdrawn_by IS NOT NULL"), "library");
}

TEST_F(CopiedLibrary, HasNoCodeThatNobodySignedWhoIsTrustedHere)
{
    other.upload(package(uploaded_operator("lu", 1)));
    other.add(changed_operator(2), "expert");

    const LibraryCopy copy = look().value();

    EXPECT_EQ(stored(), "op1@1 built_in, op1@2 expert") << "others come all the same";
    ASSERT_EQ(copy.differences.size(), 1U);
    EXPECT_THAT(copy.differences[0], HasSubstr("version 1 of lu: "));
    trust_key();
    look().value();
    EXPECT_EQ(stored(), "lu@1 uploaded, op1@1 built_in, op1@2 expert") << "once the key is trusted";
}

TEST_F(CopiedLibrary, HasNoPackageOfAnotherManifest)
{
    trust_key();
    other.upload(package(uploaded_operator("lu", 1)));
    other.answers[OtherLibrary::target_of(uploaded_operator("lu", 1))] = to_json(package(uploaded_operator("lu", 2)));

    const LibraryCopy copy = look().value();

    EXPECT_EQ(stored(), "op1@1 built_in");
    EXPECT_THAT(copy.differences, ElementsAre(HasSubstr("is the package of another manifest")));
}

TEST_F(CopiedLibrary, KeepsWhatMeansSomethingElseHereAndSaysSo)
{
    io.run(service.change(caller, "op1", {changed_operator(0, "told here"), std::nullopt},
                          [](std::int64_t) { return true; }))
        .value();
    other.add(changed_operator(2, "told there"), "expert");
    other.add(changed_operator(3), "expert");

    const LibraryCopy copy = look().value();

    EXPECT_EQ(stored(), "op1@1 built_in, op1@2 expert");
    EXPECT_EQ(store.sql("SELECT manifest ->> 'description' FROM operator WHERE version = 2"), "told here");
    EXPECT_THAT(copy.differences, ElementsAre(HasSubstr("version 2 of op1 is another one here")));
}

TEST_F(CopiedLibrary, TakesOtherCodeOfTheSameManifestForAnother)
{
    trust_key();
    other.upload(package(uploaded_operator("lu", 1)));
    other.upload(package(uploaded_operator("lu", 2)));
    other.newest("lu")["object_sha256"] = std::string(64, '0');
    look().value();

    const LibraryCopy copy = look().value();

    EXPECT_THAT(copy.differences, ElementsAre(HasSubstr("version 2 of lu is another one here")));
}

TEST_F(CopiedLibrary, LeavesTheNumberOfANewerReleaseToThatRelease)
{
    other.add(changed_operator(2), "built_in");
    other.add(changed_operator(3, "told by an expert"), "expert");

    EXPECT_THAT(look().value().differences, ElementsAre(HasSubstr("version 2 of op1 comes with another release"),
                                                        HasSubstr("version 3 of op1 follows one that comes with")));
    EXPECT_EQ(stored(), "op1@1 built_in");

    service.seed({changed_operator(1)}).value(); // the same release has come
    LibraryFollower follower(store.database(), service, runs, place, other.site(), metrics);
    EXPECT_THAT(follower.look().value().differences, IsEmpty());
    EXPECT_EQ(stored(), "op1@1 built_in, op1@2 built_in, op1@3 expert");
}

TEST_F(CopiedLibrary, SaysWhatThisReleaseHasNoCodeFor)
{
    other.add(changed_operator(2), "built_in");
    OperatorManifest other_code = changed_operator(3);
    other_code.operation_count = "3*n";
    other.add(other_code, "expert");
    OperatorManifest unknown = simple_operator("op9");
    unknown.version = 2;
    other.add(unknown, "expert");
    other.add(uploaded_operator("op1", 4), "uploaded");

    const LibraryCopy copy = look().value();

    EXPECT_EQ(stored(), "op1@1 built_in");
    EXPECT_THAT(
        copy.differences,
        ElementsAre(HasSubstr("version 2 of op1 comes with another release"),
                    HasSubstr("version 3 of op1 is not of the code that this release has: manifest.operation_count"),
                    HasSubstr("version 4 of op1 was uploaded there, and the operator is built in here"),
                    HasSubstr("version 2 of op9 is of an operator that this release does not have")));
}

TEST_F(CopiedLibrary, IsChangedWhereItComesFromAndWithdrawnFromHereToo)
{
    service.copy_from(place.url);

    const auto added = io.run(service.add(caller, {simple_operator("op2"), std::nullopt}));
    const auto edited =
        io.run(service.change(caller, "op1", {changed_operator(0), std::nullopt}, [](std::int64_t) { return true; }));

    EXPECT_EQ(added.error().code, Errc::kConflict);
    EXPECT_EQ(edited.error().code, Errc::kConflict);
    EXPECT_THAT(edited.error().detail, HasSubstr("https://other.example.org: change it there"));
    EXPECT_TRUE(io.run(service.withdraw(caller, "op1", 1)));
}

TEST_F(CopiedLibrary, LeavesOutWhatItDoesNotUnderstand)
{
    other.add(changed_operator(2), "expert");
    OperatorManifest strange = changed_operator(3);
    other.add(strange, "expert");
    other.newest("op1")["quantum"] = true; // of a release to come

    const LibraryCopy copy = look().value();

    EXPECT_EQ(stored(), "op1@1 built_in, op1@2 expert");
    EXPECT_THAT(copy.differences, ElementsAre(HasSubstr("a version of op1 cannot be read by this release")));
}

} // namespace
} // namespace fathom::server
