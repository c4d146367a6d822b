#include "agent/balance/precision_hook.hpp"

#include "agent/executor/local/attempt_folder.hpp"
#include "core/base/error_text.hpp"
#include "core/base/open_inside.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxWordLength = 64;
constexpr const char* kFreshName = ".fathom-precision-new";

Error not_written(const std::string& what)
{
    return {Errc::kUnavailable, "failed: cannot " + what + " the job's precision file: " + error_text(errno)};
}

} // namespace

Result<void> write_precision(const std::filesystem::path& work, uid_t uid, const std::string& word)
{
    const Result<OpenFile> folder = open_folder(AT_FDCWD, work, uid);
    if (!folder) return Error{Errc::kUnavailable, "absent: " + folder.error().detail};
    const int at = folder->number();
    ::unlinkat(at, kFreshName, 0); // of a writer that was killed, or something that the job has laid there
    const OpenFile fresh(::openat(at, kFreshName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (fresh.number() < 0) return not_written("make");
    const std::string line = word + "\n";
    if (::write(fresh.number(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        return not_written("write");
    // Readable for the job whatever our umask is.
    if (::fchmod(fresh.number(), 0644) != 0) return not_written("show");
    if (::renameat(at, kFreshName, at, kPrecisionFile) != 0) return not_written("replace");
    return {};
}

Result<Precision> PrecisionHook::read_acknowledged() const
{
    const Result<OpenFile> folder = open_folder(AT_FDCWD, job_.work, job_.uid);
    if (!folder) return Error{Errc::kUnavailable, "absent: " + folder.error().detail};
    Result<std::string> text = read_end(folder->number(), kPrecisionAckFile, job_.uid, kMaxWordLength);
    if (!text) return Error{Errc::kUnavailable, "absent: the job has not said which precision it computes in"};
    while (text->ends_with('\n') || text->ends_with(' '))
        text->pop_back();
    const std::optional<Precision> precision = parse_precision(*text);
    if (!precision) return Error{Errc::kConflict, "refused: the job acknowledges what is no precision"};
    return *precision;
}

Result<void> PrecisionHook::look(UnitPosition& position)
{
    const Result<Precision> acknowledged = read_acknowledged();
    if (!acknowledged) return acknowledged.error();
    if (*acknowledged != present_ || asked_ == *acknowledged) asked_.reset();
    present_ = *acknowledged;
    if (asked_) {
        const bool is_late = std::chrono::steady_clock::now() - asked_at_ > timeout_;
        return Error{Errc::kConflict, std::string(is_late ? "refused: the job does not acknowledge "
                                                          : "the job has not acknowledged yet: ") +
                                          std::string(to_string(*asked_))};
    }
    position.precision = PrecisionPosition{present_, range_};
    return {};
}

Json PrecisionHook::undo() const
{
    return {{"kind", "precision"},
            {"folder", job_.work.string()},
            {"uid", static_cast<std::int64_t>(job_.uid)},
            {"word", to_string(present_)}};
}

Result<void> PrecisionHook::act(const BalanceActions& actions, std::optional<std::int64_t>)
{
    const Precision wanted = step_precision(present_, actions.precision_steps, range_);
    Result<void> written = write_precision(job_.work, job_.uid, std::string(to_string(wanted)));
    if (!written) return written;
    asked_ = wanted;
    asked_at_ = std::chrono::steady_clock::now();
    return {};
}

} // namespace fathom::agent
