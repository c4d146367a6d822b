// A library that programs load later and that brings its BLAS along, as extension modules of Python do: then BLAS is
// in no scope but this library's own.
#include <cblas.h>

static const double a[64], b[64];

void plugin_products(int times)
{
    double c[64] = {0};
    for (int i = 0; i < times; ++i)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 8, 8, 8, 1, a, 8, b, 8, 0, c, 8);
}

double plugin_dots(int times)
{
    double sum = 0;
    for (int i = 0; i < times; ++i)
        sum += cblas_ddot(4, a, 1, b, 1);
    return sum;
}
