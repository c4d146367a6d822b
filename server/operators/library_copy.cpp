#include "server/operators/library_copy.hpp"

#include "server/identity/audit.hpp"
#include "server/operators/operator_changes.hpp"
#include "server/operators/operator_keys_store.hpp"
#include "server/store/notifier.hpp"

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

constexpr const char* kActor = "library"; ///< in the audit log, and as who made a version

std::string name_of(const OperatorManifest& manifest)
{
    return "version " + std::to_string(manifest.version) + " of " + manifest.id;
}

/// The faults of a change in one line.
std::string first_fault(const std::vector<FieldError>& errors)
{
    const FieldError& first = errors.front();
    const std::string more = errors.size() > 1 ? " and " + std::to_string(errors.size() - 1) + " more" : "";
    return first.field + " " + first.detail + more;
}

/// Why a version that is not here cannot be; empty: it can.
std::string obstacle(const OperatorLibrary& own, const FollowedVersion& version)
{
    const OperatorLibrary::Version* const built_in = own.built_in(version.manifest.id);
    const std::string name = name_of(version.manifest);
    if (version.origin == "built_in") return name + " comes with another release of Fathom than this one";
    if (version.origin == "uploaded")
        return built_in == nullptr ? "" : name + " was uploaded there, and the operator is built in here";
    if (built_in == nullptr) return name + " is of an operator that this release does not have";
    std::vector<FieldError> errors;
    check_expert_change(version.manifest, built_in->manifest, errors);
    return errors.empty() ? "" : name + " is not of the code that this release has: " + first_fault(errors);
}

class Plan {
  public:
    explicit Plan(const OperatorLibrary& own) : own_(&own) {}

    void add(const FollowedVersion& version)
    {
        const OperatorManifest& manifest = version.manifest;
        if (const OperatorLibrary::Version* const known = own_->find(manifest.id, manifest.version)) {
            compare(version, *known);
            return;
        }
        if (version.origin == "built_in") behind_.insert(manifest.id);
        if (!version.is_withdrawn && !others_.contains(manifest.id)) add_missing(version);
    }

    LibraryCopy take() { return std::move(copy_); }

  private:
    static bool is_same(const FollowedVersion& version, const OperatorLibrary::Version& known)
    {
        const bool is_code_of_both = (version.origin == "uploaded") == (known.origin == "uploaded");
        const bool is_other_code = !version.object_sha256.empty() && version.object_sha256 != known.object_sha256;
        return is_code_of_both && !is_other_code && same_content(version.manifest, known.manifest);
    }

    void compare(const FollowedVersion& version, const OperatorLibrary::Version& known)
    {
        const OperatorManifest& manifest = version.manifest;
        if (!is_same(version, known)) {
            if (others_.insert(manifest.id).second)
                copy_.differences.push_back(name_of(manifest) +
                                            " is another one here: of this operator nothing more is copied");
            return;
        }
        if (version.origin == "built_in") behind_.erase(manifest.id);
        if (version.is_withdrawn && !known.withdrawn_at && !others_.contains(manifest.id))
            copy_.withdrawn.emplace_back(manifest.id, manifest.version);
    }

    void add_missing(const FollowedVersion& version)
    {
        std::string why_not = obstacle(*own_, version);
        // The release that comes takes the next number here, so that must still be the one that it has there.
        if (why_not.empty() && behind_.contains(version.manifest.id))
            why_not =
                name_of(version.manifest) + " follows one that comes with another release of Fathom than this one";
        if (why_not.empty())
            copy_.missing.push_back(version);
        else
            copy_.differences.push_back(std::move(why_not));
    }

    const OperatorLibrary* own_;
    LibraryCopy copy_;
    std::set<std::string> others_; ///< operators of which a version means something else here
    std::set<std::string> behind_; ///< operators whose newest built-in version so far is not here
};

/// Copies within one transaction.
class Copying {
  public:
    Copying(pqxx::work& transaction, const std::map<VersionName, OperatorPackage>& packages, const std::string& source)
        : transaction_(&transaction), packages_(&packages), source_(&source)
    {
    }

    /// Whether it has what belongs to it: else its package could not be had, or it is newer than what was asked for.
    bool is_complete(const FollowedVersion& version) const
    {
        return version.origin != "uploaded" || packages_->contains({version.manifest.id, version.manifest.version});
    }

    /// Why it cannot be; empty: it was added. Of what is complete.
    std::string add(const FollowedVersion& version)
    {
        const OperatorManifest& manifest = version.manifest;
        const OperatorPackage* package = nullptr;
        if (version.origin == "uploaded") {
            package = &packages_->at({manifest.id, manifest.version});
            const Result<void> verified = verify_operator_package(*package, trusted_keys());
            if (!verified) return name_of(manifest) + ": " + verified.error().detail;
        }
        insert_operator(*transaction_, manifest, version.origin, kActor);
        if (package != nullptr) insert_package(*transaction_, *package);
        Json detail = {{"version", manifest.version}, {"from", *source_}};
        if (package != nullptr) detail["key_id"] = package->key_id;
        audit(*transaction_, kActor, "operator.copy", manifest.id, "", detail);
        return "";
    }

  private:
    const std::vector<PublicKey>& trusted_keys()
    {
        if (!trusted_) {
            lock_operator_keys(*transaction_);
            trusted_ = select_trusted_keys(*transaction_);
        }
        return *trusted_;
    }

    pqxx::work* transaction_;
    const std::map<VersionName, OperatorPackage>* packages_;
    const std::string* source_;
    std::optional<std::vector<PublicKey>> trusted_;
};

} // namespace

LibraryCopy plan_library_copy(const OperatorLibrary& own, const FollowedLibrary& followed)
{
    std::vector<const FollowedVersion*> versions;
    for (const FollowedVersion& version : followed.versions)
        versions.push_back(&version);
    std::sort(versions.begin(), versions.end(), [](const FollowedVersion* a, const FollowedVersion* b) {
        return VersionName(a->manifest.id, a->manifest.version) < VersionName(b->manifest.id, b->manifest.version);
    });
    const auto is_same = [](const FollowedVersion* a, const FollowedVersion* b) {
        return a->manifest.id == b->manifest.id && a->manifest.version == b->manifest.version;
    };
    versions.erase(std::unique(versions.begin(), versions.end(), is_same), versions.end());
    Plan plan(own);
    for (const FollowedVersion* const version : versions)
        plan.add(*version);
    LibraryCopy copy = plan.take();
    copy.differences.insert(copy.differences.end(), followed.unreadable.begin(), followed.unreadable.end());
    return copy;
}

Result<LibraryCopy> copy_library(pqxx::work& transaction, const FollowedLibrary& followed,
                                 const std::map<VersionName, OperatorPackage>& packages, const std::string& source,
                                 ProbeRunTerminator& runs)
{
    lock_library(transaction);
    LibraryCopy copy = plan_library_copy(select_library(transaction), followed);
    Copying copying(transaction, packages, source);
    std::vector<FollowedVersion> added;
    for (FollowedVersion& version : copy.missing) {
        if (!copying.is_complete(version)) continue;
        if (std::string why_not = copying.add(version); !why_not.empty())
            copy.differences.push_back(std::move(why_not));
        else
            added.push_back(std::move(version));
    }
    copy.missing = std::move(added);
    for (const auto& [id, version] : copy.withdrawn) {
        const Result<void> done = withdraw_operator(transaction, {kActor, ""}, id, version, &runs);
        if (!done) return done.error();
    }
    if (!copy.missing.empty()) wake_library_readers(transaction);
    return copy;
}

} // namespace fathom::server
