// Calls library functions a known number of times; the first argument says how. Tests compare the counts exactly.
#define _GNU_SOURCE
#include <cblas.h>
#include <complex.h>
#include <dlfcn.h>
#include <fftw3.h>
#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>
#include <suitesparse/cs.h>
#include <suitesparse/umfpack.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <zlib.h>

void dgesv_(const int*, const int*, double*, const int*, int*, double*, const int*, int*);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*,
             int*, size_t, size_t);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*, size_t, size_t);
void dfftw_plan_dft_2d_(fftw_plan*, const int*, const int*, fftw_complex*, fftw_complex*, const int*, const int*);
void dfftw_execute_(fftw_plan*);

enum { kEdge = 64 };
static double a[kEdge * kEdge], b[kEdge * kEdge], c[kEdge * kEdge];

static void fill(void)
{
    for (int i = 0; i < kEdge * kEdge; ++i) {
        a[i] = (i * 37 % 101) / 101.0 - (i % (kEdge + 1) == 0 ? 3 : 0);
        b[i] = (i * 53 % 97) / 97.0;
    }
}

static void gemm(int times, int n)
{
    for (int i = 0; i < times; ++i)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n / 2, n / 4, 1.5, a, kEdge, b, kEdge, 0.5, c, kEdge);
}

static void check(int holds, const char* what)
{
    if (holds) return;
    fprintf(stderr, "wrong: %s\n", what);
    exit(9);
}

static void blas(void)
{
    const int n = 32, one = 1, m = 8;
    const double alpha = 2, beta = 0;
    gemm(3, 64);
    gemm(2, 32);
    for (int i = 0; i < 4; ++i)
        dgemm_("N", "t", &n, &m, &n, &alpha, a, &n, b, &m, &beta, c, &n, 1, 1);
    double sum = 0;
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 3; ++k)
            sum += b[i] * b[k];
    check(cblas_ddot(10, a, 1, a, 1) > 0, "a dot product comes back");
    double complex x[4] = {1, I, 2, 3}, result;
    cblas_zdotu_sub(4, x, 1, x, 1, &result);
    check(creal(result) == 13, "a complex result comes back by reference");
    const double complex scale = 2 * I;
    cblas_zscal(4, &scale, x, 1);
    check(cimag(x[0]) == 2, "complex scalars arrive");
    float f[4] = {1, 2, 3, 4};
    cblas_saxpy(4, 0.5f, f, 1, f, 1);
    check(f[3] == 6, "single-precision scalars arrive");
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, 16, 8, 1, a, 16, c, 16);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasUnit, 16, 8, 1, a, 16, c, 16);
    (void)one, (void)sum;
}

static void lapack(void)
{
    const int n = 48, rhs = 5;
    int pivots[48], info = 1;
    dgesv_(&n, &rhs, a, &n, pivots, b, &n, &info);
    check(info == 0, "the system is solved");
    const int order = 40, query = -1;
    double w[40], want = 0;
    int iwant = 0;
    fill();
    dsyevd_("V", "U", &order, a, &order, w, &want, &query, &iwant, &query, &info, 1, 1);
    const int lwork = (int)want, liwork = iwant;
    double* work = malloc(sizeof(double) * (size_t)lwork);
    int* iwork = malloc(sizeof(int) * (size_t)liwork);
    dsyevd_("V", "U", &order, a, &order, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    check(info == 0, "eigenvalues are found");
    free(work), free(iwork);
}

static void fft(void)
{
    fftw_complex* x = fftw_malloc(sizeof(fftw_complex) * 32 * 32 * 32);
    fftw_complex* y = fftw_malloc(sizeof(fftw_complex) * 32 * 32 * 32);
    memset(x, 0, sizeof(fftw_complex) * 32 * 32 * 32);
    fftw_plan cube = fftw_plan_dft_3d(32, 32, 32, x, y, FFTW_FORWARD, FFTW_ESTIMATE);
    const int line = 128;
    fftw_plan many = fftw_plan_many_dft(1, &line, 10, x, NULL, 1, 128, y, NULL, 1, 128, FFTW_FORWARD, FFTW_ESTIMATE);
    const fftw_iodim dims[2] = {{16, 20, 20}, {20, 1, 1}}, batch = {3, 320, 320};
    fftw_plan guru = fftw_plan_guru_dft(2, dims, 1, &batch, x, y, FFTW_BACKWARD, FFTW_ESTIMATE);
    fftw_plan real = fftw_plan_dft_r2c_2d(64, 48, (double*)x, y, FFTW_ESTIMATE);
    for (int i = 0; i < 6; ++i)
        fftw_execute(cube);
    for (int i = 0; i < 2; ++i)
        fftw_execute_dft(cube, y, x);
    fftw_execute(many);
    fftw_execute(guru);
    fftw_execute(real);
    fftwf_plan single = fftwf_plan_dft_1d(256, (fftwf_complex*)x, (fftwf_complex*)y, FFTW_FORWARD, FFTW_ESTIMATE);
    for (int i = 0; i < 5; ++i)
        fftwf_execute(single);
    fftw_plan fortran;
    const int n0 = 24, n1 = 30, sign = FFTW_FORWARD, flags = FFTW_ESTIMATE;
    dfftw_plan_dft_2d_(&fortran, &n0, &n1, x, y, &sign, &flags);
    for (int i = 0; i < 7; ++i)
        dfftw_execute_(&fortran);
}

static void sparse(void)
{
    cholmod_common common;
    cholmod_start(&common);
    cholmod_sparse* eye = cholmod_speye(50, 50, CHOLMOD_REAL, &common);
    cholmod_dense* x = cholmod_ones(50, 1, CHOLMOD_REAL, &common);
    cholmod_dense* y = cholmod_zeros(50, 1, CHOLMOD_REAL, &common);
    double one[2] = {1, 0}, none[2] = {0, 0};
    for (int i = 0; i < 3; ++i)
        cholmod_sdmult(eye, 0, one, none, x, y, &common);
    check(((double*)y->x)[49] == 1, "the product is right");
    cs_di* triplets = cs_di_spalloc(4, 4, 4, 1, 1);
    for (int i = 0; i < 4; ++i)
        cs_di_entry(triplets, i, i, 2);
    cs_di* matrix = cs_di_compress(triplets);
    for (int i = 0; i < 2; ++i)
        cs_di_gaxpy(matrix, x->x, y->x);
    void *symbolic, *numeric;
    umfpack_di_symbolic(4, 4, matrix->p, matrix->i, matrix->x, &symbolic, NULL, NULL);
    umfpack_di_numeric(matrix->p, matrix->i, matrix->x, symbolic, &numeric, NULL, NULL);
    umfpack_di_solve(UMFPACK_A, matrix->p, matrix->i, matrix->x, y->x, x->x, numeric, NULL, NULL);
}

static void onednn(void)
{
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_engine_create(&engine, dnnl_cpu, 0);
    dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    const dnnl_dims_t in = {2, 8, 12, 12}, weights = {16, 8, 3, 3}, out = {2, 16, 10, 10}, ones = {1, 1}, zeros = {0, 0};
    dnnl_memory_desc_t source, kernel, target;
    dnnl_memory_desc_init_by_tag(&source, 4, in, dnnl_f32, dnnl_nchw);
    dnnl_memory_desc_init_by_tag(&kernel, 4, weights, dnnl_f32, dnnl_oihw);
    dnnl_memory_desc_init_by_tag(&target, 4, out, dnnl_f32, dnnl_nchw);
    dnnl_convolution_desc_t convolution;
    dnnl_convolution_forward_desc_init(&convolution, dnnl_forward_inference, dnnl_convolution_direct, &source, &kernel,
                                       NULL, &target, ones, zeros, zeros);
    dnnl_primitive_desc_t description;
    dnnl_primitive_desc_create(&description, &convolution, NULL, engine, NULL);
    dnnl_primitive_t primitive;
    dnnl_primitive_create(&primitive, description);
    dnnl_memory_t memory[3];
    dnnl_memory_create(&memory[0], &source, engine, DNNL_MEMORY_ALLOCATE);
    dnnl_memory_create(&memory[1], &kernel, engine, DNNL_MEMORY_ALLOCATE);
    dnnl_memory_create(&memory[2], &target, engine, DNNL_MEMORY_ALLOCATE);
    const dnnl_exec_arg_t arguments[3] = {
        {DNNL_ARG_SRC, memory[0]}, {DNNL_ARG_WEIGHTS, memory[1]}, {DNNL_ARG_DST, memory[2]}};
    for (int i = 0; i < 3; ++i)
        check(dnnl_primitive_execute(primitive, stream, 3, arguments) == dnnl_success, "the convolution runs");
    static float p[32 * 32], q[32 * 32], r[32 * 32];
    for (int i = 0; i < 2; ++i)
        dnnl_sgemm('N', 'N', 16, 24, 32, 1, p, 32, q, 24, 0, r, 24);
}

static void* in_thread(void* times)
{
    static _Thread_local double mine[kEdge * kEdge];
    for (int i = 0; i < *(int*)times; ++i)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 16, 16, 16, 1, a, 16, b, 16, 0, mine, 16);
    return NULL;
}

static void threads(void)
{
    pthread_t all[8];
    int times = 500;
    for (int i = 0; i < 8; ++i)
        pthread_create(&all[i], NULL, in_thread, &times);
    for (int i = 0; i < 8; ++i)
        pthread_join(all[i], NULL);
}

typedef void (*Gemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);

static void looked_up(void)
{
    void* library = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    Gemm found = (Gemm)dlsym(library, "cblas_dgemm");
    for (int i = 0; i < 11; ++i)
        found(CblasRowMajor, CblasNoTrans, CblasNoTrans, 8, 8, 8, 1, a, 8, b, 8, 0, c, 8);
    found = (Gemm)dlsym(RTLD_DEFAULT, "cblas_dgemm");
    for (int i = 0; i < 2; ++i)
        found(CblasRowMajor, CblasNoTrans, CblasNoTrans, 8, 8, 8, 1, a, 8, b, 8, 0, c, 8);
    check(dlsym(RTLD_DEFAULT, "cublasDgemm_v2") == NULL, "what no library has is not found");
    check(dlsym(library, "mkl_dcsrmv_") == NULL, "what no library has is not found in one");
    check(dlerror() != NULL, "dlerror() says so");
    check(dlsym(RTLD_NEXT, "malloc") != NULL, "RTLD_NEXT works");
}

static jmp_buf out_of_blas;
static void jump(int signal)
{
    (void)signal;
    longjmp(out_of_blas, 1);
}

static void jumps(void)
{
    // An error handler that leaves the library by longjmp, as interpreters do.
    signal(SIGALRM, jump);
    static double big[1500 * 1500];
    if (setjmp(out_of_blas) == 0) {
        alarm(1);
        while (1)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1500, 1500, 1500, 1, big, 1500, big, 1500, 0, big, 1500);
    }
    gemm(5, 64);
}

static void product(void)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, 16, 8, 4, 1.5, a, kEdge, b, kEdge, 0.5, c, kEdge);
}

/// On a stack of its own, as coroutines have: behind its last word nothing can be read.
static void coroutine(void)
{
    const size_t bytes = (size_t)1 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    char* stack = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(stack != MAP_FAILED && mprotect(stack + bytes, page, PROT_NONE) == 0, "there is a stack");
    static ucontext_t here, there;
    check(getcontext(&there) == 0, "there is a context");
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = bytes;
    there.uc_link = &here;
    makecontext(&there, product, 0);
    check(swapcontext(&here, &there) == 0, "the coroutine ends");
}

static void buffers(void)
{
    enum { kBytes = 300000 };
    static unsigned char plain[kBytes], packed[2 * kBytes], found[kBytes];
    for (unsigned i = 0; i < kBytes; ++i)
        plain[i] = (unsigned char)(i * i >> 7);
    uLongf packed_size = 0;
    for (int i = 0; i < 3; ++i) {
        packed_size = sizeof(packed);
        check(compress2(packed, &packed_size, plain, kBytes, 6) == Z_OK, "compress2");
    }
    for (int i = 0; i < 2; ++i) {
        uLongf size = kBytes;
        check(uncompress(found, &size, packed, packed_size) == Z_OK && size == kBytes, "uncompress");
    }
    check(memcmp(plain, found, kBytes) == 0, "what was compressed comes back");
}

int main(int argc, char** argv)
{
    const char* what = argc > 1 ? argv[1] : "";
    openblas_set_num_threads(1);
    fill();
    if (strcmp(what, "blas") == 0) blas();
    if (strcmp(what, "lapack") == 0) lapack();
    if (strcmp(what, "fft") == 0) fft();
    if (strcmp(what, "sparse") == 0) sparse();
    if (strcmp(what, "onednn") == 0) onednn();
    if (strcmp(what, "buffers") == 0) buffers();
    if (strcmp(what, "threads") == 0) threads();
    if (strcmp(what, "dlsym") == 0) looked_up();
    if (strcmp(what, "longjmp") == 0) jumps();
    if (strcmp(what, "coroutine") == 0) coroutine();
    if (strcmp(what, "fork") == 0) {
        gemm(2, 64);
        for (int i = 0; i < 3; ++i) {
            if (fork() == 0) {
                gemm(4, 64);
                _exit(0);
            }
        }
        while (wait(NULL) > 0) {
        }
    }
    if (strcmp(what, "exec") == 0) {
        gemm(2, 64);
        execl(argv[0], argv[0], "fork", NULL);
    }
    if (strcmp(what, "closed") == 0) {
        for (int fd = 3; fd < 1024; ++fd)
            close(fd);
        if (chdir("/") != 0) return 9;
        gemm(3, 64);
    }
    if (strcmp(what, "exit") == 0) {
        gemm(5, 64);
        _exit(42);
    }
    if (strcmp(what, "abort") == 0) {
        gemm(6, 64);
        abort();
    }
    if (strcmp(what, "kill") == 0) {
        gemm(7, 64);
        kill(getpid(), SIGKILL);
    }
    if (strcmp(what, "term") == 0) {
        gemm(1, 64);
        puts("ready");
        fflush(stdout);
        pause();
    }
    if (strcmp(what, "milliseconds") == 0) { // the benchmark: calls of a millisecond; prints seconds
        const int times = argc > 2 ? atoi(argv[2]) : 1000;
        const int n = argc > 3 ? atoi(argv[3]) : 256;
        double* matrix = calloc((size_t)n * (size_t)n * 3, sizeof(double));
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = 0; i < times; ++i)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, matrix, n, matrix + n * n, n, 0,
                        matrix + 2 * n * n, n);
        clock_gettime(CLOCK_MONOTONIC, &end);
        printf("%.9f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    }
    return 0;
}
