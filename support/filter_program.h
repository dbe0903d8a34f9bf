/*
 * What a seccomp filter would answer: its program is run here as the kernel runs it.
 *
 * The instructions are those of classic BPF that seccomp takes (linux/filter.h, and
 * kernel/seccomp.c, seccomp_check_filter): loads are of words of struct seccomp_data.
 */
#ifndef UMBRA_SUPPORT_FILTER_PROGRAM_H
#define UMBRA_SUPPORT_FILTER_PROGRAM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/* A SECCOMP_RET_ value. Of a program that the kernel would not take: SECCOMP_RET_KILL_PROCESS. */
uint32_t filter_program_run(const struct sock_filter *program, uint32_t length,
                            const struct seccomp_data *data);

#endif
