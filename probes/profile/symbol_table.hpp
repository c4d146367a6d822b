#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

/// The library entry points that are counted, known alike to the interposer inside a profiled program and to
/// `fathom-profile`, which reads its counts.
namespace fathom::profile {

/// How arguments reach an entry point.
enum class Interface : std::uint8_t {
    kFortran32,   ///< by reference, 32-bit integers
    kFortran64,   ///< by reference, 64-bit integers
    kC32,         ///< by value, 32-bit integers; real scalars in floating-point registers
    kC64,         ///< the same with 64-bit integers
    kLapackeWork, ///< LAPACKE's middle layer: as kC32, with work arrays
    kCuda32,      ///< by value, 32-bit integers; scalars by reference
    kCuda64,      ///< the same with 64-bit integers
};

/// What a call means.
enum class Action : std::uint8_t {
    kCall,             ///< an operator whose sizes are arguments: the signature says which
    kForget,           ///< an object is destroyed: the first argument
    kForgetNumber,     ///< the same for objects that are small integers
    kFftwPlan,         ///< makes a plan: sizes are remembered
    kFftwExecute,      ///< an operator whose sizes are its plan's
    kCufftPlan,        ///< as kFftwPlan, of cuFFT
    kCufftExecute,     ///< as kFftwExecute
    kSparse,           ///< an operator on a sparse matrix
    kSparseCreate,     ///< makes a handle of a sparse matrix
    kDnnlExecute,      ///< executes a oneDNN primitive
    kCudnnDescriptor,  ///< sizes of a tensor or filter
    kCudnnConvolution, ///< an operator on described tensors
    kBytes,            ///< an operator whose size is the bytes that go through, known when it has returned
    kMessage,          ///< of MPI: other processes are waited for, so the time is neither computing nor an operator's
};

/// One entry point. For kCall the signature has a letter for each argument in Fortran's order:
///
///     m n k r   a dimension (r: right-hand sides)      A B   a buffer that is read
///     b         number of problems in a batch          C     a buffer that is written
///     s         the side of a triangle: gives k        D     a buffer that is read and written
///     w         size of the workspace; -1 is a query   x     a scalar of the matrix's type
///     e         element type, as CUDA numbers it       y     a real scalar
///     L         layout or handle: in C only            .     nothing that is needed here
struct SymbolInfo {
    const char* name;
    const char* routine; ///< what is computed, without the element type: "gemm"
    char element;        ///< s d c z as in BLAS; l long double, b bf16, i int8, e: an argument says it
    Interface interface;
    Action action;
    const char* signature;
};

inline constexpr SymbolInfo kSymbols[] = {
#define FATHOM_SYMBOL(name, routine, element, interface, action, signature)                                            \
    {#name, #routine, (#element)[0], Interface::interface, Action::action, signature},
#include "probes/profile/symbols/all.def"
#undef FATHOM_SYMBOL
};
inline constexpr std::size_t kSymbolCount = std::size(kSymbols);

/// A vector function of the C library.
struct VectorFunction {
    const char* name;
    char element; ///< s or d
    int lanes;    ///< elements of one call
};

inline constexpr VectorFunction kVectorFunctions[] = {
#define FATHOM_MVEC(name, element, lanes) {#name, (#element)[0], lanes},
#include "probes/profile/symbols/libmvec.def"
#undef FATHOM_MVEC
};
inline constexpr std::size_t kVectorFunctionCount = std::size(kVectorFunctions);

/// Where a call's dimensions stand, by action.
namespace dimension {
// kCall: in the signature's order, then k from the side.
// kFftwExecute, kCufftExecute:
inline constexpr std::size_t kRank = 0; ///< 0: the plan is not known
inline constexpr std::size_t kEdge = 1; ///< three of them; 1 where there is no such dimension
inline constexpr std::size_t kBatch = 4;
inline constexpr std::size_t kTransform = 5; ///< 'c' complex, 'r' real to complex, 'h' back, 'x' real
// kSparse; 0 where not known:
inline constexpr std::size_t kRows = 0;
inline constexpr std::size_t kColumns = 1;
inline constexpr std::size_t kNonzeros = 2;
inline constexpr std::size_t kVectors = 3;
// kDnnlExecute, kCudnnConvolution:
inline constexpr std::size_t kPrimitive = 0; ///< a number of `primitive`
inline constexpr std::size_t kDataType = 1;  ///< as oneDNN numbers them: 1 f16, 2 bf16, 3 f32; cuDNN's are translated
inline constexpr std::size_t kTensor = 2;    ///< convolution: batch, in, out, height, width, kernel; product: m, n, k
} // namespace dimension

/// What a primitive of oneDNN computes; oneDNN's own numbers differ between its versions.
namespace primitive {
inline constexpr std::int64_t kUnknown = 0; ///< oneDNN did not tell
inline constexpr std::int64_t kConvolution = 1;
inline constexpr std::int64_t kInnerProduct = 2;
inline constexpr std::int64_t kMatmul = 3;
inline constexpr std::int64_t kOther = 4;
} // namespace primitive

} // namespace fathom::profile
