/* A program without a C library behind it. */
extern int switched(int), tail(int);

static int even(unsigned number);
static int odd(unsigned number)
{
    return number ? even(number - 1) : 0;
}
static int even(unsigned number)
{
    return number ? odd(number - 1) : 1;
}

int main_of_program(int number)
{
    return even((unsigned)number) + tail(number) + switched(number);
}

__attribute__((noreturn)) void _start(void)
{
    long status = main_of_program(3);

    __asm__ volatile("syscall" : : "a"(60l), "D"(status));
    __builtin_unreachable();
}
