// The stubs that stand before the libraries' entry points, for AArch64 (AAPCS64). See forward_x86_64.S for what they
// do and why. Offsets: call_frame.hpp.

#define FRAME_SYMBOL   64
#define FRAME_REAL     72
#define FRAME_STACK    80
#define FRAME_RETURN   88
#define FRAME_WORDS    96
#define FRAME_RESULT   104
#define SAVED_X1       160
#define SAVED_X8       168
#define SAVED_Q        176                  // 8 × 16 bytes
#define FRAME_BYTES    304                  // a multiple of 16
#define STACK_BYTES    224                  // 28 words

    .text
    .hidden fathom_profile_enter
    .hidden fathom_profile_leave

    .type forward, %function
forward:                                    // w17: symbol; x16: the real function or 0
    .cfi_startproc
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    str x30, [sp, #24]                      // the word below the caller's arguments, as on x86-64
    mov x29, sp
    .cfi_def_cfa_register x29
    sub sp, sp, #FRAME_BYTES
    mov x15, sp
    stp x0, x1, [x15]
    stp x2, x3, [x15, #16]
    stp x4, x5, [x15, #32]
    stp x6, x7, [x15, #48]
    stp q0, q1, [x15, #SAVED_Q]
    stp q2, q3, [x15, #SAVED_Q + 32]
    stp q4, q5, [x15, #SAVED_Q + 64]
    stp q6, q7, [x15, #SAVED_Q + 96]
    str x8, [x15, #SAVED_X8]
    mov w17, w17
    str x17, [x15, #FRAME_SYMBOL]
    str x16, [x15, #FRAME_REAL]
    add x9, x29, #32
    str x9, [x15, #FRAME_STACK]
    str x30, [x15, #FRAME_RETURN]
    mov x0, x15
    bl fathom_profile_enter
    mov x16, x0
    sub x15, x29, #FRAME_BYTES
    sub sp, sp, #STACK_BYTES
    ldr x9, [x15, #FRAME_WORDS]             // at most 28
    add x10, x29, #32
1:  cbz x9, 2f
    sub x9, x9, #1
    ldr x11, [x10, x9, lsl #3]
    str x11, [sp, x9, lsl #3]
    b 1b
2:  ldp q0, q1, [x15, #SAVED_Q]
    ldp q2, q3, [x15, #SAVED_Q + 32]
    ldp q4, q5, [x15, #SAVED_Q + 64]
    ldp q6, q7, [x15, #SAVED_Q + 96]
    ldr x8, [x15, #SAVED_X8]
    ldp x0, x1, [x15]
    ldp x2, x3, [x15, #16]
    ldp x4, x5, [x15, #32]
    ldp x6, x7, [x15, #48]
    blr x16
    sub x15, x29, #FRAME_BYTES
    str x0, [x15, #FRAME_RESULT]
    str x1, [x15, #SAVED_X1]
    stp q0, q1, [x15, #SAVED_Q]
    stp q2, q3, [x15, #SAVED_Q + 32]        // results of up to four elements
    mov x0, x15
    bl fathom_profile_leave
    sub x15, x29, #FRAME_BYTES
    ldp q0, q1, [x15, #SAVED_Q]
    ldp q2, q3, [x15, #SAVED_Q + 32]
    ldr x0, [x15, #FRAME_RESULT]
    ldr x1, [x15, #SAVED_X1]
    mov sp, x29
    .cfi_def_cfa_register sp
    ldp x29, x30, [sp], #32
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size forward, . - forward

// One exported stub for each symbol, in the order of kSymbols. The number may exceed what one move takes.
    .macro STUB name
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    movz w17, #\@
    mov x16, xzr
    b forward
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
    adrp x17, fathom_profile_bound + 16 * bound
    add x17, x17, :lo12:fathom_profile_bound + 16 * bound
    ldp x16, x17, [x17]
    b forward
    .set bound, bound + 1
    .endr

// dlsym() must see its own caller in the link register: it is jumped to, not called.
    .hidden fathom_profile_find
    .hidden fathom_profile_real_dlsym
    .type fathom_profile_dlsym, %function
fathom_profile_dlsym:
    .cfi_startproc
    stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset x29, -48
    .cfi_offset x30, -40
    stp x0, x1, [sp, #16]
    mov x2, x30
    add x3, sp, #32                         // where the answer goes
    bl fathom_profile_find
    mov w9, w0
    ldr x10, [sp, #32]
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #48
    .cfi_def_cfa_offset 0
    cbz w9, 3f
    mov x0, x10
    ret
3:  adrp x16, fathom_profile_real_dlsym
    ldr x16, [x16, :lo12:fathom_profile_real_dlsym]
    br x16
    .cfi_endproc
    .size fathom_profile_dlsym, . - fathom_profile_dlsym

// With the C library's versions (versions.map): another preloaded tool that defines dlsym() asks for these.
    .macro DLSYM number, version
    .globl fathom_profile_dlsym_\number
    .type fathom_profile_dlsym_\number, %function
    .set fathom_profile_dlsym_\number, fathom_profile_dlsym
    .symver fathom_profile_dlsym_\number, dlsym\version
    .endm
    DLSYM 1, @GLIBC_2.2.5
    DLSYM 2, @GLIBC_2.17
    DLSYM 3, @@GLIBC_2.34

    .section .note.GNU-stack, "", %progbits
