#include "core/base/metrics.hpp"
#include "server/operators/library_follower.hpp"
#include "server/operators/operator_keys_service.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

/// A library of operators that is a copy of another network's (M2). The other one is played by what its REST interface
/// would answer.
namespace fathom::server {
namespace {

using test::simple_operator;
using test::TestStore;
using test::tiny_object;
using test::uploaded_operator;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What the other fathomd answers, one item on each page.
class OtherLibrary {
  public:
    /// Newest first within its operator, as they stand in the answer.
    void add(const OperatorManifest& manifest, const std::string& origin)
    {
        OperatorRecord record;
        record.manifest = manifest;
        record.origin = origin;
        std::vector<Json>& versions = versions_[manifest.id];
        versions.insert(versions.begin(), to_json(record));
    }
    void upload(const OperatorPackage& package)
    {
        add(package.manifest, "uploaded");
        answers[target_of(package.manifest)] = to_json(package);
    }
    static std::string target_of(const OperatorManifest& manifest)
    {
        return "/api/v1/operators/" + manifest.id + "/versions/" + std::to_string(manifest.version) + "/package";
    }
    /// Its newest version.
    Json& newest(const std::string& id) { return versions_.at(id).front(); }

    LibrarySite site()
    {
        return {.ask = [this](const std::string& target) { return answer(target); }, .interrupt = [] {}};
    }

    std::map<std::string, Json> answers; ///< that go before others, by target
    std::optional<Error> failure;

  private:
    Result<Json> answer(const std::string& target) const
    {
        if (failure) return *failure;
        if (const auto found = answers.find(target); found != answers.end()) return found->second;
        const std::string path = target.substr(0, target.find('?'));
        std::vector<Json> items;
        for (const auto& [id, versions] : versions_) {
            if (path == "/api/v1/operators") items.push_back(versions.front());
            if (path == "/api/v1/operators/" + id + "/versions") items = versions;
        }
        const std::size_t at = target.find("&page_token=");
        const std::size_t number = at == std::string::npos ? 0 : std::stoul(target.substr(at + 12));
        if (number >= items.size()) return Error{Errc::kUnavailable, "404: " + target};
        const bool is_last = number + 1 == items.size();
        return Json{{"items", Json::array({items[number]})},
                    {"next_page_token", is_last ? Json() : Json(std::to_string(number + 1))}};
    }

    std::map<std::string, std::vector<Json>> versions_;
};

/// Counts what it is asked to end.
class CountedRuns final : public ProbeRunTerminator {
  public:
    Result<std::int64_t> end_withdrawn_runs(pqxx::work&, const std::string& operator_id, std::int64_t version) override
    {
        ended.push_back(operator_id + "@" + std::to_string(version));
        return 0;
    }
    std::vector<std::string> ended;
};

OperatorManifest changed(std::int64_t version, const std::string& description = "better told")
{
    OperatorManifest manifest = simple_operator("op1");
    manifest.version = version;
    manifest.description = description;
    return manifest;
}

class CopiedLibrary : public testing::Test {
  protected:
    CopiedLibrary()
    {
        service.seed({simple_operator("op1")}).value();
        other.add(simple_operator("op1"), "built_in");
    }
    ~CopiedLibrary() override { store.database().stop(); }

    void trust_key()
    {
        OperatorKeyOrder order;
        order.name = "ada";
        order.public_key_pem = keys.public_pem;
        order.key = parse_public_keys(keys.public_pem).value().front();
        OperatorKeysService key_service(store.database());
        io.run(key_service.add(caller, order)).value();
    }
    OperatorPackage package(const OperatorManifest& manifest) const
    {
        return sign_operator(manifest, tiny_object(), keys.private_pem).value();
    }
    /// One look, as another replica would take it: it reads the library anew.
    Result<LibraryCopy> look()
    {
        service.seed({simple_operator("op1")}).value();
        LibraryFollower follower(store.database(), service, runs, place, other.site(), metrics);
        return follower.look();
    }
    std::string stored() const
    {
        return store.sql("SELECT string_agg(id || '@' || version || ' ' || origin || "
                         "CASE WHEN withdrawn_at IS NULL THEN '' ELSE ' withdrawn' END, ', ' ORDER BY id, version) "
                         "FROM operator");
    }

    TestStore store;
    fathom::test::TestIo io;
    Metrics metrics;
    OperatorsService service{store.database()};
    CountedRuns runs;
    OtherLibrary other;
    LibraryPlace place{.url = "https://other.example.org", .token = "secret", .authority_pem = ""};
    const Caller caller{"tok_expert", "req_1"};
    const KeyPair keys = new_key_pair().value();
};

TEST_F(CopiedLibrary, HasChangesAndUploadsUnderTheNumbersThatTheyHaveThere)
{
    trust_key();
    other.add(changed(2, "told"), "expert");
    other.add(changed(5), "expert");
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
    other.add(changed(2), "expert");
    other.upload(package(uploaded_operator("lu", 1)));
    look().value();
    other.newest("op1")["withdrawn_at"] = "2026-11-20T08:00:00Z";
    other.newest("lu")["withdrawn_at"] = "2026-11-20T08:00:00Z";
    other.add(changed(3), "expert");
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
    other.add(changed(2), "expert");

    const LibraryCopy copy = look().value();

    EXPECT_EQ(stored(), "op1@1 built_in, op1@2 expert") << "others come all the same";
    ASSERT_EQ(copy.differences.size(), 1U);
    EXPECT_THAT(copy.differences[0], HasSubstr("version 1 of lu: "));
    trust_key();
    look().value();
    EXPECT_EQ(stored(), "lu@1 uploaded, op1@1 built_in, op1@2 expert") << "once the key is trusted";
}

/// A whole library's code is not in memory at once: what has come is copied before more is asked for.
TEST_F(CopiedLibrary, IsCopiedPartByPartWhereItsCodeIsLarge)
{
    trust_key();
    constexpr std::int64_t kVersions = 40; // of 480 KiB: 19 MiB, which is more than twice what is held
    const std::string code = tiny_object() + std::string(480UL << 10U, 'x');
    for (std::int64_t version = 1; version <= kVersions; ++version)
        other.upload(sign_operator(uploaded_operator("lu", version), code, keys.private_pem).value());
    std::vector<std::string> copied_before; ///< each package that was asked for
    LibrarySite site = other.site();
    site.ask = [&, ask = site.ask](const std::string& target) {
        if (target.ends_with("/package")) copied_before.push_back(store.sql("SELECT count(*) FROM operator_package"));
        return ask(target);
    };
    service.seed({simple_operator("op1")}).value();
    LibraryFollower follower(store.database(), service, runs, place, site, metrics);

    const LibraryCopy copy = follower.look().value();

    EXPECT_EQ(copy.missing.size(), static_cast<std::size_t>(kVersions));
    EXPECT_THAT(copy.differences, IsEmpty());
    EXPECT_EQ(store.sql("SELECT count(*) FROM operator_package"), "40");
    ASSERT_EQ(copied_before.size(), static_cast<std::size_t>(kVersions)) << "each is asked for once";
    EXPECT_EQ(copied_before[17], "0");
    EXPECT_EQ(copied_before[18], "18") << "18 of them have 8 MiB";
    EXPECT_EQ(copied_before[39], "36");
}

TEST_F(CopiedLibrary, DoesNotFollowOneWhoseManifestsHaveNoEnd)
{
    LibrarySite site = other.site();
    const Json item = other.newest("op1");
    std::size_t asked = 0;
    site.ask = [&](const std::string&) -> Result<Json> {
        Json large = item;
        large["id"] = "op" + std::to_string(++asked);
        large["description"] = std::string(3UL << 20U, 'x');
        return Json{{"items", Json::array({std::move(large)})}, {"next_page_token", "more"}};
    };

    const Error error = read_followed_library(site).error();
    EXPECT_EQ(error.code, Errc::kTooLarge);
    EXPECT_THAT(error.detail, HasSubstr("64 MiB"));
    EXPECT_EQ(asked, 22U);
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
    io.run(service.change(caller, "op1", {changed(0, "told here"), std::nullopt}, [](std::int64_t) { return true; }))
        .value();
    other.add(changed(2, "told there"), "expert");
    other.add(changed(3), "expert");

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
    other.add(changed(2), "built_in");
    other.add(changed(3, "told by an expert"), "expert");

    EXPECT_THAT(look().value().differences, ElementsAre(HasSubstr("version 2 of op1 comes with another release"),
                                                        HasSubstr("version 3 of op1 follows one that comes with")));
    EXPECT_EQ(stored(), "op1@1 built_in");

    service.seed({changed(1)}).value(); // the same release has come
    LibraryFollower follower(store.database(), service, runs, place, other.site(), metrics);
    EXPECT_THAT(follower.look().value().differences, IsEmpty());
    EXPECT_EQ(stored(), "op1@1 built_in, op1@2 built_in, op1@3 expert");
}

TEST_F(CopiedLibrary, SaysWhatThisReleaseHasNoCodeFor)
{
    other.add(changed(2), "built_in");
    OperatorManifest other_code = changed(3);
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

TEST_F(CopiedLibrary, StaysAsItIsWhileTheOtherIsAway)
{
    other.add(changed(2), "expert");
    look().value();
    other.failure = Error{Errc::kUnavailable, "connection refused"};

    EXPECT_EQ(look().error().detail, "connection refused");
    EXPECT_EQ(stored(), "op1@1 built_in, op1@2 expert");
    EXPECT_EQ(service.library()->find("op1")->manifest.version, 2);
}

TEST_F(CopiedLibrary, IsChangedWhereItComesFromAndWithdrawnFromHereToo)
{
    service.copy_from(place.url);

    const auto added = io.run(service.add(caller, {simple_operator("op2"), std::nullopt}));
    const auto edited =
        io.run(service.change(caller, "op1", {changed(0), std::nullopt}, [](std::int64_t) { return true; }));

    EXPECT_EQ(added.error().code, Errc::kConflict);
    EXPECT_EQ(edited.error().code, Errc::kConflict);
    EXPECT_THAT(edited.error().detail, HasSubstr("https://other.example.org: change it there"));
    EXPECT_TRUE(io.run(service.withdraw(caller, "op1", 1)));
}

TEST_F(CopiedLibrary, LeavesOutWhatItDoesNotUnderstand)
{
    other.add(changed(2), "expert");
    OperatorManifest strange = changed(3);
    other.add(strange, "expert");
    other.newest("op1")["quantum"] = true; // of a release to come

    const LibraryCopy copy = look().value();

    EXPECT_EQ(stored(), "op1@1 built_in, op1@2 expert");
    EXPECT_THAT(copy.differences, ElementsAre(HasSubstr("a version of op1 cannot be read by this release")));
}

TEST_F(CopiedLibrary, DoesNotFollowAnswersThatAreNoLibrary)
{
    const std::string first = "/api/v1/operators?page_size=20";
    const auto error_of = [&](const Json& answer) {
        other.answers[first] = answer;
        const Result<LibraryCopy> copy = look();
        return copy ? Error{Errc::kInternal, "copied"} : copy.error();
    };
    const Json item = other.newest("op1");
    Json no_id = item;
    no_id["id"] = "../tokens";

    EXPECT_EQ(error_of(Json::array()).code, Errc::kInvalid);
    EXPECT_EQ(error_of({{"items", 7}, {"next_page_token", nullptr}}).code, Errc::kInvalid);
    EXPECT_EQ(error_of({{"items", Json::array({"x"})}, {"next_page_token", nullptr}}).code, Errc::kInvalid);
    EXPECT_EQ(error_of({{"items", Json::array({no_id})}, {"next_page_token", nullptr}}).code, Errc::kInvalid);
    EXPECT_EQ(error_of({{"items", Json::array()}, {"next_page_token", "a&b=c\r\n"}}).code, Errc::kInvalid);
    EXPECT_EQ(stored(), "op1@1 built_in");
}

TEST_F(CopiedLibrary, DoesNotFollowAListWithoutEnd)
{
    LibrarySite endless = other.site();
    std::size_t asked = 0;
    endless.ask = [&](const std::string&) -> Result<Json> {
        ++asked;
        return Json{{"items", Json::array()}, {"next_page_token", "more"}};
    };

    EXPECT_EQ(read_followed_library(endless).error().code, Errc::kTooLarge);
    EXPECT_LT(asked, 2000U);
}

TEST_F(CopiedLibrary, IsLookedAtByAThreadThatEndsInTheMiddleOfALook)
{
    std::mutex mutex;
    std::condition_variable changes;
    bool is_asked = false;
    bool is_interrupted = false;
    const LibrarySite slow{.ask = [&](const std::string&) -> Result<Json> {
                               std::unique_lock lock(mutex);
                               is_asked = true;
                               changes.notify_all();
                               changes.wait(lock, [&] { return is_interrupted; });
                               return Error{Errc::kUnavailable, "interrupted"};
                           },
                           .interrupt =
                               [&] {
                                   const std::lock_guard lock(mutex);
                                   is_interrupted = true;
                                   changes.notify_all();
                               }};
    LibraryFollower follower(store.database(), service, runs, place, slow, metrics);

    follower.start();
    {
        std::unique_lock lock(mutex);
        changes.wait(lock, [&] { return is_asked; });
    }
    follower.stop();

    EXPECT_TRUE(is_interrupted);
}

} // namespace
} // namespace fathom::server
