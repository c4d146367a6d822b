#include "agent/executor/batch/input_keeper.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"

#include <algorithm>
#include <utility>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxBytesPerSecond = 256LL << 20U;
constexpr std::size_t kMaxInputsNoteBytes = 1UL << 20U;
constexpr std::size_t kMaxLine = 64;
constexpr std::size_t kMaxOfOneUser = 16; ///< whose jobs may have changed large files for nothing but to keep us busy

} // namespace

std::string encode(const std::vector<KeepableInput>& inputs)
{
    Json json = Json::array();
    for (const KeepableInput& input : inputs)
        json.push_back({{"path", input.path}, {"sha256", input.sha256}});
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<KeepableInput>> decode_keepable_inputs(const std::string& text)
{
    // Our own words: a type error in them can only be damage, so one message for all of them will do.
    try {
        std::vector<KeepableInput> inputs;
        for (const Json& input : Json::parse(text))
            inputs.push_back({input.at("path").get<std::string>(), input.at("sha256").get<std::string>()});
        return inputs;
    } catch (const Json::exception& e) {
        return Error{Errc::kInvalid, std::string("not inputs to be kept: ") + e.what()};
    }
}

void InputKeeper::keep(EndedJob job)
{
    if (place_.limit_bytes <= 0) return;
    const std::scoped_lock lock(mutex_);
    const auto of_user =
        std::count_if(line_.begin(), line_.end(), [&](const EndedJob& other) { return other.user == job.user; });
    if (line_.size() >= kMaxLine || static_cast<std::size_t>(of_user) >= kMaxOfOneUser) return;
    line_.push_back(std::move(job));
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stopped) { work(stopped); });
    changed_.notify_all();
}

bool InputKeeper::is_at(const AttemptId& id)
{
    const std::scoped_lock lock(mutex_);
    return std::any_of(line_.begin(), line_.end(), [&](const EndedJob& job) { return job.id == id; });
}

void InputKeeper::work(const std::stop_token& stopped)
{
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stopped, [this] { return !line_.empty(); })) {
        const EndedJob job = line_.front();
        lock.unlock();
        keep_files(job, stopped);
        lock.lock();
        line_.pop_front();
        if (stopped.stop_requested()) return;
    }
}

void InputKeeper::keep_files(const EndedJob& job, const std::stop_token& stopped)
{
    const Result<std::string> note = read_file(job.note, kMaxInputsNoteBytes);
    if (!note) return; // it has nothing to be kept
    const Result<std::vector<KeepableInput>> noted = decode_keepable_inputs(*note);
    const Result<InputCache> cache = noted ? InputCache::open(place_) : Result<InputCache>(noted.error());
    Result<void> kept = cache ? Result<void>() : Result<void>(cache.error());
    if (cache) {
        const KeepManner manner{.bringer = job.user,
                                .most_bytes = place_.limit_bytes,
                                .most_bytes_per_s = kMaxBytesPerSecond,
                                .is_flushed = true,
                                .stop = stopped};
        std::vector<KeepableInput> inputs;
        std::set<std::string> declared;
        for (const KeepableInput& file : *noted) {
            if (file.sha256.empty())
                declared.insert(file.path);
            else
                inputs.push_back(file);
        }
        // One list for each: of a job that has changed its inputs, the outputs are kept nevertheless.
        kept = keep_staged(*cache, keepable_outputs(job.outputs, std::move(declared)), job.work, job.user, manner);
        if (kept) kept = keep_staged(*cache, inputs, job.work, job.user, manner);
    }
    const bool is_told = std::exchange(is_told_, !kept);
    if (!kept && !is_told)
        log_warning("inputs_not_kept", {{"attempt_id", job.id.value},
                                        {"folder", place_.folder.string()},
                                        {"reason", kept.error().detail},
                                        {"effect", "jobs fetch their inputs each"}});
}

} // namespace fathom::agent
