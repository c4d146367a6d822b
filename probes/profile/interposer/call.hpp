#pragma once

#include "probes/profile/counts_file.hpp"
#include "probes/profile/interposer/call_frame.hpp"

#include <cstring>

namespace fathom::profile {

/// One call as it is counted.
struct Call {
    std::int64_t dimensions[kMaxDimensions];
    const void* read[3];
    const void* written[2];
};

/// The caller's arguments by position, however they were passed. Floating-point registers are no positions.
class Arguments {
  public:
    Arguments(const CallFrame& frame, Interface interface) : frame_(frame), interface_(interface) {}

    std::uint64_t word(std::size_t at) const
    {
        return at < kIntegerRegisters ? frame_.registers[at] : frame_.stack[at - kIntegerRegisters];
    }
    const void* pointer(std::size_t at) const { return reinterpret_cast<const void*>(word(at)); }

    /// A whole number, by reference in Fortran.
    std::int64_t integer(std::size_t at) const
    {
        switch (interface_) {
        case Interface::kFortran32:
            return read<std::int32_t>(pointer(at));
        case Interface::kFortran64:
            return read<std::int64_t>(pointer(at));
        case Interface::kC64:
        case Interface::kCuda64:
            return static_cast<std::int64_t>(word(at));
        case Interface::kC32:
        case Interface::kLapackeWork:
        case Interface::kCuda32:
            return static_cast<std::int32_t>(word(at));
        }
        return 0;
    }

    /// A value in memory; 0 at a null pointer.
    template <class T>
    static T read(const void* address, std::size_t index = 0)
    {
        T value{};
        if (address != nullptr) std::memcpy(&value, static_cast<const char*>(address) + index * sizeof(T), sizeof(T));
        return value;
    }

    bool is_fortran() const { return interface_ == Interface::kFortran32 || interface_ == Interface::kFortran64; }

  private:
    const CallFrame& frame_;
    Interface interface_;
};

// Each reads a call's arguments before the real function runs.

/// @return false for a question about the workspace, which executes nothing.
bool decode_by_signature(const SymbolInfo& info, const CallFrame& frame, Call& call);
void decode_fft(const SymbolInfo& info, const CallFrame& frame, Call& call);
void decode_sparse(const SymbolInfo& info, const CallFrame& frame, Call& call);
void decode_dnnl(const CallFrame& frame, Call& call);
void decode_cudnn(const SymbolInfo& info, const CallFrame& frame, Call& call);

/// For Action::kBytes, before the real function runs. @return false when that is not the library's that is meant.
bool note_bytes_before(const SymbolInfo& info, CallFrame& frame, const void* real);
/// The same after it has returned: the bytes that went through.
std::uint64_t bytes_of_call(const SymbolInfo& info, const CallFrame& frame);

// Each remembers what a function has made, after it has returned.

void note_fftw_plan(const SymbolInfo& info, const CallFrame& frame);
void note_cufft_plan(const SymbolInfo& info, const CallFrame& frame);
void note_sparse(const SymbolInfo& info, const CallFrame& frame);
void note_cudnn(const SymbolInfo& info, const CallFrame& frame);

} // namespace fathom::profile
