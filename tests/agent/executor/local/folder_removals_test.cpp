#include "agent/executor/local/folder_removals.hpp"
#include "agent/executor/local/remove_tree.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/eventually.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <future>

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;
using test::eventually;
using testing::HasSubstr;

class FolderRemovalsTest : public testing::Test {
  protected:
    fs::path make_folder(const std::string& name)
    {
        const fs::path path = folder_.path() / name;
        fs::create_directories(path / "deep");
        std::ofstream(path / "deep/file") << "x";
        return path;
    }
    static bool is_removed(FolderRemovals& removals, const AttemptId& id, const std::vector<fs::path>& folders)
    {
        return eventually([&] { return removals.remove(id, folders).has_value(); });
    }

    test::TemporaryFolder folder_;
};

TEST_F(FolderRemovalsTest, KeepNobodyWaitingForOneThatTakesLong)
{
    std::promise<void> may_go_on;
    const std::shared_future<void> gate = may_go_on.get_future().share();
    FolderRemovals removals([gate](const fs::path& path, const std::stop_token& stop) {
        gate.wait();
        return remove_tree(path, stop);
    });
    const AttemptId first = AttemptId::make();
    const AttemptId second = AttemptId::make();
    const fs::path large = make_folder("large");
    const fs::path other = make_folder("other");

    EXPECT_EQ(removals.remove(first, {large}).error().code, Errc::kConflict);
    EXPECT_EQ(removals.remove(second, {other}).error().code, Errc::kConflict);
    EXPECT_EQ(removals.remove(first, {large}).error().code, Errc::kConflict);
    EXPECT_TRUE(fs::exists(large));
    may_go_on.set_value();

    EXPECT_TRUE(is_removed(removals, first, {large}));
    EXPECT_TRUE(is_removed(removals, second, {other}));
    EXPECT_FALSE(fs::exists(large));
    EXPECT_FALSE(fs::exists(other));
}

TEST_F(FolderRemovalsTest, TellWhatCannotBeDeletedOnceAndTryItAnewWhenAsked)
{
    bool is_stubborn = true;
    FolderRemovals removals([&is_stubborn](const fs::path& path, const std::stop_token& stop) {
        return is_stubborn ? Result<void>(Error{Errc::kUnavailable, "cannot delete it"}) : remove_tree(path, stop);
    });
    const AttemptId id = AttemptId::make();
    const fs::path work = make_folder("attempt/work");
    const std::vector<fs::path> folders{work, work.parent_path()};
    Result<void> removed = removals.remove(id, folders);
    EXPECT_TRUE(eventually([&] {
        if (!removed && removed.error().code == Errc::kConflict) removed = removals.remove(id, folders);
        return removed || removed.error().code != Errc::kConflict;
    }));
    ASSERT_FALSE(removed);
    EXPECT_THAT(removed.error().detail, HasSubstr("cannot delete it"));
    EXPECT_TRUE(fs::exists(work)) << "and what is behind it stays, too";

    is_stubborn = false;

    EXPECT_TRUE(is_removed(removals, id, folders));
    EXPECT_FALSE(fs::exists(work.parent_path()));
}

TEST_F(FolderRemovalsTest, EndSoonWhateverIsLeft)
{
    std::promise<void> has_begun;
    std::optional<FolderRemovals> removals(std::in_place, [&](const fs::path&, const std::stop_token& stop) {
        has_begun.set_value();
        while (!stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return Result<void>(Error{Errc::kUnavailable, "it was to stop"});
    });
    EXPECT_FALSE(removals->remove(AttemptId::make(), {make_folder("large")}));
    EXPECT_FALSE(removals->remove(AttemptId::make(), {make_folder("other")}));
    has_begun.get_future().wait();

    removals.reset();

    EXPECT_TRUE(fs::exists(folder_.path() / "other"));
}

TEST_F(FolderRemovalsTest, OfATreeStopWhenTheyAreTo)
{
    const fs::path tree = make_folder("tree");
    std::stop_source stop;
    stop.request_stop();

    EXPECT_FALSE(remove_tree(tree, stop.get_token()));

    EXPECT_TRUE(fs::exists(tree / "deep/file"));
}

} // namespace
} // namespace fathom::agent
