#include "thunkstash/linux/linux_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "thunkstash/layout.h"
#include "thunkstash/linux/syscalls.h"

#define PAGE 4096

static void *map(void *at, uint64_t size, int protection, int flags, long file, uint64_t offset)
{
    long result = SYSCALL6(mmap, at, size, protection, flags, file, offset);

    return syscall_failed(result) ? 0 : (void *)result;
}

void *pages_map_file(const char *path, uint64_t offset, uint64_t size)
{
    long file = SYSCALL3(open, path, O_RDONLY | O_CLOEXEC, 0);
    void *pages;

    if (syscall_failed(file))
        return 0;
    pages = map(0, size, PROT_READ | PROT_EXEC, MAP_SHARED, file, offset);
    SYSCALL1(close, file);
    return pages;
}

bool pages_map_block(char *block, void *code)
{
    return !syscall_failed(
               SYSCALL5(mremap, code, 0, BLOCK_CODE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, block)) &&
           map(block + BLOCK_CODE_SIZE, BLOCK_CODE_SIZE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void *pages_map_again(void *shared, uint64_t size)
{
    long result = SYSCALL4(mremap, shared, 0, size, MREMAP_MAYMOVE);

    return syscall_failed(result) ? 0 : (void *)result;
}

/* What is moved was counted before: no limit of the address space can fail it halfway. */
bool pages_replace(void *at, void *fresh, uint64_t size)
{
    if (!syscall_failed(SYSCALL5(mremap, fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at)))
        return true;
    pages_give_back(fresh, size);
    return false;
}

void *pages_take(uint64_t size)
{
    return map(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void pages_give_back(void *pages, uint64_t size)
{
    SYSCALL2(munmap, pages, size);
}

/* The kernel commits what is touched. */
void *pages_reserve(uint64_t size)
{
    return pages_take(size);
}

bool pages_commit(void *pages, uint64_t size)
{
    (void)pages;
    (void)size;
    return true;
}

void *pages_take_wiped_on_fork(uint64_t size)
{
    void *pages = pages_take(size);

    if (pages && syscall_failed(SYSCALL3(madvise, pages, size, MADV_WIPEONFORK))) {
        pages_give_back(pages, size);
        return 0;
    }
    return pages;
}

/*
 * Any system call that copies a result out will do: where the page cannot be had, the kernel
 * answers EFAULT in place of SIGBUS. rt_sigprocmask(SIG_BLOCK, null, at) changes nothing and
 * writes 8 bytes.
 */
bool pages_touch(void *pages, uint64_t size, uint32_t at)
{
    for (char *page = pages; page < (char *)pages + size; page += PAGE) {
        if (syscall_failed(SYSCALL4(rt_sigprocmask, 0, 0, page + at, 8)))
            return false;
        *(volatile uint64_t *)(page + at) = 0;
    }
    return true;
}

bool pages_read(uint64_t address, uint64_t *value)
{
    struct iovec to = {value, sizeof *value}, from = {(void *)address, sizeof *value};
    long pid = SYSCALL0(getpid);

    return SYSCALL6(process_vm_readv, pid, &to, 1, &from, 1, 0) == sizeof *value;
}
