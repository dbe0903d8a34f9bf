/* Functions with probes, as <sys/sdt.h> makes them: behind the first bytes, and among them. */
        .macro  probe name
990:    nop
        .pushsection .note.stapsdt, "", "note"
        .balign 4
        .4byte  992f - 991f, 994f - 993f, 3
991:    .asciz  "stapsdt"
992:    .balign 4
993:    .8byte  990b, _.stapsdt.base, 0
        .asciz  "umbra_test"
        .asciz  "\name"
        .asciz  "-4@%edi"
994:    .balign 4
        .popsection
        .endm

        .section .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
        .weak   _.stapsdt.base
        .hidden _.stapsdt.base
_.stapsdt.base:
        .space  1
        .size   _.stapsdt.base, 1

        .macro  function name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        .endm

        .macro  end_function name
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .text
        function probed_late
        mov     %edi, %eax
        imul    $3, %eax, %eax
        probe   late
        add     $1, %eax
        ret
        end_function probed_late

        function probed_early
        mov     %edi, %eax
        probe   early
        imul    $3, %eax, %eax
        add     $2, %eax
        ret
        end_function probed_early

        .section .note.GNU-stack, "", @progbits
