/* Functions of ntdll that mingw's headers leave out: documented for drivers, under their Zw names.
   They are the system calls themselves: no heap, no lock, no last error. */
#ifndef UMBRA_SUPPORT_WINDOWS_NTDLL_H
#define UMBRA_SUPPORT_WINDOWS_NTDLL_H

#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>
#include <windows.h>
#include <winternl.h>

#define THIS_PROCESS ((HANDLE)-1)
#define THIS_THREAD  ((HANDLE)-2)
#define VIEW_UNMAP   2 /* SECTION_INHERIT: not for child processes */

NTSTATUS NTAPI NtAllocateVirtualMemory(HANDLE process, void **base, ULONG_PTR zero_bits,
                                       SIZE_T *size, ULONG kind, ULONG protection);
NTSTATUS NTAPI NtFreeVirtualMemory(HANDLE process, void **base, SIZE_T *size, ULONG kind);
NTSTATUS NTAPI NtProtectVirtualMemory(HANDLE process, void **base, SIZE_T *size, ULONG protection,
                                      ULONG *before);
NTSTATUS NTAPI NtReadVirtualMemory(HANDLE process, const void *base, void *to, SIZE_T size,
                                   SIZE_T *got);
NTSTATUS NTAPI NtMapViewOfSection(HANDLE section, HANDLE process, void **base, ULONG_PTR zero_bits,
                                  SIZE_T commit, LARGE_INTEGER *offset, SIZE_T *size, DWORD inherit,
                                  ULONG kind, ULONG protection);
NTSTATUS NTAPI NtUnmapViewOfSection(HANDLE process, void *base);
NTSTATUS NTAPI NtWriteFile(HANDLE file, HANDLE event, void *routine, void *context,
                           IO_STATUS_BLOCK *status, const void *from, ULONG size,
                           LARGE_INTEGER *offset, ULONG *key);
NTSTATUS NTAPI NtYieldExecution(void);
NTSTATUS NTAPI NtOpenProcessToken(HANDLE process, ACCESS_MASK access, HANDLE *token);
NTSTATUS NTAPI NtQueryInformationToken(HANDLE token, TOKEN_INFORMATION_CLASS what, void *to,
                                       ULONG size, ULONG *needed);
NTSTATUS NTAPI NtQuerySecurityObject(HANDLE object, SECURITY_INFORMATION what, void *descriptor,
                                     ULONG size, ULONG *needed);
BOOLEAN NTAPI RtlEqualSid(void *one, void *other);
NTSTATUS NTAPI RtlGetOwnerSecurityDescriptor(void *descriptor, void **owner, BOOLEAN *defaulted);
NTSTATUS NTAPI RtlGetDaclSecurityDescriptor(void *descriptor, BOOLEAN *present, ACL **list,
                                            BOOLEAN *defaulted);
NTSTATUS NTAPI RtlGetAce(ACL *list, ULONG index, void **entry);
NTSTATUS NTAPI LdrLockLoaderLock(ULONG flags, ULONG *disposition, ULONG_PTR *cookie);
NTSTATUS NTAPI LdrUnlockLoaderLock(ULONG flags, ULONG_PTR cookie);

#endif
