#include "agent/executor/local/cached_inputs.hpp"

#include "agent/executor/local/staging_report.hpp"
#include "core/base/open_inside.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

bool is_cacheable(const JobInput& input)
{
    return !input.sha256.empty() && !input.url.starts_with("file://");
}

/// By steps that no link of the job's leads astray; none is open where the job has left none there.
OpenFile open_staged(int work, const std::string& path, uid_t owner)
{
    OpenFile folder;
    int parent = work;
    std::size_t begin = 0;
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', begin)) {
        Result<OpenFile> next = open_folder(parent, path.substr(begin, end - begin), owner);
        if (!next) return OpenFile();
        folder = std::move(*next);
        parent = folder.number();
        begin = end + 1;
    }
    return OpenFile(
        ::openat(parent, path.substr(begin).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

} // namespace

CachedInputs::CachedInputs(const SupervisorOrder& order) : order_(order)
{
    const std::vector<JobInput>& inputs = order.run.order.inputs;
    if (order.input_cache.limit_bytes <= 0 || std::none_of(inputs.begin(), inputs.end(), is_cacheable)) return;
    Result<InputCache> cache = InputCache::open(order.input_cache);
    if (!cache) return;
    cache_ = std::move(*cache);
    for (const JobInput& input : inputs) {
        if (!is_cacheable(input) || found_.contains(input.sha256)) continue;
        OpenFile file = cache_->find(input.sha256);
        if (file.number() < 0) continue;
        found_.insert(input.sha256);
        open_.emplace(input.sha256, std::move(file));
    }
}

std::map<std::string, int> CachedInputs::numbers() const
{
    std::map<std::string, int> numbers;
    for (const auto& [sha256, file] : open_)
        numbers.emplace(sha256, file.number());
    return numbers;
}

void CachedInputs::keep_fetched(const AttemptFolder& folder) const
{
    if (!cache_) return;
    const uid_t owner = order_.user ? order_.user->uid : ::geteuid();
    const Result<OpenFile> work = open_folder(AT_FDCWD, folder.work(), owner);
    if (!work) return;
    const std::vector<std::string> spoiled = read_spoiled_inputs(work->number(), owner);
    for (const JobInput& input : order_.run.order.inputs) {
        if (!is_cacheable(input)) continue;
        if (found_.contains(input.sha256)) {
            if (std::find(spoiled.begin(), spoiled.end(), input.sha256) == spoiled.end()) continue;
            cache_->check(input.sha256);
        }
        const OpenFile file = open_staged(work->number(), input.path, owner);
        // What the job has changed is not kept, and what cannot be kept is fetched again.
        if (file.number() >= 0) static_cast<void>(cache_->keep(file.number(), input.sha256));
    }
}

} // namespace fathom::agent
