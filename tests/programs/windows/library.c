/* A library: exports of functions and data; a frameless leaf. */
static int calls;

__declspec(dllexport) int exported_data = 40;

__declspec(dllexport) int leaf(int number)
{
    return number * 3 + exported_data;
}

__declspec(dllexport) int counted(int number)
{
    calls++;
    return leaf(number) + calls;
}
