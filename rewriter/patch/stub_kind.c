#include "rewriter/patch/stub_kind.h"

const struct stub_kind *stub_kind_of(const struct processor *processor)
{
    return processor == &processor_i386 ? &stub_kind_i386 : &stub_kind_x86_64;
}
