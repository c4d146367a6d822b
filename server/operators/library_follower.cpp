#include "server/operators/library_follower.hpp"

#include "core/base/log.hpp"
#include "core/base/utf8_prefix.hpp"

#include <algorithm>
#include <iterator>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxToldBytes = 500; ///< of a sentence: names and faults in it are another's

std::string brief(const std::string& text)
{
    return std::string(utf8_prefix(text, kMaxToldBytes));
}

/// What one transaction copied is added to what those before it did. They all tell of the whole library's differences.
void add_copy(LibraryCopy& all, LibraryCopy copied)
{
    std::move(copied.missing.begin(), copied.missing.end(), std::back_inserter(all.missing));
    std::move(copied.withdrawn.begin(), copied.withdrawn.end(), std::back_inserter(all.withdrawn));
    for (std::string& difference : copied.differences) {
        if (std::find(all.differences.begin(), all.differences.end(), difference) == all.differences.end())
            all.differences.push_back(std::move(difference));
    }
}

} // namespace

LibraryFollower::LibraryFollower(Database& database, const OperatorsService& operators, ProbeRunTerminator& runs,
                                 LibraryPlace place, LibrarySite site, Metrics& metrics)
    : database_(&database), operators_(&operators), runs_(&runs), place_(std::move(place)), site_(std::move(site)),
      metrics_(&metrics)
{
}

LibraryFollower::~LibraryFollower()
{
    stop();
}

void LibraryFollower::start()
{
    thread_ = std::thread([this] { repeat(); });
}

void LibraryFollower::stop()
{
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    if (!thread_.joinable()) return;
    wake_.notify_all();
    site_.interrupt();
    thread_.join();
}

void LibraryFollower::repeat()
{
    for (;;) {
        const Result<LibraryCopy> outcome = look();
        std::unique_lock lock(mutex_);
        if (is_stopping_) return; // what failed did so for that reason
        tell(outcome);
        if (wake_.wait_for(lock, place_.period, [this] { return is_stopping_; })) return;
    }
}

Result<LibraryCopy> LibraryFollower::look()
{
    const Result<FollowedLibrary> followed = read_followed_library(site_);
    if (!followed) return followed.error();
    const OperatorLibraryPointer own = operators_->library();
    std::vector<FollowedVersion> signed_ones = plan_library_copy(*own, *followed).missing;
    std::erase_if(signed_ones, [](const FollowedVersion& version) { return version.origin != "uploaded"; });
    LibraryCopy all;
    std::span<const FollowedVersion> next = signed_ones;
    do {
        const std::map<VersionName, OperatorPackage> packages = fetch_packages(next, all);
        auto work = [&](pqxx::work& transaction) {
            return copy_library(transaction, *followed, packages, place_.url, *runs_);
        };
        Result<LibraryCopy> copied = database_->blocking_run(work);
        if (!copied) return copied.error();
        add_copy(all, std::move(*copied));
    } while (!next.empty());
    return all;
}

std::map<VersionName, OperatorPackage> LibraryFollower::fetch_packages(std::span<const FollowedVersion>& next,
                                                                       LibraryCopy& copy) const
{
    std::map<VersionName, OperatorPackage> packages;
    for (std::size_t held_bytes = 0; !next.empty() && held_bytes < kMaxHeldBytes; next = next.subspan(1)) {
        const OperatorManifest& manifest = next.front().manifest;
        Result<OperatorPackage> package = read_followed_package(site_, manifest);
        if (!package) {
            copy.differences.push_back("the package of version " + std::to_string(manifest.version) + " of " +
                                       manifest.id + " was not had: " + package.error().detail);
            continue;
        }
        held_bytes += package->object.size();
        packages.emplace(VersionName(manifest.id, manifest.version), std::move(*package));
    }
    return packages;
}

void LibraryFollower::tell(const Result<LibraryCopy>& outcome)
{
    metrics_->set("fathom_library_is_reached", "1 when the last look at the library that is copied succeeded, else 0.",
                  outcome ? 1 : 0);
    const std::string failure = outcome ? "" : brief(describe(outcome.error()));
    if (!failure.empty() && failure != told_failure_)
        log_warning(
            "library_not_reached",
            {{"library_url", place_.url}, {"reason", failure}, {"effect", "operators stay as they were copied last"}});
    if (failure.empty() && !told_failure_.empty()) log_info("library_reached_again", {{"library_url", place_.url}});
    told_failure_ = failure;
    if (!outcome) return;
    for (const FollowedVersion& version : outcome->missing)
        log_info("operator_copied", {{"operator", version.manifest.id}, {"version", version.manifest.version}});
    metrics_->set("fathom_library_differences", "What the copied library has that cannot be had here.",
                  static_cast<double>(outcome->differences.size()));
    for (const std::string& difference : outcome->differences) {
        if (std::find(told_differences_.begin(), told_differences_.end(), difference) == told_differences_.end())
            log_warning("library_differs", {{"library_url", place_.url}, {"difference", brief(difference)}});
    }
    told_differences_ = outcome->differences;
}

} // namespace fathom::server
