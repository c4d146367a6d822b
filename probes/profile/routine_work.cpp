#include "probes/profile/routine_work.hpp"

#include "probes/profile/routine_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace fathom::profile {
namespace {

struct Element {
    const char* name; ///< in argument kinds
    double bytes;
    double operations; ///< real operations of a multiplication and an addition, halved
};

/// A complex matrix is a matrix of real numbers to whom looks for an operator that does such work: products of
/// complex numbers are four of real ones.
Element element_of(char letter)
{
    switch (letter) {
    case 's':
        return {"fp32", 4, 1};
    case 'c':
        return {"fp32", 8, 4};
    case 'z':
        return {"fp64", 16, 4};
    case 'l':
        return {"fp128", 16, 1};
    case 'b':
        return {"bf16", 2, 1};
    case 'h':
        return {"fp16", 2, 1};
    case 'i':
        return {"int8", 1, 1};
    default:
        return {"fp64", 8, 1};
    }
}

/// CUDA's cudaDataType_t as BLAS letters.
char element_of_cuda(std::int64_t type)
{
    switch (type) {
    case 0:
        return 's';
    case 2:
        return 'h';
    case 14:
        return 'b';
    case 3:
        return 'i';
    case 4:
        return 'c';
    case 5:
        return 'z';
    default:
        return 'd';
    }
}

std::vector<std::string> kinds_of(const char* letters, char element)
{
    std::vector<std::string> kinds;
    for (const char* letter = letters; *letter != '\0'; ++letter) {
        const bool is_last = letter[1] == '\0';
        // Half-precision products are accumulated and kept in single precision.
        const bool is_wide = is_last && (element == 'b' || element == 'h');
        const std::string type = is_wide ? "fp32" : element_of(element).name;
        kinds.push_back((*letter == 'm' ? "matrix_" : *letter == 'v' ? "vector_" : "scalar_") + type);
    }
    return kinds;
}

/// The call's sizes by the letters of its signature; `k` is also the size of the side that a matrix is on.
std::map<char, std::int64_t> values_of(const SymbolInfo& symbol, std::span<const std::int64_t> dimensions)
{
    std::map<char, std::int64_t> values;
    std::size_t at = 0;
    bool has_side = false;
    for (const char* letter = symbol.signature; *letter != '\0'; ++letter) {
        if (std::string_view("mnkrbe").find(*letter) != std::string_view::npos) values[*letter] = dimensions[at++];
        has_side = has_side || *letter == 's';
    }
    if (has_side) values['k'] = dimensions[at];
    return values;
}

/// The names that operators use mean what they mean there; other routines' sizes get names of their own.
std::string size_name(char letter, bool has_operator)
{
    if (has_operator) return {letter};
    return letter == 'm' ? "rows_of_matrix" : letter == 'n' ? "order" : letter == 'k' ? "inner" : "rhs";
}

ObservedOperation describe_call(const SymbolInfo& symbol, std::span<const std::int64_t> dimensions,
                                std::int64_t& executions)
{
    ObservedOperation operation;
    operation.symbol = symbol.name;
    operation.category = "hpc";
    std::map<char, std::int64_t> values = values_of(symbol, dimensions);
    char element = symbol.element;
    if (element == 'e') element = element_of_cuda(values['e']);
    if (values.contains('b')) executions = std::max<std::int64_t>(1, values['b']);
    const Routine* routine = find_routine(symbol.routine);
    if (routine == nullptr) return operation;
    const auto size = [&](char letter, double otherwise) {
        return values.contains(letter) ? static_cast<double>(std::max<std::int64_t>(0, values[letter])) : otherwise;
    };
    const Sizes sizes{size('m', 0), size('n', 0), size('k', 0), size('r', 1)};
    const Element traits = element_of(element);
    operation.operations = traits.operations * routine->operations(sizes);
    operation.bytes = traits.bytes * routine->numbers(sizes);
    operation.argument_kinds = kinds_of(routine->kinds, element);
    // Vectors and a matrix that is read once pass through the core: it waits for memory.
    const bool has_matrices = std::string_view(routine->kinds) == "mmm";
    if (!has_matrices && routine->name != "vector_math") operation.category = "memory";
    if (routine->name == "vector_math") operation.argument_kinds.assign(2, std::string("array_") + traits.name);
    const std::string_view name = routine->name;
    const bool has_operator = name == "gemm" || name == "axpy" || name == "vector_math";
    for (const auto& [letter, value] : values) {
        if (letter != 'b' && letter != 'e') operation.parameters[size_name(letter, has_operator)] = value;
    }
    return operation;
}

/// The library prefix and rank, as operators name it: "fftw_execute/3d".
std::string fft_symbol(const SymbolInfo& symbol, std::int64_t rank)
{
    const std::string suffix = rank == 0 ? "" : "/" + std::to_string(rank) + "d";
    if (symbol.action == Action::kCufftExecute) return symbol.name + suffix;
    const char* prefix = symbol.element == 's' ? "fftwf" : symbol.element == 'l' ? "fftwl" : "fftw";
    return std::string(prefix) + "_execute" + suffix;
}

ObservedOperation describe_fft(const SymbolInfo& symbol, std::span<const std::int64_t> dimensions,
                               std::int64_t& executions)
{
    ObservedOperation operation;
    const std::int64_t rank = dimensions[dimension::kRank];
    operation.symbol = fft_symbol(symbol, rank);
    operation.category = "hpc";
    if (rank == 0) return operation;
    executions = std::max<std::int64_t>(1, dimensions[dimension::kBatch]);
    double points = 1;
    bool is_cube = true;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
        points *= static_cast<double>(std::max<std::int64_t>(1, dimensions[dimension::kEdge + i]));
        is_cube = is_cube && dimensions[dimension::kEdge + i] == dimensions[dimension::kEdge];
    }
    const bool is_complex = dimensions[dimension::kTransform] == 'c';
    const double bytes = symbol.element == 's' ? 8 : symbol.element == 'l' ? 32 : 16;
    const double half = is_complex ? 1 : 0.5; // real data have half the numbers, and half the work
    operation.operations = half * 5 * points * std::log2(std::max(2.0, points));
    operation.bytes = half * 2 * bytes * points;
    const std::string type = symbol.element == 's' ? "fp32" : "fp64";
    operation.argument_kinds.assign(2, "grid" + std::to_string(rank) + "d_complex_" + type);
    if (is_cube && is_complex && type == "fp64") {
        operation.parameters["n"] = dimensions[dimension::kEdge];
        return operation;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i)
        operation.parameters["n" + std::to_string(i)] = dimensions[dimension::kEdge + i];
    return operation;
}

ObservedOperation describe_sparse(const SymbolInfo& symbol, std::span<const std::int64_t> dimensions)
{
    ObservedOperation operation;
    operation.symbol = symbol.name;
    operation.category = "hpc";
    const double rows = static_cast<double>(dimensions[dimension::kRows]);
    const double nonzeros = static_cast<double>(dimensions[dimension::kNonzeros]);
    const Element traits = element_of(symbol.element);
    const std::string type = traits.name;
    operation.argument_kinds = {"sparse_csr_" + type, "vector_" + type, "vector_" + type};
    if (nonzeros <= 0) return operation;
    operation.parameters["matrix_rows"] = dimensions[dimension::kRows];
    operation.parameters["nonzeros"] = dimensions[dimension::kNonzeros];
    const double vectors = static_cast<double>(std::max<std::int64_t>(1, dimensions[dimension::kVectors]));
    operation.operations = 2 * traits.operations * nonzeros * vectors;
    operation.bytes = nonzeros * (traits.bytes + 4) + rows * (4 + 2 * traits.bytes * vectors);
    const std::string_view routine = symbol.routine;
    // What a factorization fills in is not known from outside.
    if (routine == "sparse_lu" || routine == "sparse_cholesky") operation.operations = operation.bytes = 0;
    return operation;
}

std::string tensor_type(std::int64_t data_type)
{
    return data_type == 1 ? "fp16" : data_type == 2 ? "bf16" : data_type == 3 ? "fp32" : "int8";
}

ObservedOperation describe_tensors(const SymbolInfo& symbol, std::span<const std::int64_t> dimensions)
{
    ObservedOperation operation;
    operation.symbol = symbol.name;
    operation.category = "ai";
    const std::int64_t kind = dimensions[dimension::kPrimitive];
    const bool is_dnnl = symbol.action == Action::kDnnlExecute;
    const std::string type = tensor_type(dimensions[dimension::kDataType]);
    const auto value = [&](std::size_t i) { return dimensions[dimension::kTensor + i]; };
    const auto number = [&](std::size_t i) { return static_cast<double>(value(i)); };
    if (kind == primitive::kConvolution) {
        if (is_dnnl) operation.symbol = "dnnl_convolution";
        operation.argument_kinds.assign(3, "tensor_" + type);
        constexpr const char* kNames[] = {"batch", "channels_in", "channels_out", "height", "width", "kernel"};
        for (std::size_t i = 0; i < std::size(kNames); ++i)
            operation.parameters[kNames[i]] = value(i);
        operation.operations = 2 * number(0) * number(1) * number(2) * number(3) * number(4) * number(5) * number(5);
        operation.bytes = 4 * (number(0) * number(3) * number(4) * (number(1) + number(2)) +
                               number(1) * number(2) * number(5) * number(5));
    } else if (kind == primitive::kMatmul || kind == primitive::kInnerProduct) {
        const bool is_matmul = kind == primitive::kMatmul;
        // In single precision it is the product that every library has.
        operation.symbol = type == "fp32" ? "dnnl_sgemm" : (is_matmul ? "dnnl_matmul/" : "dnnl_inner_product/") + type;
        operation.argument_kinds = {"matrix_" + type, "matrix_" + type, "matrix_fp32"};
        operation.parameters = {{"m", value(0)}, {"n", value(1)}, {"k", value(2)}};
        operation.operations = 2 * number(0) * number(1) * number(2);
        const double bytes = type == "fp32" ? 4 : 2;
        operation.bytes = bytes * (number(0) * number(2) + number(2) * number(1)) + 4 * number(0) * number(1);
    } else {
        operation.symbol += "/" + std::to_string(value(0)); // oneDNN's number of the primitive: reorder, pooling, …
    }
    return operation;
}

/// Ranks compute a collective call together, so the calls of one are no executions of an operator: the prefix keeps
/// them from being matched with one.
ObservedOperation describe_message(const SymbolInfo& symbol)
{
    ObservedOperation operation;
    operation.symbol = std::string("mpi/") + symbol.name;
    operation.category = "network";
    return operation;
}

/// Sizes are left to the caller, who knows the bytes of all calls.
ObservedOperation describe_bytes(const SymbolInfo& symbol)
{
    ObservedOperation operation;
    operation.symbol = symbol.name;
    operation.category = "data";
    operation.argument_kinds.assign(2, std::string("array_") + element_of(symbol.element).name);
    return operation;
}

} // namespace

ObservedOperation describe_calls(const SymbolInfo& symbol, std::span<const std::int64_t> dimensions,
                                 std::int64_t& executions_a_call)
{
    executions_a_call = 1;
    switch (symbol.action) {
    case Action::kFftwExecute:
    case Action::kCufftExecute:
        return describe_fft(symbol, dimensions, executions_a_call);
    case Action::kSparse:
        return describe_sparse(symbol, dimensions);
    case Action::kDnnlExecute:
    case Action::kCudnnConvolution:
        return describe_tensors(symbol, dimensions);
    case Action::kCall:
        return describe_call(symbol, dimensions, executions_a_call);
    case Action::kBytes:
        return describe_bytes(symbol);
    case Action::kMessage:
        return describe_message(symbol);
    case Action::kForget:
    case Action::kForgetNumber:
    case Action::kFftwPlan:
    case Action::kCufftPlan:
    case Action::kSparseCreate:
    case Action::kCudnnDescriptor:
        break;
    }
    return {};
}

} // namespace fathom::profile
