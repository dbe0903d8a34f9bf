/* What frames.ml calls in C: by way of the runtime, directly, and C that calls OCaml. */
#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

__attribute__((noipa)) double work(double x)
{
    __asm__ volatile("" : "+x"(x));
    return x * 2;
}

value prim_sum(value numbers)
{
    CAMLparam1(numbers);
    CAMLlocal1(result);
    double sum = 0;

    for (mlsize_t i = 0; i < Wosize_val(numbers); i++) {
        sum += work(Double_field(numbers, i));
        result = caml_copy_double(sum);
    }
    CAMLreturn(result);
}

long prim_add(long a, long b)
{
    return a + (long)work((double)b);
}

value prim_add_byte(value a, value b)
{
    return Val_long(prim_add(Long_val(a), Long_val(b)));
}

value prim_calls_back(value function, value n)
{
    CAMLparam2(function, n);
    CAMLlocal1(result);

    result = caml_callback(function, n);
    result = Val_long(Long_val(result) + (long)work(Long_val(caml_callback(function, n))));
    CAMLreturn(result);
}
