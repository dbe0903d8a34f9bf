#include "service/base/file.h"

#include <windows.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winioctl.h>

#include "service/base/windows/error.h"
#include "service/base/windows/private.h"
#include "service/base/windows/text.h"
#include "support/windows/private_file.h"

#define WIDE_PATH 4096

static HANDLE handle_of(int file)
{
    return (HANDLE)(intptr_t)file;
}

static int descriptor_of(HANDLE handle)
{
    if (handle == INVALID_HANDLE_VALUE)
        error_to_errno();
    return handle == INVALID_HANDLE_VALUE ? -1 : (int)(intptr_t)handle;
}

bool file_make_directory(const char *path)
{
    wchar_t wide[WIDE_PATH];

    if (!private_attributes() || !text_to_wide(wide, WIDE_PATH, path))
        return false;
    return CreateDirectoryW(wide, private_attributes()) || GetLastError() == ERROR_ALREADY_EXISTS ||
           error_to_errno();
}

/* \\?\C:\x is C:\x to people and programs; other forms, \\?\UNC\…, are left as they are. */
static char *plain_path(HANDLE directory)
{
    wchar_t wide[WIDE_PATH];
    DWORD length = GetFinalPathNameByHandleW(directory, wide, WIDE_PATH, 0);
    bool is_drive = length > 5 && !wcsncmp(wide, L"\\\\?\\", 4) && wide[5] == L':';

    if (!length || length >= WIDE_PATH) {
        error_to_errno();
        return NULL;
    }
    return text_from_new_wide(is_drive ? wide + 4 : wide);
}

int file_open_directory(const char *path, char **absolute)
{
    wchar_t wide[WIDE_PATH];
    HANDLE directory;

    *absolute = NULL;
    if (!text_to_wide(wide, WIDE_PATH, path))
        return -1;
    if (GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES &&
        !(GetFileAttributesW(wide) & FILE_ATTRIBUTE_DIRECTORY)) {
        errno = ENOTDIR;
        return -1;
    }
    directory = CreateFileW(wide, FILE_LIST_DIRECTORY | FILE_ADD_FILE | FILE_TRAVERSE,
                            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                            OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (directory != INVALID_HANDLE_VALUE)
        *absolute = plain_path(directory);
    if (*absolute || directory == INVALID_HANDLE_VALUE)
        return descriptor_of(directory);
    CloseHandle(directory);
    return -1;
}

/* The directory is named by what it is, not by what it was called: it may have been renamed. */
static bool path_in(wchar_t path[WIDE_PATH], int directory, const char *name)
{
    DWORD length = GetFinalPathNameByHandleW(handle_of(directory), path, WIDE_PATH, 0);

    if (!length)
        return error_to_errno();
    if (length + 2 > WIDE_PATH) {
        errno = ENAMETOOLONG;
        return false;
    }
    path[length] = L'\\';
    return text_to_wide(path + length + 1, WIDE_PATH - length - 1, name);
}

static int create(const wchar_t *path)
{
    if (!private_attributes())
        return -1;
    return descriptor_of(CreateFileW(path, GENERIC_READ | GENERIC_WRITE,
                                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                     private_attributes(), CREATE_NEW,
                                     FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL));
}

/* A directory that is open cannot be removed there. */
bool file_is_directory(int directory, const char *path)
{
    (void)directory;
    (void)path;
    return true;
}

int file_create(int directory, const char *name)
{
    wchar_t path[WIDE_PATH];

    return path_in(path, directory, name) ? create(path) : -1;
}

static bool set_end(HANDLE file, uint64_t size)
{
    FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = (LONGLONG)size};

    return SetFileInformationByHandle(file, FileEndOfFileInfo, &end, sizeof(end)) ||
           error_to_errno();
}

int file_open_identified(const char *path, uint64_t identity)
{
    (void)path, (void)identity;
    errno = ENOSYS;
    return -1;
}

bool file_extend(int file, uint64_t size)
{
    DWORD unused;

    /* A file system without sparse files makes a longer one, or has no room for it. */
    DeviceIoControl(handle_of(file), FSCTL_SET_SPARSE, NULL, 0, NULL, 0, &unused, NULL);
    return set_end(handle_of(file), size);
}

/* The system itself refuses to cut a file that is mapped. */
bool file_cut(int file, uint64_t size, bool if_unused)
{
    (void)if_unused;
    return set_end(handle_of(file), size);
}

static OVERLAPPED place(uint64_t offset)
{
    return (OVERLAPPED){.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
}

bool file_read_at(int file, void *bytes, size_t size, uint64_t offset)
{
    OVERLAPPED at = place(offset);
    DWORD got;

    if (!ReadFile(handle_of(file), bytes, (DWORD)size, &got, &at))
        return error_to_errno();
    if (got < size)
        errno = ENODATA;
    return got == size;
}

bool file_write_at(int file, const void *bytes, size_t size, uint64_t offset)
{
    OVERLAPPED at = place(offset);
    DWORD put;

    if (!WriteFile(handle_of(file), bytes, (DWORD)size, &put, &at))
        return error_to_errno();
    if (put < size)
        errno = ENOSPC;
    return put == size;
}

uint64_t file_identity(int file)
{
    BY_HANDLE_FILE_INFORMATION info;

    if (!GetFileInformationByHandle(handle_of(file), &info))
        return 0;
    return (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
}

/* NTFS writes what is in a directory with the files it is about. */
bool file_sync(int directory, const char *name)
{
    wchar_t path[WIDE_PATH];
    HANDLE file;
    bool ok;

    if (!name)
        return true;
    if (!path_in(path, directory, name))
        return false;
    file = CreateFileW(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                       NULL, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND || error_to_errno();
    ok = FlushFileBuffers(file) || error_to_errno();
    CloseHandle(file);
    return ok;
}

/* A volume is for administrators to flush: what is older is left to the system. */
bool file_sync_all(int directory)
{
    (void)directory;
    return true;
}

void *file_map(int file, size_t size)
{
    HANDLE section =
        CreateFileMappingW(handle_of(file), NULL, PAGE_READWRITE, 0, (DWORD)size, NULL);
    void *view = section ? MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, size) : NULL;

    if (!view)
        error_to_errno();
    if (section)
        CloseHandle(section);
    return view;
}

void file_unmap(void *mapping, size_t size)
{
    (void)size;
    UnmapViewOfFile(mapping);
}

void file_close(int file)
{
    if (file >= 0)
        CloseHandle(handle_of(file));
}

void file_remove(int directory, const char *name)
{
    wchar_t path[WIDE_PATH];

    if (path_in(path, directory, name))
        DeleteFileW(path);
}

static bool replace(const wchar_t *wide, const void *bytes, size_t size)
{
    wchar_t beside[WIDE_PATH];
    int file;
    bool ok;

    if (swprintf(beside, WIDE_PATH, L"%ls.%lu", wide, GetCurrentProcessId()) < 0) {
        errno = ENAMETOOLONG;
        return false;
    }
    DeleteFileW(beside); /* of a dead process that had our pid */
    file = create(beside);
    if (file < 0)
        return false;
    ok = file_write_at(file, bytes, size, 0);
    file_close(file);
    if (ok && MoveFileExW(beside, wide, MOVEFILE_REPLACE_EXISTING))
        return true;
    error_to_errno();
    DeleteFileW(beside);
    return false;
}

bool file_replace(const char *path, const void *bytes, size_t size)
{
    wchar_t wide[WIDE_PATH];

    return text_to_wide(wide, WIDE_PATH, path) && replace(wide, bytes, size);
}

bool file_replace_in(int directory, const char *name, const void *bytes, size_t size)
{
    wchar_t wide[WIDE_PATH];

    return path_in(wide, directory, name) && replace(wide, bytes, size);
}

ssize_t file_read_own(const char *path, void *bytes, size_t size)
{
    BY_HANDLE_FILE_INFORMATION info;
    wchar_t wide[WIDE_PATH];
    HANDLE file;
    DWORD got = 0;
    bool ok;

    if (!text_to_wide(wide, WIDE_PATH, path))
        return -1;
    file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                       NULL, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return descriptor_of(file);
    ok = GetFileInformationByHandle(file, &info) &&
         !(info.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) &&
         ReadFile(file, bytes, (DWORD)size, &got, NULL);
    if (!ok)
        error_to_errno();
    if (ok && !private_file(file)) {
        errno = EPERM;
        ok = false;
    }
    CloseHandle(file);
    return ok ? (ssize_t)got : -1;
}

void file_remove_path(const char *path)
{
    wchar_t wide[WIDE_PATH];

    if (text_to_wide(wide, WIDE_PATH, path))
        DeleteFileW(wide);
}
