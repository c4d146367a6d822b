#include "server/operators/library_follower.hpp"

#include "core/base/log.hpp"
#include "core/base/utf8_prefix.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxToldBytes = 500; ///< of a sentence: names and faults in it are another's

std::string brief(const std::string& text)
{
    return std::string(utf8_prefix(text, kMaxToldBytes));
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
    std::vector<std::string> not_had;
    const OperatorLibraryPointer own = operators_->library();
    const std::map<VersionName, OperatorPackage> packages =
        fetch_packages(plan_library_copy(*own, *followed).missing, not_had);
    auto work = [&](pqxx::work& transaction) {
        return copy_library(transaction, *followed, packages, place_.url, *runs_);
    };
    Result<LibraryCopy> copy = database_->blocking_run(work);
    if (copy) copy->differences.insert(copy->differences.end(), not_had.begin(), not_had.end());
    return copy;
}

std::map<VersionName, OperatorPackage> LibraryFollower::fetch_packages(const std::vector<FollowedVersion>& missing,
                                                                       std::vector<std::string>& differences) const
{
    std::map<VersionName, OperatorPackage> packages;
    for (const FollowedVersion& version : missing) {
        if (version.origin != "uploaded") continue;
        const OperatorManifest& manifest = version.manifest;
        Result<OperatorPackage> package = read_followed_package(site_, manifest);
        if (package)
            packages.emplace(VersionName(manifest.id, manifest.version), std::move(*package));
        else
            differences.push_back("the package of version " + std::to_string(manifest.version) + " of " + manifest.id +
                                  " was not had: " + package.error().detail);
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
