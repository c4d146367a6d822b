#include "probes/operators/vector_math.hpp"

#include <cmath>
#include <gnu/libc-version.h>

#if defined(FATHOM_HAS_LIBMVEC) && defined(__x86_64__)

#include <immintrin.h>

// The C library's vector functions have no header: compilers know their names, which the vector function ABI
// of x86-64 defines (b: SSE, d: AVX2, e: AVX-512; N: no mask; then the lanes).
extern "C" {
__m128d _ZGVbN2v_sin(__m128d angles);
__m128d _ZGVbN2v_cos(__m128d angles);
__attribute__((target("avx2"))) __m256d _ZGVdN4v_sin(__m256d angles);
__attribute__((target("avx2"))) __m256d _ZGVdN4v_cos(__m256d angles);
__attribute__((target("avx512f"))) __m512d _ZGVeN8v_sin(__m512d angles);
__attribute__((target("avx512f"))) __m512d _ZGVeN8v_cos(__m512d angles);
}

namespace fathom::probes {
namespace {

enum class Width { kSse, kAvx2, kAvx512 };

Width widest()
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return Width::kAvx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Width::kAvx2;
    return Width::kSse;
}

enum class Function { kSin, kCos };

template <Function function>
void by_sse(const double* in, double* out, std::size_t size)
{
    for (std::size_t i = 0; i < size; i += 2) {
        const __m128d angles = _mm_loadu_pd(in + i);
        _mm_storeu_pd(out + i, function == Function::kSin ? _ZGVbN2v_sin(angles) : _ZGVbN2v_cos(angles));
    }
}

template <Function function>
__attribute__((target("avx2"))) void by_avx2(const double* in, double* out, std::size_t size)
{
    for (std::size_t i = 0; i < size; i += 4) {
        const __m256d angles = _mm256_loadu_pd(in + i);
        _mm256_storeu_pd(out + i, function == Function::kSin ? _ZGVdN4v_sin(angles) : _ZGVdN4v_cos(angles));
    }
}

template <Function function>
__attribute__((target("avx512f"))) void by_avx512(const double* in, double* out, std::size_t size)
{
    for (std::size_t i = 0; i < size; i += 8) {
        const __m512d angles = _mm512_loadu_pd(in + i);
        _mm512_storeu_pd(out + i, function == Function::kSin ? _ZGVeN8v_sin(angles) : _ZGVeN8v_cos(angles));
    }
}

template <Function function>
void by_widest(const double* in, double* out, std::size_t size)
{
    static const Width width = widest();
    switch (width) {
    case Width::kAvx512:
        return by_avx512<function>(in, out, size);
    case Width::kAvx2:
        return by_avx2<function>(in, out, size);
    case Width::kSse:
        return by_sse<function>(in, out, size);
    }
}

} // namespace

void vector_sin(const double* in, double* out, std::size_t size)
{
    by_widest<Function::kSin>(in, out, size);
}

void vector_cos(const double* in, double* out, std::size_t size)
{
    by_widest<Function::kCos>(in, out, size);
}

std::string vector_math_name()
{
    const Width width = widest();
    const char* const name = width == Width::kAvx512 ? "AVX-512" : width == Width::kAvx2 ? "AVX2" : "SSE";
    return std::string("glibc ") + gnu_get_libc_version() + " libmvec " + name;
}

} // namespace fathom::probes

#else

namespace fathom::probes {

void vector_sin(const double* in, double* out, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i)
        out[i] = std::sin(in[i]);
}

void vector_cos(const double* in, double* out, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i)
        out[i] = std::cos(in[i]);
}

std::string vector_math_name()
{
    return std::string("glibc ") + gnu_get_libc_version() + " libm, one by one";
}

} // namespace fathom::probes

#endif
