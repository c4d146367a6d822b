#include "probes/upload/sandboxed_operator.hpp"

#include "core/base/secret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace fathom::probes {
namespace {

using wire::Command;
using wire::Reply;

/// A task cannot keep its limit when one call takes half of it: every operator is called several times.
constexpr double kMaxOfLimitForCall = 0.5;
/// The end comes a little before the task's own, which names no cause.
constexpr double kMaxOfLimit = 0.95;
/// Who did not answer for this share of the limit has itself to blame; else the task was too long before.
constexpr double kHangShare = 0.25;
/// Two right results differ by the errors of both.
constexpr double kSameWithin = 4;

Error lie(const std::string& what)
{
    return Error{Errc::kForbidden, "the uploaded code lies: " + what};
}

template <std::size_t N>
void copy_name(char (&target)[N], const std::string& name)
{
    std::memcpy(target, name.data(), std::min(name.size(), N - 1));
}

std::uint64_t random_below(std::uint64_t bound)
{
    std::uint64_t bits = 0;
    fill_random({reinterpret_cast<std::uint8_t*>(&bits), sizeof bits});
    return bits % bound;
}

} // namespace

SandboxedOperator::SandboxedOperator(Package package, Parameters parameters, int threads, UploadLimits limits)
    : package_(std::move(package)), parameters_(std::move(parameters)), threads_(threads), limits_(std::move(limits))
{
}

SandboxedOperator::~SandboxedOperator() = default;

wire::Start SandboxedOperator::start_record() const
{
    wire::Start start;
    copy_name(start.id, package_->manifest.id);
    start.allows_network = package_->manifest.sandbox.network ? 1 : 0;
    start.threads = static_cast<std::uint32_t>(threads_);
    start.memory_bytes = static_cast<std::uint64_t>(package_->manifest.sandbox.memory_bytes);
    for (const auto& [name, value] : parameters_) {
        wire::NamedValue& parameter = start.parameters[start.parameter_count++]; // at most 16: the manifest's rule
        copy_name(parameter.name, name);
        parameter.value = value;
    }
    return start;
}

Result<void> SandboxedOperator::prepare(std::uint64_t seed)
{
    seed_ = seed;
    Result<std::unique_ptr<OperatorProcess>> process = OperatorProcess::start(
        package_->object, {.allows_network = package_->manifest.sandbox.network, .threads = threads_});
    if (!process) return process.error();
    process_ = std::move(*process);
    const auto asked = OperatorProcess::Clock::now();
    const Result<Reply> loaded = process_->load(start_record(), call_deadline(/*executions=*/1));
    if (!loaded) return blamed(loaded.error(), asked);
    library_ = reply_text(*loaded) + " (uploaded)";
    const auto allowed = static_cast<double>(package_->manifest.sandbox.memory_bytes);
    const auto needed = static_cast<double>(loaded->number);
    if (needed > allowed)
        return Error{Errc::kForbidden,
                     fmt::format("the uploaded code needs {:.1f} MB for this size, its manifest allows "
                                 "{:.1f} MB",
                                 needed / 1e6, allowed / 1e6)};
    if (limits_.usable_memory_bytes && needed > limits_.usable_memory_bytes())
        return Error{Errc::kTooLarge, fmt::format("out of memory: it needs {:.1f} MB, {:.1f} MB are usable here",
                                                  needed / 1e6, limits_.usable_memory_bytes() / 1e6)};
    const Result<Reply> prepared = call(Command::kPrepare, seed, "preparing");
    if (!prepared) return prepared.error();
    return accept_size(*prepared, loaded->number);
}

/// Its own figure was held against what is allowed and what is there; a result beyond it was held against nothing.
Result<void> SandboxedOperator::accept_size(const Reply& reply, std::uint64_t needed_bytes)
{
    if (reply.kind < 1 || reply.kind > 3) return Error{Errc::kForbidden, "the uploaded code answered nonsense"};
    kind_ = static_cast<ResultKind>(reply.kind);
    const std::uint64_t most = needed_bytes / element_bytes(kind_);
    if (reply.number == 0 || reply.number > most)
        return Error{Errc::kForbidden,
                     "the uploaded code names a result that is empty or larger than the memory that it needs"};
    Result<SharedMemory> shared = process_->share_result(reply.number * element_bytes(kind_));
    if (!shared) return shared.error();
    shared_ = std::move(*shared);
    return {};
}

OperatorProcess::Clock::time_point SandboxedOperator::call_deadline(std::uint64_t executions) const
{
    const auto seconds = [](double s) {
        return std::chrono::duration_cast<OperatorProcess::Clock::duration>(std::chrono::duration<double>(s));
    };
    const auto end = limits_.task_start + seconds(kMaxOfLimit * limits_.task_limit_s);
    if (executions > 1) return end;
    return std::min(end, OperatorProcess::Clock::now() + seconds(kMaxOfLimitForCall * limits_.task_limit_s));
}

Result<Reply> SandboxedOperator::call(Command command, std::uint64_t argument, std::string_view doing)
{
    if (failure_) return *failure_;
    if (process_ == nullptr) return Error{Errc::kInternal, "an uploaded operator was used outside its life"};
    const std::uint64_t executions = command == Command::kExecute ? argument : 1;
    const auto asked = OperatorProcess::Clock::now();
    Result<Reply> reply = process_->call(command, argument, doing, call_deadline(executions));
    if (reply) return reply;
    failure_ = blamed(reply.error(), asked);
    return *failure_;
}

Error SandboxedOperator::blamed(Error error, OperatorProcess::Clock::time_point asked) const
{
    if (error.code != Errc::kDeadline) return error;
    const double waited_s = std::chrono::duration<double>(OperatorProcess::Clock::now() - asked).count();
    if (waited_s >= kHangShare * limits_.task_limit_s) {
        error.code = Errc::kForbidden;
        return error;
    }
    return Error{Errc::kDeadline,
                 fmt::format("took longer than its limit of {:g} s, and was stopped in the uploaded code",
                             limits_.task_limit_s)};
}

Result<void> SandboxedOperator::execute_times(std::int64_t executions)
{
    const Result<Reply> reply = call(Command::kExecute, static_cast<std::uint64_t>(executions), "executing");
    if (!reply) return reply.error();
    return {};
}

void SandboxedOperator::execute()
{
    static_cast<void>(execute_times(1)); // kept in failure_
}

Result<void> SandboxedOperator::read_result()
{
    const Result<Reply> reply = call(Command::kRead, 0, "showing its result");
    if (!reply) return reply.error();
    return {};
}

Result<void> SandboxedOperator::write_result()
{
    const Result<Reply> reply = call(Command::kWrite, 0, "having its result overwritten");
    if (!reply) return reply.error();
    return {};
}

Result<double> SandboxedOperator::present_error(std::string_view doing)
{
    const Result<Reply> reply = call(Command::kError, 0, doing);
    if (!reply) return reply.error();
    return reply->real < 0 ? std::numeric_limits<double>::quiet_NaN() : reply->real;
}

Result<void> SandboxedOperator::verify()
{
    if (Result<void> read = read_result(); !read) return read;
    last_.assign(shared_.bytes().begin(), shared_.bytes().end());
    const Result<double> error = present_error("checking its result");
    if (!error) return error.error();
    error_ = *error;
    if (!(error_ <= package_->manifest.tolerance)) return {}; // reported as a wrong result, as any operator's
    if (Result<void> looks = check_error_looks(); !looks) return looks;
    if (Result<void> computes = check_execute_computes(); !computes) return computes;
    process_.reset(); // its memory is for the next ones
    return check_seeds();
}

Result<void> SandboxedOperator::check_notices(const char* what)
{
    if (Result<void> written = write_result(); !written) return written;
    const Result<double> error = present_error("checking a spoiled result");
    if (!error) return error.error();
    if (!(*error <= package_->manifest.tolerance)) return {};
    return lie(fmt::format("error() finds {:.3g} (tolerance {:.3g}) after {}: it does not look at the result", *error,
                           package_->manifest.tolerance, what));
}

Result<void> SandboxedOperator::check_error_looks()
{
    ResultValues values = result();
    values.spoil(random_below(values.count()), package_->manifest.tolerance);
    if (Result<void> noticed = check_notices("one element of its result was made wrong"); !noticed) return noticed;
    values.fill_with_nonsense();
    return check_notices("its whole result was overwritten");
}

Result<void> SandboxedOperator::check_execute_computes()
{
    result().fill_with_nonsense();
    if (Result<void> written = write_result(); !written) return written;
    if (Result<void> executed = execute_times(1); !executed) return executed;
    if (Result<void> read = read_result(); !read) return read;
    if (const std::size_t left = result().nonsense_left(); left > 0)
        return lie(fmt::format("execute() left {} of {} elements of its result as they were: it does not compute them",
                               left, result().count()));
    if (!ResultValues::are_same({kind_, last_}, result(), kSameWithin * package_->manifest.tolerance))
        return lie("execute() does not give its result again after that was overwritten");
    const Result<double> error = present_error("checking its result");
    if (!error) return error.error();
    if (*error <= package_->manifest.tolerance) return {};
    return lie(
        fmt::format("its result has an error of {:.3g} (tolerance {:.3g}) when it is computed afresh, and {:.3g} "
                    "before",
                    *error, package_->manifest.tolerance, error_));
}

Result<bool> SandboxedOperator::gives_same(std::uint64_t seed, double tolerance)
{
    SandboxedOperator other(package_, parameters_, threads_, limits_);
    if (Result<void> prepared = other.prepare(seed); !prepared) return prepared.error();
    if (Result<void> executed = other.execute_times(1); !executed) return executed.error();
    if (Result<void> read = other.read_result(); !read) return read.error();
    return ResultValues::are_same({kind_, last_}, other.result(), tolerance);
}

Result<void> SandboxedOperator::check_seeds()
{
    const Result<bool> repeats = gives_same(seed_, kSameWithin * package_->manifest.tolerance);
    if (!repeats) return repeats.error();
    if (!*repeats) return lie("the same inputs give another result in a second process");
    // Exactly the same: right results for other inputs may lie close together.
    const Result<bool> is_constant = gives_same(seed_ + 1 + random_below(1U << 30U), 0);
    if (!is_constant) return is_constant.error();
    if (*is_constant) return lie("other inputs give the same result: it does not compute on them");
    return {};
}

double SandboxedOperator::error()
{
    return failure_ ? std::numeric_limits<double>::quiet_NaN() : error_;
}

std::string SandboxedOperator::checksum()
{
    return last_.empty() ? "" : ResultValues(kind_, last_).checksum();
}

std::vector<double> SandboxedOperator::values()
{
    return read_result() ? result().numbers() : std::vector<double>();
}

} // namespace fathom::probes
