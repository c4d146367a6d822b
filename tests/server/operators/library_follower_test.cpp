#include "tests/server/operators/copied_library.hpp"

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

namespace fathom::server {
namespace {

using test::simple_operator;
using test::tiny_object;
using test::uploaded_operator;
using testing::HasSubstr;
using testing::IsEmpty;

class LibraryFollowing : public CopiedLibrary {};

/// A whole library's code is not in memory at once: what has come is copied before more is asked for.
TEST_F(LibraryFollowing, IsCopiedPartByPartWhereItsCodeIsLarge)
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

TEST_F(LibraryFollowing, DoesNotFollowOneWhoseManifestsHaveNoEnd)
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

TEST_F(LibraryFollowing, StaysAsItIsWhileTheOtherIsAway)
{
    other.add(changed_operator(2), "expert");
    look().value();
    other.failure = Error{Errc::kUnavailable, "connection refused"};

    EXPECT_EQ(look().error().detail, "connection refused");
    EXPECT_EQ(stored(), "op1@1 built_in, op1@2 expert");
    EXPECT_EQ(service.library()->find("op1")->manifest.version, 2);
}

TEST_F(LibraryFollowing, DoesNotFollowAnswersThatAreNoLibrary)
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

TEST_F(LibraryFollowing, DoesNotFollowAListWithoutEnd)
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

TEST_F(LibraryFollowing, IsLookedAtByAThreadThatEndsInTheMiddleOfALook)
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
