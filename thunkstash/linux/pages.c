#include "thunkstash/linux/linux_pages.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "thunkstash/layout.h"
#include "thunkstash/linux/own_memory.h"
#include "thunkstash/linux/syscalls.h"

#define PAGE     4096
#define IS_BUSY  (-16) /* EBUSY */
#define IS_WRONG (-22) /* EINVAL */
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS)

/*
 * After mlockall(MCL_FUTURE) the kernel locks each new mapping, and refuses it if the limit has no
 * room for it. A mapping that grows stays as it is, locked or not. So memory is then made by
 * growing a page that is not locked:
 *
 *      spare            |page|
 *      mremap           |page|  asked for    |        moved to where there is room for both
 *      spare again      |page|
 */
static bool is_locking;
static char *spare; /* null: none, or in use */

static void *map(uint64_t size, int protection, int flags, long file, uint64_t offset)
{
    long result = SYSCALL_MAP(0, size, protection, flags, file, offset);

    return syscall_failed(result) ? NULL : (void *)result;
}

static void *grow(void *pages, uint64_t size)
{
    long result = SYSCALL4(mremap, pages, PAGE, size, MREMAP_MAYMOVE);

    return syscall_failed(result) ? NULL : (void *)result;
}

void pages_unlock(void *pages, uint64_t size)
{
    SYSCALL2(munlock, pages, size);
}

bool pages_are_locked(const void *page)
{
    return SYSCALL3(msync, page, PAGE, MS_INVALIDATE) == IS_BUSY;
}

static char *spare_make(void)
{
    char *page = map(PAGE, PROT_NONE, RESERVED, -1, 0);

    if (!page)
        return NULL;
    own_memory_add(page, PAGE);
    pages_unlock(page, PAGE);
    return page;
}

static void spare_put(char *page)
{
    char *none = NULL;

    if (!__atomic_compare_exchange_n(&spare, &none, page, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        pages_give_back(page, PAGE);
}

/* The page is listed as the agent's all the time. Else it, and what it becomes, might be locked. */
static void *grow_spare(uint64_t size)
{
    char *page = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL), *grown;

    if (!page && !(page = spare_make()))
        return NULL;
    grown = grow(page, PAGE + size);
    if (grown) {
        own_memory_add(grown + PAGE, size);
        own_memory_add(grown, PAGE);
        own_memory_remove(page, PAGE);
    }
    spare_put(grown ? grown : page);
    return grown ? grown + PAGE : NULL;
}

static void *reserve(uint64_t size)
{
    void *pages = map(size, PROT_NONE, RESERVED, -1, 0);

    if (pages)
        own_memory_add(pages, size);
    return pages;
}

void pages_keep_unlocked(void)
{
    char *page = __atomic_load_n(&spare, __ATOMIC_RELAXED) ? NULL : spare_make();

    if (page)
        spare_put(page);
    __atomic_store_n(&is_locking, true, __ATOMIC_SEQ_CST);
}

void *pages_map_file(const char *path, uint64_t offset, uint64_t size)
{
    long file = SYSCALL4(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    void *pages;

    if (syscall_failed(file))
        return NULL;
    pages = map(size, PROT_READ | PROT_EXEC, MAP_SHARED, file, offset);
    SYSCALL1(close, file);
    if (pages && is_locking)
        pages_unlock(pages, size);
    if (pages)
        own_memory_add(pages, size);
    return pages;
}

void *pages_reserve_shared(long file, uint64_t size)
{
    void *page = map(is_locking ? PAGE : size, PROT_NONE, MAP_SHARED, file, 0), *pages = page;

    if (page && is_locking) {
        pages_unlock(page, PAGE);
        pages = grow(page, size);
        if (!pages)
            pages_give_back(page, PAGE);
    }
    if (pages)
        own_memory_add(pages, size);
    return pages;
}

const void *pages_map_readable(long file, uint64_t size)
{
    void *pages = map(size, PROT_READ, MAP_SHARED, file, 0);

    if (pages && is_locking)
        pages_unlock(pages, size);
    if (pages)
        own_memory_add(pages, size);
    return pages;
}

void pages_keep_from_children(void *pages, uint64_t size)
{
    SYSCALL3(madvise, pages, size, MADV_DONTFORK);
}

void pages_keep_for_children(void *pages, uint64_t size)
{
    SYSCALL3(madvise, pages, size, MADV_DOFORK);
}

void pages_forget(const void *pages, uint64_t size)
{
    own_memory_remove(pages, size);
}

void *pages_map_again(const void *shared, uint64_t size)
{
    long result = SYSCALL4(mremap, shared, 0, size, MREMAP_MAYMOVE);

    return syscall_failed(result) ? NULL : (void *)result;
}

/* What is moved is counted already: a limit of the address space cannot make it fail halfway. */
bool pages_replace(void *at, void *fresh, uint64_t size)
{
    own_memory_remove(fresh, size);
    if (!syscall_failed(SYSCALL5(mremap, fresh, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, at)))
        return true;
    pages_give_back(fresh, size);
    return false;
}

void *pages_take(uint64_t size)
{
    void *pages = pages_reserve(size);

    if (pages && !pages_commit(pages, size)) {
        pages_give_back(pages, size);
        return NULL;
    }
    return pages;
}

void pages_give_back(void *pages, uint64_t size)
{
    SYSCALL2(munmap, pages, size);
    own_memory_remove(pages, size);
}

/* Not accessible: then nothing makes it resident, whatever locks the process's memory. */
void *pages_reserve(uint64_t size)
{
    return __atomic_load_n(&is_locking, __ATOMIC_SEQ_CST) ? grow_spare(size) : reserve(size);
}

bool pages_commit(void *pages, uint64_t size)
{
    return !syscall_failed(SYSCALL3(mprotect, pages, size, PROT_READ | PROT_WRITE));
}

bool pages_wipe_on_fork(void *pages, uint64_t size)
{
    return !syscall_failed(SYSCALL3(madvise, pages, size, MADV_WIPEONFORK));
}

void *pages_take_wiped_on_fork(uint64_t size)
{
    void *pages = pages_take(size);

    if (pages && !pages_wipe_on_fork(pages, size)) {
        pages_give_back(pages, size);
        return NULL;
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

bool pages_populate(void *pages, uint64_t size)
{
    return !syscall_failed(SYSCALL3(madvise, pages, size, MADV_POPULATE_WRITE));
}

bool pages_copy(uint64_t address, void *copy, uint64_t size)
{
    struct iovec to = {copy, size}, from = {(void *)(uintptr_t)address, size};
    long pid = SYSCALL0(getpid);

    return SYSCALL6(process_vm_readv, pid, &to, 1, &from, 1, 0) == (long)size;
}

bool pages_read(uint64_t address, uint64_t *value)
{
    uintptr_t word;

    if (!pages_copy(address, &word, sizeof(word)))
        return false;
    *value = word;
    return true;
}

/* The kernel copies the set before it finds that this is no way to use it, as in pages_touch. */
bool pages_read_own(uint64_t address, uint64_t *value)
{
    if (SYSCALL4(rt_sigprocmask, -1, address, 0, sizeof(*value)) != IS_WRONG)
        return false;
    *value = *(volatile uintptr_t *)(uintptr_t)address;
    return true;
}
