/* The interface between Fathom and an uploaded probe operator, version 1.
 *
 * An operator is a shared object (cc -shared -fPIC) that exports one function, fathom_operator(), which returns
 * a table of functions. Fathom loads the object in a process of its own, in a sandbox: no network unless the
 * manifest asks for it, no files but the system's libraries and an empty /tmp, no other programs, and no more
 * memory than the manifest says. This file is all that an operator needs: copy it, it includes nothing of Fathom.
 *
 * One process serves one instance, from one thread:
 *
 *     create, memory_bytes, prepare, (execute ... error, result) as often as Fathom likes, destroy
 *
 * What Fathom checks, and reports as a misbehaving operator when it is not so:
 *   - execute() computes the whole result: Fathom fills the result with NaN before an execution, and no NaN may be
 *     left after it (bytes: with 0xA5, and the right result must stand there afterwards);
 *   - error() looks at the result where it lies now, all of it: Fathom changes an element behind the operator's
 *     back, and error() must then be above the manifest's tolerance;
 *   - another seed gives another result; the same seed gives, in another process, the same result (numbers:
 *     within the tolerance);
 *   - the manifest's operation and byte counts, divided by the time, are something that a processor can do.
 *
 * Exported names other than fathom_operator should be hidden (-fvisibility=hidden). The code may be C, C++ or
 * anything that can offer C functions; a C++ exception that leaves a function is reported as a failure.
 */
#ifndef FATHOM_OPERATOR_H
#define FATHOM_OPERATOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface; goes into fathom_operator_v1.abi_version. */
#define FATHOM_OPERATOR_ABI 1u

/* What prepare() and execute() return; any other value counts as FATHOM_FAILED. */
#define FATHOM_OK 0
#define FATHOM_FAILED 1        /* message() says why */
#define FATHOM_OUT_OF_MEMORY 2 /* malloc() gave NULL: the manifest's memory_bytes is too small for this size */

/* What a result consists of. */
#define FATHOM_DOUBLES 1u /* double; complex numbers count as two */
#define FATHOM_FLOATS 2u  /* float */
#define FATHOM_BYTES 3u   /* anything else that can be compared byte by byte */

/* One of the manifest's parameters. All of them are passed, within their ranges, in order of their names. */
typedef struct fathom_parameter {
    const char* name; /* valid during the call only */
    int64_t value;
} fathom_parameter;

/* The memory that holds the result. Between calls Fathom reads it, and writes into it. */
typedef struct fathom_result {
    void* values;
    uint64_t count; /* of elements, at least 1; the same after every execution */
    uint32_t kind;  /* FATHOM_DOUBLES, FATHOM_FLOATS or FATHOM_BYTES */
} fathom_result;

/* The table. Every function must be there; `self` is what create() returned. */
typedef struct fathom_operator_v1 {
    uint32_t abi_version;  /* FATHOM_OPERATOR_ABI */
    uint32_t struct_bytes; /* sizeof(fathom_operator_v1) */
    const char* id;        /* as in the manifest */

    /* Makes an instance that may use `threads` threads; NULL when it cannot (message(NULL) says why). Cheap:
     * memory and inputs are for prepare(). */
    void* (*create)(const fathom_parameter* parameters, uint32_t count, int32_t threads);

    /* What prepare() and everything after it will allocate, in bytes, before any of it is allocated. */
    uint64_t (*memory_bytes)(void* self);

    /* Allocates, makes inputs from `seed` (the same seed, the same inputs, on every machine), plans. Called once. */
    int32_t (*prepare)(void* self, uint64_t seed);

    /* Computes the whole result once more from the same inputs into the same place. This is what is timed:
     * nothing else belongs here. */
    int32_t (*execute)(void* self);

    /* The relative error of the present content of the result against a truth that does not come from the code
     * under test; 0 is right. Not a number counts as wrong. */
    double (*error)(void* self);

    /* Where the result lies; after prepare(). */
    fathom_result (*result)(void* self);

    /* The library that computes, with its version, at most 200 characters: "my_solver 1.2". */
    const char* (*library)(void* self);

    /* What went wrong last, for people; may return NULL. `self` is NULL after a create() that failed. */
    const char* (*message)(void* self);

    /* Frees the instance. */
    void (*destroy)(void* self);
} fathom_operator_v1;

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
/* The one exported function. The table must stay valid as long as the object is loaded. */
const fathom_operator_v1*
fathom_operator(void);

#ifdef __cplusplus
}
#endif

#endif
