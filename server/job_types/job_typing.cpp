#include "server/job_types/job_typing.hpp"

namespace fathom::server {
namespace {

constexpr std::size_t kMaxKinds = 4096;

/// Equal for jobs with the same mix.
std::string kind_of(const std::vector<OperatorUse>& operators)
{
    std::string kind;
    for (const OperatorUse& use : operators) {
        kind += operator_key(use.id, use.parameters) + '@' + std::to_string(use.version) + '*' +
                std::to_string(use.count) + '\n';
        if (use.share) kind += std::to_string(*use.share);
    }
    return kind;
}

} // namespace

std::string JobTyping::type_of(const JobSpec& spec, const std::string& owner, const CatalogPointer& catalog)
{
    // Neither a named type nor an application needs the catalog.
    if (!spec.type.empty() || spec.operators.empty()) return job_type_for(spec, {}, catalog->manifests()).name;
    const std::string kind = owner + '\n' + kind_of(spec.operators) + '\n' + spec.project;
    {
        const std::scoped_lock lock(mutex_);
        if (catalog_ != catalog || types_.size() >= kMaxKinds) {
            catalog_ = catalog;
            types_.clear();
        }
        if (const auto found = types_.find(kind); found != types_.end()) return found->second;
    }
    std::string type = catalog->type_of(spec, owner).name;
    const std::scoped_lock lock(mutex_);
    if (catalog_ == catalog) types_[kind] = type;
    return type;
}

} // namespace fathom::server
