/* A library with language-specific data: call sites, landing pads, actions, types, specifications. */
extern void call(int);

struct guard {
    ~guard() { call(1); }
};

int cleaned(int number)
{
    guard here;

    call(number);
    return number + 1;
}

int caught(int number)
{
    guard here;

    try {
        call(number);
        call(number + 1);
    } catch (int thrown) {
        return cleaned(thrown);
    } catch (const char *) {
        call(2);
        throw;
    } catch (...) {
        return 3;
    }
    return 4;
}

void specified(int number) throw(int, long)
{
    call(number);
    if (number > 5)
        throw number;
}

void never(int number) noexcept
{
    call(number);
}
