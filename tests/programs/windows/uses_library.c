/* Calls a library through import slots, through thunks, and by name at run time. */
#include <stdio.h>
#include <windows.h>

__declspec(dllimport) int leaf(int number);
int counted(int number);
extern __declspec(dllimport) int exported_data;

int main(void)
{
    int (*found)(int) =
        (int (*)(int))(void *)GetProcAddress(GetModuleHandleA("library.dll"), "leaf");
    int same = found == leaf, first, second;

    exported_data++;
    SetLastError(77);
    first = counted(2);
    second = counted(2);
    printf("%d %d %d %d %d %d\n", leaf(1), first, second, found(3), same, (int)GetLastError());
    fflush(stdout);
    return 4;
}
