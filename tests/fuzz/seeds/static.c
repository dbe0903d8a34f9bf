/* A static program without a C library, with thread-local storage that holds a pointer. */
static int even(unsigned number);
static int odd(unsigned number)
{
    return number ? even(number - 1) : 0;
}
static int even(unsigned number)
{
    return number ? odd(number - 1) : 1;
}

int (*volatile chosen)(unsigned) = odd;
static __thread int (*volatile mine)(unsigned) = even;
static __thread int zero[4];

int main_of_program(int number)
{
    return number > 100 ? mine((unsigned)number) + zero[number & 3] : chosen((unsigned)number);
}

__attribute__((noreturn)) void _start(void)
{
    long status = main_of_program(3);

    __asm__ volatile("syscall" : : "a"(60l), "D"(status));
    __builtin_unreachable();
}
