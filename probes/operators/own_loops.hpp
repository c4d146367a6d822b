#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// The loops of operators that call no library. As libraries do, they come for several instruction sets, and those run
/// that fit the processor: a unit is measured as by programs that were compiled for it.
namespace fathom::probes {

/// A sparse matrix in compressed rows, 32-bit indices; of whoever made it.
struct CsrMatrix {
    const std::int32_t* row_begin; ///< the first entry of each row, and behind the last row the end
    const std::int32_t* columns;   ///< of each entry
    const double* values;          ///< of each entry
};

/// Rows first..last−1.
struct CsrRows {
    std::size_t first{};
    std::size_t last{};
};

/// All of them for one instruction set. Arrays of one call do not overlap, and may begin anywhere.
struct OwnLoops {
    const char* instruction_set; ///< "x86-64-v3"
    bool (*is_usable)();         ///< the processor and the kernel have it

    /// a[i] = b[i] + scalar·c[i]
    void (*triad)(double* a, const double* b, const double* c, double scalar, std::size_t size);
    /// sum[i] += more[i]
    void (*add)(double* sum, const double* more, std::size_t size);
    /// y = A·x for these rows.
    void (*multiply)(const CsrMatrix& matrix, CsrRows rows, const double* x, double* y);
    /// The same; returns x·y of these rows.
    double (*multiply_and_dot)(const CsrMatrix& matrix, CsrRows rows, const double* x, double* y);
    /// x += scalar·p, r −= scalar·q; returns r·r.
    double (*advance)(double scalar, const double* p, const double* q, double* x, double* r, std::size_t size);
    /// p = r + scalar·p
    void (*turn)(double scalar, const double* r, double* p, std::size_t size);
};

/// Those for the widest instruction set that is usable here; always the same in a process. Thread-safe.
const OwnLoops& own_loops();

/// All that this program has, narrowest first; the first is usable everywhere.
std::span<const OwnLoops> all_own_loops();

/// What this program was compiled with: "clang 19.1.7".
std::string compiler_name();

/// Of own_loops(), for a result: "clang 19.1.7 for x86-64-v3".
std::string own_loops_name();

} // namespace fathom::probes
