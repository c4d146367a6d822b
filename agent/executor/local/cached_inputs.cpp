#include "agent/executor/local/cached_inputs.hpp"

#include "agent/executor/local/staging_report.hpp"
#include "core/base/open_inside.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// Each supervisor of a job that has ended waits in a process of its own, and with it the job's files.
constexpr std::chrono::seconds kMaxWaitForOthers{60};

bool is_keepable(const JobInput& input)
{
    return !input.sha256.empty() && !input.url.starts_with("file://");
}

/// By steps that no link of the job's leads astray; none is open where the job has left none of its own there: the
/// agent may read files that the job may not, and the job could have given one of these a name there.
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
    OpenFile file(
        ::openat(parent, path.substr(begin).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat facts{};
    const bool is_theirs = file.number() >= 0 && ::fstat(file.number(), &facts) == 0 && facts.st_uid == owner;
    return is_theirs ? std::move(file) : OpenFile();
}

} // namespace

CachedInputs::CachedInputs(const SupervisorOrder& order) : order_(order)
{
    const std::vector<JobInput>& inputs = order.run.order.inputs;
    const bool has_part =
        !order.run.order.outputs.empty() || std::any_of(inputs.begin(), inputs.end(), is_found_by_content);
    if (order.input_cache.limit_bytes <= 0 || !has_part) return;
    Result<InputCache> cache = InputCache::open(order.input_cache);
    if (!cache) return;
    cache_ = std::move(*cache);
    for (const JobInput& input : inputs) {
        if (!is_found_by_content(input) || open_.contains(input.sha256)) continue;
        OpenFile file = cache_->find(input.sha256);
        if (file.number() >= 0) open_.emplace(input.sha256, std::move(file));
    }
}

std::map<std::string, int> CachedInputs::numbers() const
{
    std::map<std::string, int> numbers;
    for (const auto& [sha256, file] : open_)
        numbers.emplace(sha256, file.number());
    return numbers;
}

void CachedInputs::keep_for_later(const AttemptFolder& folder, const std::vector<StoredOutput>& outputs) const
{
    if (!cache_) return;
    const AttemptOrder& order = order_.run.order;
    const uid_t owner = order_.user ? order_.user->uid : ::geteuid();
    const KeepManner manner{.most_bytes = order_.input_cache.limit_bytes, .most_wait = kMaxWaitForOthers};
    // One list for each: of a job that has changed its inputs, the outputs are kept nevertheless.
    const std::vector<KeepableInput> stored = keepable_outputs(outputs, declared_paths(order.outputs));
    static_cast<void>(keep_staged(*cache_, stored, folder.work(), owner, manner));
    static_cast<void>(keep_staged(*cache_, keepable_inputs(order.inputs), folder.work(), owner, manner));
}

bool is_found_by_content(const JobInput& input)
{
    return is_keepable(input) || (!input.sha256.empty() && !input.from.empty());
}

std::vector<KeepableInput> keepable_inputs(const std::vector<JobInput>& inputs)
{
    std::vector<KeepableInput> keepable;
    for (const JobInput& input : inputs) {
        if (is_keepable(input)) keepable.push_back({input.path, input.sha256});
    }
    return keepable;
}

std::set<std::string> declared_paths(const std::vector<JobOutput>& outputs)
{
    std::set<std::string> paths;
    for (const JobOutput& output : outputs)
        paths.insert(output.path);
    return paths;
}

std::vector<KeepableInput> keepable_outputs(const std::vector<StoredOutput>& outputs, std::set<std::string> declared)
{
    std::vector<KeepableInput> keepable;
    for (const StoredOutput& output : outputs) {
        if (declared.erase(output.path) > 0) keepable.push_back({output.path, output.sha256});
    }
    return keepable;
}

Result<void> keep_staged(const InputCache& cache, const std::vector<KeepableInput>& inputs,
                         const std::filesystem::path& work, uid_t owner, const KeepManner& manner)
{
    const Result<OpenFile> folder = open_folder(AT_FDCWD, work, owner);
    if (!folder) return {};
    const std::vector<std::string> spoiled = read_spoiled_inputs(folder->number(), owner);
    std::set<std::string> checked; // a job could name one file as often as it likes
    std::int64_t read_bytes = 0;
    for (const KeepableInput& input : inputs) {
        if (manner.stop.stop_requested()) return {};
        const bool is_spoiled = std::find(spoiled.begin(), spoiled.end(), input.sha256) != spoiled.end();
        if (is_spoiled && checked.insert(input.sha256).second && !cache.check(input.sha256, manner)) return {};
        if (cache.find(input.sha256).number() >= 0) continue;
        const OpenFile file = open_staged(folder->number(), input.path, owner);
        struct stat facts{};
        if (file.number() < 0 || ::fstat(file.number(), &facts) != 0) continue;
        if (manner.most_bytes > 0 && facts.st_size > manner.most_bytes - read_bytes) continue;
        read_bytes += facts.st_size;
        // What cannot be kept is fetched again. Of a job that has changed one input, the others are not read for
        // nothing.
        const Result<void> kept = cache.keep(file.number(), input.sha256, manner);
        if (!kept && kept.error().code == Errc::kInvalid) return {};
        if (!kept && kept.error().code == Errc::kUnavailable)
            return manner.stop.stop_requested() ? Result<void>() : kept;
    }
    return {};
}

} // namespace fathom::agent
