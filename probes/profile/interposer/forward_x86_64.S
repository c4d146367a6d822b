// The stubs that stand before the libraries' entry points, for x86-64 (System V calling convention).
//
// A stub knows nothing of its function's prototype. It saves all registers that can carry arguments, asks
// enter() for the real function, passes registers and stack words on as they are, and gives back all registers
// that can carry a result. So one body serves every function that returns in registers and takes at most
// kMaxStackWords words on the stack. Offsets: call_frame.hpp.

#define FRAME       -512                    // CallFrame, relative to %rbp
#define FRAME_SYMBOL   (FRAME + 64)
#define FRAME_REAL     (FRAME + 72)
#define FRAME_STACK    (FRAME + 80)
#define FRAME_RETURN   (FRAME + 88)
#define FRAME_WORDS    (FRAME + 96)
#define FRAME_RESULT   (FRAME + 104)
#define SAVED_RAX      -344
#define SAVED_RDX      -336
#define SAVED_R10      -328
#define SAVED_XMM      -320                 // 8 × 16 bytes
#define LOCAL_BYTES    (512 + 28 * 8)       // a multiple of 16

    .text
    .hidden fathom_profile_enter
    .hidden fathom_profile_leave

    .type forward, @function
forward:                                    // %r11d: symbol; %r10: the real function or 0
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $LOCAL_BYTES, %rsp
    movq %rdi, FRAME(%rbp)
    movq %rsi, FRAME+8(%rbp)
    movq %rdx, FRAME+16(%rbp)
    movq %rcx, FRAME+24(%rbp)
    movq %r8, FRAME+32(%rbp)
    movq %r9, FRAME+40(%rbp)
    movq %rax, SAVED_RAX(%rbp)              // %al: vector registers of a variadic call
    movups %xmm0, SAVED_XMM(%rbp)
    movups %xmm1, SAVED_XMM+16(%rbp)
    movups %xmm2, SAVED_XMM+32(%rbp)
    movups %xmm3, SAVED_XMM+48(%rbp)
    movups %xmm4, SAVED_XMM+64(%rbp)
    movups %xmm5, SAVED_XMM+80(%rbp)
    movups %xmm6, SAVED_XMM+96(%rbp)
    movups %xmm7, SAVED_XMM+112(%rbp)
    movl %r11d, %r11d
    movq %r11, FRAME_SYMBOL(%rbp)
    movq %r10, FRAME_REAL(%rbp)
    leaq 16(%rbp), %rax
    movq %rax, FRAME_STACK(%rbp)
    movq 8(%rbp), %rax
    movq %rax, FRAME_RETURN(%rbp)
    leaq FRAME(%rbp), %rdi
    call fathom_profile_enter
    movq %rax, %r11
    movq FRAME_WORDS(%rbp), %rcx            // at most 28
    jmp 2f
1:  movq 8(%rbp, %rcx, 8), %rax             // word rcx - 1 stands at 16 + 8 (rcx - 1)
    movq %rax, -8(%rsp, %rcx, 8)
    decq %rcx
2:  testq %rcx, %rcx
    jnz 1b
    movups SAVED_XMM(%rbp), %xmm0
    movups SAVED_XMM+16(%rbp), %xmm1
    movups SAVED_XMM+32(%rbp), %xmm2
    movups SAVED_XMM+48(%rbp), %xmm3
    movups SAVED_XMM+64(%rbp), %xmm4
    movups SAVED_XMM+80(%rbp), %xmm5
    movups SAVED_XMM+96(%rbp), %xmm6
    movups SAVED_XMM+112(%rbp), %xmm7
    movq FRAME(%rbp), %rdi
    movq FRAME+8(%rbp), %rsi
    movq FRAME+16(%rbp), %rdx
    movq FRAME+24(%rbp), %rcx
    movq FRAME+32(%rbp), %r8
    movq FRAME+40(%rbp), %r9
    movq SAVED_RAX(%rbp), %rax
    call *%r11
    movq %rax, FRAME_RESULT(%rbp)
    movq %rdx, SAVED_RDX(%rbp)
    movups %xmm0, SAVED_XMM(%rbp)
    movups %xmm1, SAVED_XMM+16(%rbp)
    leaq FRAME(%rbp), %rdi
    call fathom_profile_leave
    movups SAVED_XMM(%rbp), %xmm0
    movups SAVED_XMM+16(%rbp), %xmm1
    movq FRAME_RESULT(%rbp), %rax
    movq SAVED_RDX(%rbp), %rdx
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size forward, . - forward

// One exported stub for each symbol, in the order of kSymbols.
    .macro STUB name
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    movl $\@, %r11d
    xorl %r10d, %r10d
    jmp forward
    .cfi_endproc
    .size \name, . - \name
    .endm
#define FATHOM_SYMBOL(name, ...) STUB name;
#include "probes/profile/symbols/all.def"
#undef FATHOM_SYMBOL

// Stubs that dlsym() hands out: each is bound to one real function (bound_function.cpp).
    .hidden fathom_profile_bound
    .globl fathom_profile_bound_stubs
    .hidden fathom_profile_bound_stubs
    .p2align 5
fathom_profile_bound_stubs:
    .set bound, 0
    .rept 1024
    .p2align 5
    movq fathom_profile_bound + 16 * bound(%rip), %r10
    movl fathom_profile_bound + 16 * bound + 8(%rip), %r11d
    jmp forward
    .set bound, bound + 1
    .endr

// dlsym() must see its own caller's address on the stack for RTLD_NEXT and RTLD_DEFAULT: for names that do not
// concern us it is jumped to, not called.
    .hidden fathom_profile_find
    .hidden fathom_profile_real_dlsym
    .type fathom_profile_dlsym, @function
fathom_profile_dlsym:
    .cfi_startproc
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $24, %rsp
    .cfi_adjust_cfa_offset 24
    movq 40(%rsp), %rdx                     // return address
    movq %rsp, %rcx                         // where the answer goes
    call fathom_profile_find
    movl %eax, %r10d
    movq (%rsp), %rax
    addq $24, %rsp
    .cfi_adjust_cfa_offset -24
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testl %r10d, %r10d
    jz 3f
    ret
3:  jmp *fathom_profile_real_dlsym(%rip)
    .cfi_endproc
    .size fathom_profile_dlsym, . - fathom_profile_dlsym

// With the C library's versions (versions.map): another preloaded tool that defines dlsym() asks for these.
    .macro DLSYM number, version
    .globl fathom_profile_dlsym_\number
    .type fathom_profile_dlsym_\number, @function
    .set fathom_profile_dlsym_\number, fathom_profile_dlsym
    .symver fathom_profile_dlsym_\number, dlsym\version
    .endm
    DLSYM 1, @GLIBC_2.2.5
    DLSYM 2, @GLIBC_2.17
    DLSYM 3, @@GLIBC_2.34

    .section .note.GNU-stack, "", @progbits
