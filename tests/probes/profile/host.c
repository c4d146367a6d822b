// A program without BLAS that loads a library which has it: profile_host MODE PLUGIN [NUMBER…].
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char* plugin_path;
static void (*products)(int);
static double (*dots)(int);
static atomic_int stop;
static int calls_of_a_thread;

static void* load(void)
{
    void* plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(9);
    }
    return plugin;
}

static void* call_and_look_up(void* unused)
{
    (void)unused;
    while (!stop) {
        void* plugin = load();
        for (int i = 0; i < 20; ++i)
            if (dlsym(plugin, "cblas_ddot") == NULL) exit(9);
        dots(200);
        dlclose(plugin);
    }
    return NULL;
}

/// Children of a program whose other threads are anywhere: each makes five products, the last after looking it up.
static int fork_many(int children)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i)
        pthread_create(&threads[i], NULL, call_and_look_up, NULL);
    int ended = 0;
    for (int i = 0; i < children; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(10);
            products(5);
            _exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        ended += status == 0;
    }
    stop = 1;
    for (int i = 0; i < 3; ++i)
        pthread_join(threads[i], NULL);
    printf("%d\n", ended);
    return 0;
}

static void* call(void* unused)
{
    (void)unused;
    dots(calls_of_a_thread);
    return NULL;
}

/// Prints nanoseconds of wall time for each call of each thread.
static void time_calls(int threads, int calls)
{
    pthread_t all[64];
    struct timespec begin, end;
    calls_of_a_thread = calls;
    dots(100);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < threads; ++i)
        pthread_create(&all[i], NULL, call, NULL);
    for (int i = 0; i < threads; ++i)
        pthread_join(all[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.1f\n", (1e9 * (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec)) / calls);
}

/// Of processor time: what others have of the processor meanwhile is not counted.
static double microseconds_of_closing(void)
{
    struct timespec begin, end;
    void* plugin = load();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    dlclose(plugin);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return 1e6 * (double)(end.tv_sec - begin.tv_sec) + 1e-3 * (double)(end.tv_nsec - begin.tv_nsec);
}

static int compare_doubles(const void* left, const void* right)
{
    const double a = *(const double*)left, b = *(const double*)right;
    return (a > b) - (a < b);
}

/// Prints the median ratio of a dlclose() after another one to one after a call that is counted. Both unload nothing,
/// and the two of each pair follow each other at once.
static void time_closing(int rounds)
{
    double* ratios = malloc((size_t)rounds * sizeof *ratios);
    if (rounds < 1 || ratios == NULL) exit(9);
    for (int i = 0; i < rounds; ++i) {
        dots(1);
        const double after_call = microseconds_of_closing();
        ratios[i] = microseconds_of_closing() / after_call;
    }
    qsort(ratios, (size_t)rounds, sizeof *ratios, compare_doubles);
    printf("%.3f\n", ratios[rounds / 2]);
    free(ratios);
}

typedef void Gemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
Gemm cblas_dgemm __attribute__((weak));
static Gemm* volatile const table[] = {cblas_dgemm};

static void call_gemm(Gemm* gemm)
{
    static double a[64], b[64], c[64];
    gemm(101, 111, 111, 8, 8, 8, 1, a, 8, b, 8, 0, c, 8);
}

/// What no library has must not seem to be there: it would be called. The plugin's BLAS is in its own scope only.
static int ask_for_optional_functions(void)
{
    if (cblas_dgemm) call_gemm(cblas_dgemm);
    if (table[0]) call_gemm(table[0]);
    void* program = dlopen(NULL, RTLD_NOW);
    printf("%d %d %d\n", cblas_dgemm != NULL, dlsym(RTLD_DEFAULT, "cblas_dgemm") != NULL,
           dlsym(program, "cblas_dgemm") != NULL);
    return 0;
}

int main(int argc, char** argv)
{
    if (argc < 4) return 9;
    plugin_path = argv[2];
    void* plugin = load();
    products = (void (*)(int))dlsym(plugin, "plugin_products");
    dots = (double (*)(int))dlsym(plugin, "plugin_dots");
    if (strcmp(argv[1], "optional") == 0) return ask_for_optional_functions();
    if (strcmp(argv[1], "fork") == 0) return fork_many(atoi(argv[3]));
    if (strcmp(argv[1], "closing") == 0) time_closing(atoi(argv[3]));
    if (strcmp(argv[1], "calls") == 0 && argc > 4) time_calls(atoi(argv[3]), atoi(argv[4]));
    return 0;
}
