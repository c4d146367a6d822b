/* Preloaded: a linear algebra library whose products of matrices take TIMES times as long, on processors. What probes compute on
   devices (FATHOM_RESOURCE_TYPE), or on what stands in for these, takes as long as ever. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

typedef void (*Gemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);

void cblas_dgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc)
{
    const Gemm real = (Gemm)dlsym(RTLD_NEXT, "cblas_dgemm");
    /* The same result again, unless it is added to what was there. */
    const int times = beta == 0 && getenv("FATHOM_RESOURCE_TYPE") == NULL ? TIMES : 1;
    for (int i = 0; i < times; ++i)
        real(order, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
