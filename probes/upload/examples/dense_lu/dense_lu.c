/* A probe operator that an expert could upload: LU factorization with partial pivoting and the solution of one
 * system, blocked over columns so that the inner loop runs along rows. The truth is known: the right-hand side is
 * made from a solution that was chosen beforehand, with a sum of its own that does not use the factorization.
 *
 *     cc -O3 -std=c99 -shared -fPIC -fvisibility=hidden -o dense_lu.so dense_lu.c -lm
 */
#include "fathom_operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dense_lu {
    size_t n;
    double* matrix;   /* as prepared; never changed */
    double* truth;    /* the solution that was chosen */
    double* right;    /* matrix * truth */
    double* factors;  /* of the last execution */
    double* solution; /* the result */
    size_t* pivots;
    const char* message;
};

/* Uniform in [-1, 1), by position: the finalizer of splitmix64. */
static double random_value(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

static void* lu_create(const fathom_parameter* parameters, uint32_t count, int32_t threads)
{
    struct dense_lu* self = calloc(1, sizeof *self);
    uint32_t i;
    (void)threads; /* this code computes in one thread, and its manifest says so */
    if (self == NULL) return NULL;
    for (i = 0; i < count; ++i) {
        if (strcmp(parameters[i].name, "n") == 0) self->n = (size_t)parameters[i].value;
    }
    return self;
}

static uint64_t lu_memory_bytes(void* opaque)
{
    const struct dense_lu* self = opaque;
    const uint64_t n = self->n;
    return 8 * (2 * n * n + 4 * n);
}

static int32_t lu_prepare(void* opaque, uint64_t seed)
{
    struct dense_lu* self = opaque;
    const size_t n = self->n;
    size_t i, j;
    self->matrix = malloc(n * n * sizeof(double));
    self->factors = malloc(n * n * sizeof(double));
    self->truth = malloc(n * sizeof(double));
    self->right = malloc(n * sizeof(double));
    self->solution = calloc(n, sizeof(double));
    self->pivots = malloc(n * sizeof(size_t));
    if (self->matrix == NULL || self->factors == NULL || self->truth == NULL || self->right == NULL ||
        self->solution == NULL || self->pivots == NULL)
        return FATHOM_OUT_OF_MEMORY;
    for (i = 0; i < n; ++i)
        self->truth[i] = random_value(seed + 1, i) + 2.0; /* no element near 0 */
    for (i = 0; i < n; ++i) {
        double sum = 0;
        for (j = 0; j < n; ++j) {
            /* A heavy diagonal keeps the condition number, and with it the error, small at every size. */
            const double value = random_value(seed, i * n + j) + (i == j ? 4.0 * sqrt((double)n) : 0.0);
            self->matrix[i * n + j] = value;
            sum += value * self->truth[j];
        }
        self->right[i] = sum;
    }
    return FATHOM_OK;
}

static int factor(struct dense_lu* self)
{
    const size_t n = self->n;
    double* a = self->factors;
    size_t k, i, j;
    for (k = 0; k < n; ++k) {
        size_t pivot = k;
        for (i = k + 1; i < n; ++i) {
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        }
        self->pivots[k] = pivot;
        if (a[pivot * n + k] == 0.0) return 0;
        for (j = 0; pivot != k && j < n; ++j) {
            const double swapped = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = swapped;
        }
        for (i = k + 1; i < n; ++i) {
            const double times = a[i * n + k] / a[k * n + k];
            double* row = a + i * n;
            const double* top = a + k * n;
            row[k] = times;
            for (j = k + 1; j < n; ++j)
                row[j] -= times * top[j];
        }
    }
    return 1;
}

static void solve(struct dense_lu* self)
{
    const size_t n = self->n;
    const double* a = self->factors;
    double* x = self->solution;
    size_t i, j;
    memcpy(x, self->right, n * sizeof(double));
    for (i = 0; i < n; ++i) { /* whole rows were swapped, so all swaps come first */
        const double swapped = x[i];
        x[i] = x[self->pivots[i]];
        x[self->pivots[i]] = swapped;
    }
    for (i = 0; i < n; ++i) {
        for (j = 0; j < i; ++j)
            x[i] -= a[i * n + j] * x[j];
    }
    for (i = n; i-- > 0;) {
        for (j = i + 1; j < n; ++j)
            x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
}

static int32_t lu_execute(void* opaque)
{
    struct dense_lu* self = opaque;
    memcpy(self->factors, self->matrix, self->n * self->n * sizeof(double));
    if (!factor(self)) {
        self->message = "the matrix is singular";
        return FATHOM_FAILED;
    }
    solve(self);
    return FATHOM_OK;
}

static double lu_error(void* opaque)
{
    const struct dense_lu* self = opaque;
    double difference = 0;
    double norm = 0;
    size_t i;
    for (i = 0; i < self->n; ++i) {
        const double step = self->solution[i] - self->truth[i];
        difference += step * step;
        norm += self->truth[i] * self->truth[i];
    }
    return sqrt(difference / norm);
}

static fathom_result lu_result(void* opaque)
{
    const struct dense_lu* self = opaque;
    const fathom_result result = {self->solution, self->n, FATHOM_DOUBLES};
    return result;
}

static const char* lu_library(void* opaque)
{
    (void)opaque;
    return "dense_lu 1.0";
}

static const char* lu_message(void* opaque)
{
    const struct dense_lu* self = opaque;
    return self != NULL ? self->message : "no memory for an instance";
}

static void lu_destroy(void* opaque)
{
    struct dense_lu* self = opaque;
    free(self->matrix);
    free(self->factors);
    free(self->truth);
    free(self->right);
    free(self->solution);
    free(self->pivots);
    free(self);
}

const fathom_operator_v1* fathom_operator(void)
{
    static const fathom_operator_v1 table = {
        FATHOM_OPERATOR_ABI, sizeof(fathom_operator_v1), "dense_lu", lu_create,  lu_memory_bytes, lu_prepare,
        lu_execute,          lu_error,                   lu_result,  lu_library, lu_message,      lu_destroy};
    return &table;
}
