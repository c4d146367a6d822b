#pragma once

#include "probes/operators/cuda_memory.hpp"
#include "probes/operators/operator.hpp"

#include <library_types.h>
#include <optional>
#include <string>

namespace fathom::probes {

/// What all operators on a CUDA device share: a stream, and errors of CUDA as values.
///
/// Inputs are made on the device by the same functions of the seed as on the host, and are made again on the host
/// for the check: it trusts nothing that was on the device but the result.
class CudaOperator : public ProbeOperator {
  public:
    /// @error kTooLarge     the device's memory is too small.
    /// @error kUnavailable  CUDA or a library of it refuses.
    Result<void> prepare(std::uint64_t seed) final;

  protected:
    /// Allocates, makes the inputs, plans; may throw what cuda_check.hpp throws. What it puts into the stream is
    /// waited for.
    virtual void prepare_on_device(std::uint64_t seed) = 0;

    std::uint64_t seed() const { return seed_; }
    /// From prepare_on_device on.
    const CudaStream& stream() const { return *stream_; }

  private:
    std::uint64_t seed_{};
    std::optional<CudaStream> stream_;
};

/// "NVIDIA H200"; "no GPU" where there is none.
std::string cuda_device_name();

/// "cuBLAS 13.1.0 on NVIDIA H200".
/// @param get  the library's function for its properties: cublasGetProperty and the like.
template <class Status>
std::string cuda_library_name(const char* library, Status (*get)(libraryPropertyType, int*))
{
    std::string text = library;
    const char* separator = " ";
    for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
        int number = 0;
        get(part, &number);
        text += separator + std::to_string(number);
        separator = ".";
    }
    return text + " on " + cuda_device_name();
}

/// "CUDA 13.0 on NVIDIA H200", for code of our own.
std::string cuda_runtime_name();

/// "13.0" of 13000, as the runtime counts versions.
std::string cuda_version_text(int version);

} // namespace fathom::probes
