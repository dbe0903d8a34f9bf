/*
 * A process that reads what may be hostile by way of a library: should it be taken over, it can do
 * nothing but spoil its own result.
 */
#ifndef UMBRA_SUPPORT_CONFINEMENT_H
#define UMBRA_SUPPORT_CONFINEMENT_H

/*
 * From now on this process, of one thread, can read what it has open, write to output, have memory,
 * and end; all other system calls fail with EPERM (seccomp). Not to be undone, and inherited. Where
 * the kernel has no such filters, nothing changes.
 */
void confine(int output);

/*
 * Confines without an output, for a library that opens files by itself: also, files can be opened
 * to be read. What is read so does not get out of the process.
 */
void confine_reader(void);

/*
 * For a tool that rewrites a file of somebody else's. From now on this process and its children
 * open nothing but `readable`, files and folders, up to a null, and what is in the folder `output`,
 * where they make and remove files; null: none (Landlock, Linux 5.13 and later). They execute nothing, have no
 * network, and change or watch no other process and no mount (seccomp). Nobody gets rights to a
 * file by them: fchmod to a mode by which its group or others may write, or set-uid, does nothing.
 * Memory, code in it included, and child processes remain. What the kernel has not is left out.
 */
void confine_tool(const char *const *readable, const char *output);

#endif
