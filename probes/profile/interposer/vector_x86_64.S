// Stubs before the C library's vector functions, for x86-64. Their arguments and results are vector registers
// of any width, and a call takes some ten nanoseconds: so a stub only counts, in memory of the thread's own, and
// jumps. Every 1024th call is timed. %rax, %rdx, %r10 and %r11 carry no arguments of these functions.

#define VECTOR_COUNT_BYTES 32

    .text
    .hidden fathom_profile_shard
    .hidden fathom_profile_vector_real
    .hidden fathom_profile_prepare_vector
    .hidden fathom_profile_has_xsave

    .macro STUB name
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
0:  movq fathom_profile_shard@gottpoff(%rip), %r11
    movq %fs:(%r11), %r11
    movq fathom_profile_vector_real + 8 * \@(%rip), %r10
    testq %r11, %r11
    jz 1f
    testq %r10, %r10
    jz 1f
    incq VECTOR_COUNT_BYTES * \@(%r11)
    testl $1023, VECTOR_COUNT_BYTES * \@(%r11)
    jz 2f
    jmp *%r10
1:  movl $\@, %eax
    leaq 0b(%rip), %r10
    jmp prepare
2:  leaq VECTOR_COUNT_BYTES * \@(%r11), %r11
    jmp timed
    .cfi_endproc
    .size \name, . - \name
    .endm
#define FATHOM_MVEC(name, ...) STUB name;
#include "probes/profile/symbols/libmvec.def"
#undef FATHOM_MVEC

    .type timed, @function
timed:                                      // %r10: the real function; %r11: its VectorCount
    .cfi_startproc
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    pushq %r12
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r12, 0
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    movq %r11, %rbx
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, %r12
    call *%r10
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    subq %r12, %rax
    addq %rax, 16(%rbx)
    incq 8(%rbx)
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %r12
    .cfi_adjust_cfa_offset -8
    popq %rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size timed, . - timed

// The first call of a function or of a thread: finds the real function and the thread's memory, with every
// register kept, then begins anew.
    .type prepare, @function
prepare:                                    // %eax: index; %r10: the stub
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %r10
    pushq %rdi
    pushq %rsi
    pushq %rcx
    pushq %r8
    pushq %r9
    movl %eax, %edi
    movq 8(%rbp), %rsi                      // the caller
    subq $4096, %rsp                        // x87 to AVX-512: 2696 bytes
    andq $-64, %rsp
    cmpl $0, fathom_profile_has_xsave(%rip)
    je 1f
    // The header must be zero before xsave fills it in.
    xorl %eax, %eax
    movq %rax, 512(%rsp)
    movq %rax, 520(%rsp)
    movq %rax, 528(%rsp)
    movq %rax, 536(%rsp)
    movq %rax, 544(%rsp)
    movq %rax, 552(%rsp)
    movq %rax, 560(%rsp)
    movq %rax, 568(%rsp)
    movl $0xe7, %eax                        // x87, SSE, AVX, AVX-512; not the tiles of AMX
    xorl %edx, %edx
    xsave64 (%rsp)
    call fathom_profile_prepare_vector
    movl $0xe7, %eax
    xorl %edx, %edx
    xrstor64 (%rsp)
    jmp 2f
1:  fxsave64 (%rsp)
    call fathom_profile_prepare_vector
    fxrstor64 (%rsp)
2:  leaq -48(%rbp), %rsp
    popq %r9
    popq %r8
    popq %rcx
    popq %rsi
    popq %rdi
    popq %r10
    popq %rbp
    .cfi_def_cfa %rsp, 8
    jmp *%r10
    .cfi_endproc
    .size prepare, . - prepare

    .section .note.GNU-stack, "", @progbits
