#include "agent/executor/local/input_cache_room.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kNow_ns = 100 * kLongUnused_ns;

/// Used last so many seconds ago.
KeptInput kept(const std::string& name, std::int64_t size_bytes, std::int64_t ago_s,
               std::optional<unsigned> bringer = std::nullopt)
{
    return {.sha256 = name, .size_bytes = size_bytes, .used_ns = kNow_ns - ago_s * 1'000'000'000, .bringer = bringer};
}

Result<std::vector<std::string>> leaving_of_ten(std::vector<KeptInput> files, const KeptInput& coming)
{
    return choose_leaving(std::move(files), coming, 10, kNow_ns);
}

TEST(InputCacheRoom, IsMadeByWhatWasNotUsedForLongest)
{
    const std::vector<KeptInput> files{kept("a", 4, 10), kept("b", 4, 30), kept("c", 2, 20)};

    EXPECT_THAT(leaving_of_ten(files, kept("d", 4, 0)).value(), ElementsAre("b"));
    EXPECT_THAT(leaving_of_ten(files, kept("d", 6, 0)).value(), ElementsAre("b", "c"));
    EXPECT_THAT(leaving_of_ten({kept("a", 4, 10)}, kept("d", 6, 0)).value(), IsEmpty());
    EXPECT_EQ(leaving_of_ten({}, kept("d", 11, 0)).error().code, Errc::kTooLarge);
}

TEST(InputCacheRoom, IsMadeByWhoHasBroughtMost)
{
    const std::vector<KeptInput> files{kept("a1", 3, 10, 1), kept("a2", 3, 20, 1), kept("b", 4, 30, 2)};

    EXPECT_THAT(leaving_of_ten(files, kept("c", 2, 0, 3)).value(), ElementsAre("a2"));
    EXPECT_THAT(leaving_of_ten(files, kept("a3", 4, 0, 1)).value(), ElementsAre("a2", "a1"))
        << "nobody else loses something to it";
}

TEST(InputCacheRoom, IsNotMadeByThoseWhoHaveLessThanWhoBringsMore)
{
    const std::vector<KeptInput> files{kept("a", 4, 10, 1), kept("b", 4, 20, 2)};

    EXPECT_EQ(leaving_of_ten(files, kept("c", 7, 0, 3)).error().code, Errc::kTooLarge);
    EXPECT_THAT(leaving_of_ten(files, kept("c", 3, 0, 3)).value(), ElementsAre("b"))
        << "of equal ones what was not used for longer";
}

TEST(InputCacheRoom, IsMadeFirstByWhatNobodyHasUsedForLong)
{
    constexpr std::int64_t kLong_s = kLongUnused_ns / 1'000'000'000 + 1;
    const std::vector<KeptInput> files{kept("a", 4, kLong_s, 1), kept("b", 4, kLong_s, 2), kept("c", 2, 1, 3)};

    EXPECT_THAT(leaving_of_ten(files, kept("d", 8, 0, 4)).value(), ElementsAre("a", "b"));
    EXPECT_THAT(leaving_of_ten(files, kept("d", 3, 0, 3)).value(), ElementsAre("a"));
}

} // namespace
} // namespace fathom::agent
