#include "agent/executor/batch/batch_folder.hpp"

#include "agent/executor/batch/input_keeper.hpp"
#include "agent/executor/batch/user_map.hpp"
#include "agent/executor/local/job_process.hpp"
#include "core/base/error_text.hpp"
#include "core/base/file.hpp"
#include "core/base/open_inside.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxNoteBytes = 4096;
// In BatchFolder::limits(), after the seconds and in this order.
constexpr std::string_view kMemoryNote = " memory "; ///< and the bytes
constexpr std::string_view kInputsNote = " inputs";
constexpr std::string_view kOutputsNote = " outputs";
constexpr std::string_view kImageNote = " image";
constexpr std::string_view kProfileNote = " profile";
// In BatchFolder::stop().
constexpr std::string_view kWallLimitNote = "wall_limit";
constexpr std::string_view kCancelledNote = "cancelled";
constexpr std::string_view kNeverStartsNote = "never_starts "; ///< and the reason

/// A file or folder becomes the job's user's.
Result<void> give(const std::filesystem::path& path, const std::optional<JobUser>& user)
{
    if (!user || ::lchown(path.c_str(), user->uid, user->gid) == 0) return {};
    const std::string name = user->name.empty() ? "the user " + std::to_string(user->uid) : user->name;
    return Error{Errc::kUnavailable, "cannot give " + path.string() + " to " + name + ": " + error_text(errno)};
}

/// The folders of the job and its files in them.
Result<void> write_work(const RunOrder& run, const BatchFolder& folder, const std::optional<JobUser>& user,
                        const BatchFolderOptions& options)
{
    SupervisorOrder work;
    work.run = run;
    work.user = user;
    work.staging = options.staging;
    const std::vector<JobInput>& inputs = run.order.inputs;
    if (options.input_cache.limit_bytes > 0 && std::any_of(inputs.begin(), inputs.end(), is_found_by_content))
        work.input_cache = options.input_cache;
    const AttemptFolder parts(folder.path);
    if (Result<void> made = prepare_work(work, parts); !made) return made;
    // A batch system's jobs have no view in which these would be theirs alone; here they are open to all users.
    for (const std::filesystem::path& open : {parts.tmp(), parts.var_tmp()})
        ::rmdir(open.c_str());
    if (Result<void> made = make_folder_with(folder.report(), 0700); !made) return made;
    if (Result<void> given = give(folder.report(), user); !given) return given;
    for (const char* stream : {"stdout", "stderr"}) {
        if (Result<void> made = write_file_unflushed(folder.path / stream, "", 0600); !made) return made;
        if (Result<void> given = give(folder.path / stream, user); !given) return given;
    }
    return {};
}

std::vector<KeepableInput> keepable_files(const AttemptOrder& order)
{
    std::vector<KeepableInput> keepable = keepable_inputs(order.inputs);
    for (const std::string& path : declared_paths(order.outputs))
        keepable.push_back({path, ""});
    return keepable;
}

} // namespace

BatchLimits limits_of(const RunOrder& run)
{
    return {.wall_limit_s = run.order.wall_limit_s,
            .memory_bytes = run.memory_bytes,
            .has_inputs = !run.order.inputs.empty(),
            .has_outputs = !run.order.outputs.empty(),
            .profile = run.order.profile,
            .has_own_image = !run.order.software.image.empty()};
}

std::string encode(const BatchLimits& limits)
{
    std::string text = std::to_string(limits.wall_limit_s);
    if (limits.memory_bytes > 0) text += std::string(kMemoryNote) + std::to_string(limits.memory_bytes);
    if (limits.has_inputs) text += kInputsNote;
    if (limits.has_outputs) text += kOutputsNote;
    if (limits.has_own_image) text += kImageNote;
    if (limits.profile) text += kProfileNote;
    return text;
}

BatchLimits decode_batch_limits(const std::string& text)
{
    BatchLimits limits;
    limits.wall_limit_s = std::strtoll(text.c_str(), nullptr, 10);
    if (const std::size_t note = text.find(kMemoryNote); note != std::string::npos)
        limits.memory_bytes = std::strtoll(text.c_str() + note + kMemoryNote.size(), nullptr, 10);
    limits.has_inputs = text.find(kInputsNote) != std::string::npos;
    limits.has_outputs = text.find(kOutputsNote) != std::string::npos;
    limits.has_own_image = text.find(kImageNote) != std::string::npos;
    limits.profile = text.ends_with(kProfileNote);
    return limits;
}

std::string encode(const StopNote& note)
{
    if (note.asked == EndAsked::kNeverStarts) return std::string(kNeverStartsNote) + note.never_reason;
    return std::string(note.asked == EndAsked::kWallLimit ? kWallLimitNote : kCancelledNote);
}

StopNote decode_stop_note(const std::string& text)
{
    if (!text.starts_with(kNeverStartsNote))
        return {text == kWallLimitNote ? EndAsked::kWallLimit : EndAsked::kCancelled};
    return {EndAsked::kNeverStarts, text.substr(kNeverStartsNote.size())};
}

Result<void> make_folder_with(const std::filesystem::path& path, mode_t mode)
{
    if ((::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) || ::chmod(path.c_str(), mode) != 0)
        return Error{Errc::kUnavailable, "cannot make " + path.string() + ": " + error_text(errno)};
    return {};
}

Result<void> check_is_roots(const std::filesystem::path& path, const char* setting)
{
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0)
        return Error{Errc::kUnavailable, "cannot look at " + path.string() + ": " + error_text(errno)};
    if (S_ISDIR(facts.st_mode) && facts.st_uid == 0 && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
    return Error{Errc::kUnavailable, path.string() + " (" + setting +
                                         ") can be changed by others than root, and so "
                                         "could what jobs run: chown root and chmod go-w"};
}

Result<void> write_for_job(const std::filesystem::path& path, std::string_view content, unsigned mode,
                           const std::optional<JobUser>& user)
{
    const std::filesystem::path part = path.string() + ".part";
    if (Result<void> written = write_file(part, content, mode); !written) return written;
    if (Result<void> given = give(part, user); !given) return given;
    if (::rename(part.c_str(), path.c_str()) == 0) return {};
    return Error{Errc::kUnavailable, "cannot make " + path.string() + ": " + error_text(errno)};
}

Result<void> write_batch_folder(const RunOrder& run, const BatchFolder& folder, const std::string& script,
                                const std::optional<JobUser>& user, const BatchFolderOptions& options)
{
    if (Result<void> written = write_work(run, folder, user, options); !written) return written;
    if (user) {
        if (Result<void> noted = write_file(folder.user(), encode(*user)); !noted) return noted;
    }
    if (Result<void> noted = write_file(folder.limits(), encode(limits_of(run))); !noted) return noted;
    const std::vector<KeepableInput> keepable = keepable_files(run.order);
    if (options.input_cache.limit_bytes > 0 && !keepable.empty()) {
        if (Result<void> noted = write_file(folder.inputs(), encode(keepable), 0600); !noted) return noted;
    }
    if (!options.job_reads_script) return write_file(folder.script(), script, 0600);
    return write_for_job(folder.script(), script, 0600, user);
}

Result<std::string> read_batch_output(const std::filesystem::path& path, std::int64_t offset, std::size_t max_bytes,
                                      std::int64_t limit_bytes)
{
    const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.number() < 0 && errno == ENOENT) return std::string();
    struct stat facts{};
    if (file.number() < 0 || ::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return Error{Errc::kUnavailable, "cannot read " + path.string()};
    const std::int64_t end = std::min<std::int64_t>(facts.st_size, limit_bytes);
    if (end <= offset) return std::string();
    std::string data(std::min(max_bytes, static_cast<std::size_t>(end - offset)), '\0');
    const ssize_t size = ::pread(file.number(), data.data(), data.size(), offset);
    data.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return data;
}

std::string read_report(const BatchFolder& folder, const char* name, uid_t owner)
{
    const Result<OpenFile> report = open_folder(AT_FDCWD, folder.report(), owner);
    if (!report) return {};
    Result<std::string> text = read_end(report->number(), name, owner, kMaxNoteBytes);
    return text ? std::move(*text) : std::string();
}

std::string read_own_note(const std::filesystem::path& path)
{
    Result<std::string> text = read_file(path, kMaxNoteBytes);
    return text ? std::move(*text) : std::string();
}

std::vector<AttemptId> attempts_in(const std::filesystem::path& folder)
{
    std::vector<AttemptId> ids;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (std::optional<AttemptId> id = AttemptId::parse(entry->path().filename().string()))
            ids.push_back(std::move(*id));
    }
    return ids;
}

} // namespace fathom::agent
