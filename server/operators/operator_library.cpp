#include "server/operators/operator_library.hpp"

namespace fathom::server {

OperatorLibrary::OperatorLibrary(std::vector<Version> versions)
{
    for (Version& version : versions) {
        const OperatorManifest& manifest = version.manifest;
        auto& slot = versions_[manifest.id];
        const std::int64_t number = manifest.version;
        slot.insert_or_assign(number, std::move(version));
    }
}

const OperatorLibrary::Version* OperatorLibrary::find(std::string_view id, std::int64_t version) const
{
    const auto entry = versions_.find(id);
    if (entry == versions_.end()) return nullptr;
    const auto& known = entry->second;
    if (version != 0) {
        const auto exact = known.find(version);
        return exact == known.end() ? nullptr : &exact->second;
    }
    for (auto newest = known.rbegin(); newest != known.rend(); ++newest) {
        if (!newest->second.withdrawn_at) return &newest->second;
    }
    return nullptr;
}

const OperatorManifest* OperatorLibrary::manifest(std::string_view id, std::int64_t version) const
{
    const Version* found = find(id, version);
    return found == nullptr ? nullptr : &found->manifest;
}

const OperatorLibrary::Version* OperatorLibrary::built_in(std::string_view id) const
{
    const auto entry = versions_.find(id);
    if (entry == versions_.end()) return nullptr;
    for (auto newest = entry->second.rbegin(); newest != entry->second.rend(); ++newest) {
        if (newest->second.origin == "built_in") return &newest->second;
    }
    return nullptr;
}

std::vector<const OperatorLibrary::Version*> OperatorLibrary::newest() const
{
    std::vector<const Version*> list;
    for (const auto& [id, known] : versions_) {
        if (const Version* version = find(id)) list.push_back(version);
    }
    return list;
}

FieldError OperatorLibrary::why_unknown(const OperatorUse& use, const std::string& field) const
{
    if (!versions_.contains(use.id)) return {field + ".id", "is not an operator of the library"};
    if (use.version == 0) return {field + ".id", "every version of " + use.id + " is withdrawn"};
    return {field + ".version", "is not a version of " + use.id};
}

std::vector<OperatorUse> OperatorLibrary::resolve(const std::vector<OperatorUse>& uses, const std::string& path,
                                                  std::vector<FieldError>& errors) const
{
    std::vector<OperatorUse> resolved;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const std::string field = path + "[" + std::to_string(i) + "]";
        const Version* version = find(uses[i].id, uses[i].version);
        if (version == nullptr) {
            errors.push_back(why_unknown(uses[i], field));
            continue;
        }
        if (version->withdrawn_at) {
            errors.push_back({field + ".version", "version " + std::to_string(version->manifest.version) + " of " +
                                                      uses[i].id +
                                                      " is withdrawn; leave the version out for the newest"});
            continue;
        }
        OperatorUse use = uses[i];
        use.version = version->manifest.version;
        use.parameters = complete_parameters(version->manifest, use.parameters, field + ".parameters", errors);
        resolved.push_back(std::move(use));
    }
    return resolved;
}

} // namespace fathom::server
