#include "probes/profile/interposer/call.hpp"
#include "probes/profile/interposer/objects.hpp"

#include <string_view>

namespace fathom::profile {
namespace {

/// cholmod_sparse as laid out by CHOLMOD on 64-bit machines.
struct CholmodSparse {
    std::size_t rows;
    std::size_t columns;
    std::size_t most_nonzeros;
    const void* column_starts;
    const void* row_indices;
    const void* column_counts;
    const void* values;
    const void* imaginary;
    int symmetry; ///< not 0: one triangle is stored
    int index_type;
    int value_type;
    int precision;
    int is_sorted;
    int is_packed;
};

/// cholmod_dense, the part that is read here.
struct CholmodDense {
    std::size_t rows;
    std::size_t columns;
    std::size_t most;
    std::size_t leading;
    const void* values;
};

void set_sizes(std::int64_t (&sizes)[kMaxDimensions], std::int64_t rows, std::int64_t columns, std::int64_t nonzeros)
{
    sizes[dimension::kRows] = rows;
    sizes[dimension::kColumns] = columns;
    sizes[dimension::kNonzeros] = nonzeros;
    sizes[dimension::kVectors] = 1;
}

std::int64_t index_at(const void* array, bool is_64_bit, std::int64_t at)
{
    if (array == nullptr || at < 0) return 0;
    const std::size_t place = static_cast<std::size_t>(at);
    return is_64_bit ? Arguments::read<std::int64_t>(array, place) : Arguments::read<std::int32_t>(array, place);
}

void decode_cholmod(std::string_view name, const Arguments& arguments, Call& call)
{
    const auto matrix = Arguments::read<CholmodSparse>(arguments.pointer(0));
    constexpr int kCholmodLong = 2;
    const auto columns = static_cast<std::int64_t>(matrix.columns);
    std::int64_t nonzeros = matrix.is_packed != 0
                                ? index_at(matrix.column_starts, matrix.index_type == kCholmodLong, columns)
                                : static_cast<std::int64_t>(matrix.most_nonzeros);
    if (matrix.symmetry != 0) nonzeros *= 2;
    set_sizes(call.dimensions, static_cast<std::int64_t>(matrix.rows), columns, nonzeros);
    call.read[0] = matrix.values;
    if (!name.ends_with("sdmult")) return;
    const auto x = Arguments::read<CholmodDense>(arguments.pointer(4));
    const auto y = Arguments::read<CholmodDense>(arguments.pointer(5));
    call.dimensions[dimension::kVectors] = static_cast<std::int64_t>(x.columns);
    call.read[1] = x.values;
    call.written[0] = y.values;
}

/// cs_*_gaxpy(A, x, y); struct cs: nzmax, m, n, p, …, of the index type's width.
void decode_cxsparse(Interface interface, const Arguments& arguments, Call& call)
{
    const bool is_64_bit = interface == Interface::kC64;
    const void* matrix = arguments.pointer(0);
    const std::int64_t columns = index_at(matrix, is_64_bit, 2);
    const void* starts = Arguments::read<const void*>(matrix, is_64_bit ? 3 : 2);
    set_sizes(call.dimensions, index_at(matrix, is_64_bit, 1), columns, index_at(starts, is_64_bit, columns));
    call.read[0] = arguments.pointer(1);
    call.written[0] = arguments.pointer(2);
}

void decode_mkl(std::string_view layout, const Arguments& arguments, Call& call)
{
    const std::int64_t rows = arguments.integer(1);
    if (layout == "mkl_csrmv") {
        const std::int64_t first = index_at(arguments.pointer(7), false, 0);
        const std::int64_t last = index_at(arguments.pointer(8), false, rows - 1);
        set_sizes(call.dimensions, rows, arguments.integer(2), last - first);
        call.read[0] = arguments.pointer(9);
        call.written[0] = arguments.pointer(11);
    } else {
        const void* starts = arguments.pointer(3);
        set_sizes(call.dimensions, rows, rows, index_at(starts, false, rows) - index_at(starts, false, 0));
        call.read[0] = arguments.pointer(5);
        call.written[0] = arguments.pointer(6);
    }
}

} // namespace

void decode_sparse(const SymbolInfo& info, const CallFrame& frame, Call& call)
{
    const Arguments arguments(frame, info.interface);
    const std::string_view layout = info.signature;
    if (layout == "cholmod") {
        decode_cholmod(info.name, arguments, call);
    } else if (layout == "cxsparse") {
        decode_cxsparse(info.interface, arguments, call);
    } else if (layout.starts_with("mkl_")) {
        decode_mkl(layout, arguments, call);
    } else if (layout.starts_with("handle")) {
        Object object{};
        const std::size_t at = static_cast<std::size_t>(layout.back() - '0');
        if (find_object(arguments.word(at), object))
            std::memcpy(call.dimensions, object.sizes, sizeof(call.dimensions));
    }
}

void note_sparse(const SymbolInfo& info, const CallFrame& frame)
{
    if (static_cast<std::uint32_t>(frame.result) != 0) return;
    const Arguments arguments(frame, info.interface);
    const std::string_view layout = info.signature;
    Object object{};
    std::size_t handle = 0;
    if (layout == "mkl") { // handle, indexing, rows, columns, row starts, row ends, …
        const std::int64_t rows = arguments.integer(2);
        const std::int64_t nonzeros =
            index_at(arguments.pointer(5), false, rows - 1) - index_at(arguments.pointer(4), false, 0);
        set_sizes(object.sizes, rows, arguments.integer(3), nonzeros);
    } else if (layout == "cusparse") { // handle, rows, columns, nonzeros, …
        set_sizes(object.sizes, arguments.integer(1), arguments.integer(2), arguments.integer(3));
    } else { // UMFPACK: rows, columns, column starts, …, symbolic factorization
        const std::int64_t columns = arguments.integer(1);
        const bool is_64_bit = info.interface == Interface::kC64;
        set_sizes(object.sizes, arguments.integer(0), columns, index_at(arguments.pointer(2), is_64_bit, columns));
        handle = static_cast<std::size_t>(layout.back() - '0');
    }
    remember_object(Arguments::read<std::uint64_t>(arguments.pointer(handle)), object);
}

} // namespace fathom::profile
