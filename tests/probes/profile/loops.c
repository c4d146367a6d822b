/* Loops that call no library, each for a part of a second: profile_loops NAME [ROUNDS]. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kNumbers = 4096, kNodes = 1 << 14, kCode = 1024 };

static double a[kNumbers], b[kNumbers], c[kNumbers];
static volatile double number;
static volatile uint64_t whole;

struct node {
    struct node *next;
    long content[7];
};
static struct node nodes[kNodes];

__attribute__((noinline)) static double dot(void)
{
    double sum = 0;
    for (int i = 0; i < kNumbers; i++)
        sum += a[i] * b[i];
    return sum;
}

__attribute__((noinline)) static void stencil(void)
{
    for (int i = 1; i < kNumbers - 1; i++)
        c[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
}

__attribute__((noinline)) static struct node *chase(struct node *at, long steps)
{
    for (long i = 0; i < steps; i++)
        at = at->next;
    return at;
}

__attribute__((noinline)) static uint64_t hash(const unsigned char *bytes, size_t count)
{
    uint64_t value = 14695981039346656037u;
    for (size_t i = 0; i < count; i++) {
        value ^= bytes[i];
        value *= 1099511628211u;
    }
    return value;
}

__attribute__((noinline)) static long interpret(const unsigned char *code, long steps)
{
    long sum = 0;
    unsigned at = 0;
    long memory[8] = {0};
    while (steps-- > 0) {
        const unsigned char one = code[at++ % kCode];
        switch (one & 7) {
        case 0: sum += memory[one >> 5]; break;
        case 1: memory[one >> 5] = sum; break;
        case 2: sum ^= one; break;
        case 3: at += sum & 1 ? one >> 4 : 0; break;
        case 4: sum -= memory[one >> 5]; break;
        case 5: memory[one >> 5] += 1; break;
        case 6: sum = (long)((unsigned long)sum * 3 + 1); break;
        default: sum >>= 1;
        }
    }
    return sum;
}

static int run(const char *name)
{
    if (strcmp(name, "dot") == 0) {
        for (int i = 0; i < 150000; i++)
            number = dot();
    } else if (strcmp(name, "stencil") == 0) {
        for (int i = 0; i < 150000; i++) {
            stencil();
            number = c[i % kNumbers];
        }
    } else if (strcmp(name, "chase") == 0) {
        for (int i = 0; i < kNodes; i++)
            nodes[i].next = &nodes[(i * 7919 + 1) % kNodes];
        whole = (uint64_t)(uintptr_t)chase(nodes, 100000000);
    } else if (strcmp(name, "hash") == 0) {
        for (int i = 0; i < 15000; i++)
            whole = hash((const unsigned char *)a, sizeof a);
    } else if (strcmp(name, "interpret") == 0) {
        static unsigned char code[kCode];
        for (unsigned i = 0; i < kCode; i++)
            code[i] = (unsigned char)(i * 2654435761u >> 13);
        whole = (uint64_t)interpret(code, 150000000);
    } else {
        return 2;
    }
    return 0;
}

int main(int count, char **arguments)
{
    const long rounds = count > 2 ? atol(arguments[2]) : 1;
    int result = count > 1 ? 0 : 2;
    for (int i = 0; i < kNumbers; i++) {
        a[i] = i;
        b[i] = 1;
    }
    for (long i = 0; i < rounds && result == 0; i++)
        result = run(arguments[1]);
    return result;
}
