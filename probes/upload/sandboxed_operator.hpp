#pragma once

#include "core/model/operator_package.hpp"
#include "probes/operators/operator.hpp"
#include "probes/upload/operator_process.hpp"
#include "probes/upload/result_values.hpp"

#include <functional>
#include <optional>

namespace fathom::probes {

/// How long uploaded code may take, and what else it is held to.
struct UploadLimits {
    OperatorProcess::Clock::time_point task_start;
    double task_limit_s{10};
    std::function<double()> usable_memory_bytes; ///< asked when an instance is about to allocate
};

/// An uploaded operator: code in a sandboxed process of its own (OperatorProcess), driven from here, so that this
/// process's clock times it and it can touch nothing here.
///
/// Every failure of the uploaded code is a value: from prepare, execute_times and verify, and from every later call
/// after the first failure. `execute`, `error` and `checksum` cannot fail by themselves: they keep the failure for
/// verify.
/// Not thread-safe.
class SandboxedOperator final : public ProbeOperator {
  public:
    using Package = std::shared_ptr<const OperatorPackage>;

    SandboxedOperator(Package package, Parameters parameters, int threads, UploadLimits limits);
    ~SandboxedOperator() override;

    /// @error kForbidden    what the uploaded code did wrong.
    /// @error kUnavailable  no sandbox can be made, or the operator refuses this size.
    /// @error kTooLarge     it needs more memory than is usable here.
    /// @error kDeadline     the task's limit is over, through no fault of its own.
    Result<void> prepare(std::uint64_t seed) override;
    void execute() override;
    Result<void> execute_times(std::int64_t executions) override;
    /// Looks for lies: the result must come from execute, error must notice wrong results, the same seed must give
    /// the same result in another process and another seed another one. A result that the operator itself finds
    /// wrong is no lie and no failure. Ends the process: nothing can be executed afterwards.
    Result<void> verify() override;
    double error() override;
    std::string checksum() override;
    std::string library() const override { return library_; }
    std::vector<double> values() override;
    std::span<std::byte> output() override { return shared_.bytes(); }

  private:
    Result<wire::Reply> call(wire::Command command, std::uint64_t argument, std::string_view doing);
    OperatorProcess::Clock::time_point call_deadline(std::uint64_t executions) const;
    /// Whether a late answer is the uploaded code's fault: kForbidden then, else the task was too long: kDeadline.
    Error blamed(Error error, OperatorProcess::Clock::time_point asked) const;
    wire::Start start_record() const;
    Result<void> accept_size(const wire::Reply& reply, std::uint64_t needed_bytes);
    Result<double> present_error(std::string_view doing);
    Result<void> read_result();
    Result<void> write_result();
    ResultValues result() const { return {kind_, shared_.bytes()}; }
    Result<void> check_notices(const char* what);
    Result<void> check_error_looks();
    Result<void> check_execute_computes();
    Result<void> check_seeds();
    Result<bool> gives_same(std::uint64_t seed, double tolerance);

    Package package_;
    Parameters parameters_;
    int threads_;
    UploadLimits limits_;
    std::unique_ptr<OperatorProcess> process_;
    std::string library_;
    std::uint64_t seed_{};
    ResultKind kind_{ResultKind::kDoubles};
    SharedMemory shared_;
    std::optional<Error> failure_; ///< the first one
    std::vector<std::byte> last_;  ///< the result that was verified
    double error_{};
};

} // namespace fathom::probes
