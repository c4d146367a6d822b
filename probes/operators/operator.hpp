#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom::probes {

/// One probe operator at one size, ready to be executed again and again.
///
/// Order of calls: prepare once; then execute as often as wanted; error and checksum look at the
/// result of the last execution. Whatever a program that uses the library does once (planning,
/// packing weights into the library's layout, filling inputs) belongs to prepare: execute holds the
/// library call and nothing else, for it is what the clock sees.
/// Not thread-safe; an operator may run threads of its own.
class ProbeOperator {
  public:
    ProbeOperator() = default;
    virtual ~ProbeOperator() = default;
    ProbeOperator(const ProbeOperator&) = delete;
    ProbeOperator& operator=(const ProbeOperator&) = delete;

    /// Allocates, makes the inputs from `seed`, plans. Same seed, same inputs, on every machine.
    /// Throws std::bad_alloc when memory runs out.
    /// @error kUnavailable  the library refuses this size or this processor.
    virtual Result<void> prepare(std::uint64_t seed) = 0;

    /// Computes the result once more, from the same inputs into the same place.
    virtual void execute() = 0;

    /// Executes so many times in a row; what is timed.
    /// @error kForbidden    an uploaded operator misbehaved; the detail says how.
    /// @error kUnavailable  processes that execute it have ended.
    virtual Result<void> execute_times(std::int64_t executions)
    {
        for (std::int64_t i = 0; i < executions; ++i)
            execute();
        return {};
    }

    /// Seconds that the last execute_times() took, of an operator that times itself: one whose processes have to be
    /// woken first. Empty: whoever calls it times it.
    virtual std::optional<double> timed_s() const { return std::nullopt; }

    /// Called once after the last execution, before error and checksum: whether this can be believed at all.
    /// @error kForbidden    an uploaded operator misbehaved or lied; the detail says how.
    /// @error kUnavailable  processes that execute it have ended.
    virtual Result<void> verify() { return {}; }

    /// Relative error of the last result against the truth value, which is known or checked
    /// independently of the library under test. Looks at every element of the result.
    virtual double error() = 0;

    /// Digest of the last result, 16 hex digits. Elements are rounded first (checksum.hpp), so that
    /// another summation order gives the same digest.
    virtual std::string checksum() = 0;

    /// The library with its version and what it chose on this processor, such as
    /// "OpenBLAS 0.3.21 SkylakeX".
    virtual std::string library() const = 0;

    /// Further figures of the last result by name (M15): what neither time nor work says. Mostly none.
    virtual std::map<std::string, double> figures() { return {}; }

    /// The last result as plain numbers in a fixed order, complex ones as real and imaginary part, for
    /// operators that compute on it (M5). Empty: no other operator could use this result.
    virtual std::vector<double> values() { return {}; }

    /// Replaces input `index`, counted from 0, by `values`: cut or repeated to its size and scaled to the
    /// size of prepare's own inputs (fit_values). The check follows. After prepare; then execute anew.
    /// @error kUnavailable  it has no such input, or its check needs the inputs that prepare makes.
    virtual Result<void> feed(std::size_t index, std::span<const double> values);

    /// The memory that holds the last result, in the library's own layout.
    virtual std::span<std::byte> output() = 0;
};

/// Of an operator that nothing of the machine or the environment can be missing for.
inline Result<void> available_everywhere()
{
    return {};
}

} // namespace fathom::probes
