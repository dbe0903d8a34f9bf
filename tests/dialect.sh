#!/bin/bash
# Sources are written in one dialect of C: that of CONTRIBUTING.md, "Code".
# needs: python3
. "$(dirname "$0")/lib.sh"

judge()
{
    python3 "$TESTS/dialect.py" "$1" >said
}

# A small tree that is in order, made anew.
make_tree()
{
    rm -rf tree
    mkdir -p tree/low
    cp "$TESTS/../.clang-format" tree
    cat >tree/low/low.h <<'END'
#include <stddef.h>

#include "low/base.h"

struct low {
    struct low *next;
    size_t count;
};
struct low *low_find(const char *name, size_t from);
END
    cat >tree/low/low.c <<'END'
#include "low/low.h"

#include <stdint.h>
#include <string.h>

#include "low/base.h"
#include "low/other.h"

static struct low *lows; /* sizeof lows, and return 0; */

struct low *low_find(const char *name, size_t from)
{
    struct low zero = {0}, *found = NULL;
    size_t count = sizeof(zero) / sizeof(*found);

    lows = from == 0 ? NULL : &lows[from];
    if (name != NULL && count == 0)
        return low_find("sizeof name", 0);
    lows->next = NULL;
    lows->count = 0;
    return found ? found : NULL;
}
END
    cat >tree/low/low_test.c <<'END'
#include <stddef.h>

#include "low/low.h"

#include <cmocka.h>
END
}

# refuses WHAT COMMAND MESSAGE: what sed makes of low.c is not in order, and that is all that is
# said, but for how it is formatted
refuses()
{
    sed -i "$2" tree/low/low.c
    ! judge tree || fail "$1: nothing was found"
    contains said "^low/low.c:$3"
    equal "$1: what else is said" "$(grep -v -e "^low/low.c:$3" -e clang-format-14 said)" ""
    make_tree
}

make_tree
judge tree || fail "a tree in order: $(<said)"

refuses "sizeof without parentheses" 's/sizeof(zero)/sizeof zero/' '14: sizeof'
refuses "sizeof and a blank" 's/sizeof(zero)/sizeof (zero)/' '14: sizeof'

refuses "a system header behind the project's" \
    '/string.h/d; s/.*other.h.*/&\n\n#include <string.h>/' '8: string.h is included behind'
refuses "a header of its name that is not in front" \
    '1,2d; s/.*other.h"$/&\n#include "low\/low.h"/' '6: low/low.h is included behind low/other.h'
refuses "headers that are not sorted" '3{h;d}; 4G' '4: stdint.h is included behind string.h'
refuses "a header twice" '4p' '5: string.h is included behind string.h'
refuses "blocks without a blank line" '5d' '5: no blank line'
refuses "a block with a blank line" '3s/$/\n/' '5: a blank line'
sed -i '4,5d; 1s/$/\n#include <cmocka.h>/' tree/low/low_test.c
! judge tree || fail "cmocka.h in front: nothing was found"
contains said '^low/low_test.c:4: low/low.h is included behind cmocka.h'
make_tree

refuses "a null pointer returned" 's/: NULL;$/: 0;/' '21: 0 for a pointer'
refuses "a null pointer in a declaration" 's/found = NULL/found = 0/' '13: 0 for a pointer'
refuses "a null pointer assigned" 's/? NULL : &lows/? 0 : \&lows/' '16: 0 for a pointer'
refuses "a null pointer in a member" 's/next = NULL/next = 0/' '19: 0 for a pointer'
refuses "a null pointer compared" 's/!= NULL/!= 0/' '17: 0 for a pointer'
refuses "a null pointer passed" 's/("sizeof name", 0)/(0, 0)/' '18: 0 for a pointer, given to'

refuses "a reason by itself" 's/size_t from)$/const char **why)/' '11: a reason that'
refuses "a reason in a text of the caller's" 's/size_t from)$/char why[20])/' '11: a reason that'

# A user is spoken to in some folders alone.
mkdir tree/trace
sed 's/^    lows->next = NULL;/&\n    message("%s", name);/; s/low\/low.h/low\/alone.h/' tree/low/low.c >tree/trace/trace.c
! judge tree || fail "a message of a reader: nothing was found"
equal "a message of a reader" "$(grep -v clang-format-14 said)" \
    "trace/trace.c:20: message() below its callers: fill in a struct failure"
mv tree/trace tree/tool
judge tree || fail "a message of a tool: $(<said)"
make_tree

refuses "a const local" 's/^    size_t count/    const size_t count/' '14: const on'

if command -v clang-format-14 >/dev/null; then
    refuses "a source that is not formatted" 's/    lows->count/  lows->count/' \
        '19: clang-format-14'
else
    echo "skipped: how sources are formatted: clang-format-14 is not installed"
fi

judge "$TESTS/.." || { cat said >&2; fail "CONTRIBUTING.md, \"Code\", says how it is written"; }
