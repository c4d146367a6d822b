#include "server/routing/batch/known_specs.hpp"

namespace fathom::server {

std::shared_ptr<const KnownSpec> KnownSpecs::get(std::string_view text)
{
    std::shared_ptr<const KnownSpec>& known = by_text_[std::string(text)];
    if (known) return known;
    auto read = std::make_shared<KnownSpec>();
    // A newer version may have written it, or one with other limits: that is no reason to route none of the others.
    if (Result<JobSpec> spec = parse_job_spec(Json::parse(text)))
        read->spec = std::move(*spec);
    else
        read->unreadable = spec.error();
    return known = std::move(read);
}

} // namespace fathom::server
