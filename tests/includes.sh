#!/bin/bash
# Sources include what lies below them, as docs/architecture.md draws it, and never in a circle.
# needs: python3
. "$(dirname "$0")/lib.sh"

judge()
{
    python3 "$TESTS/includes.py" "$1" >said
}

# A small tree that is in order, made anew: parts low, tool and other, rooms in tool, rooms in one of these.
make_tree()
{
    rm -rf tree
    mkdir -p tree/{docs,low,middle,other,tool/{base/linux,top/{above,below,linux},linux,windows}}
    cat >tree/docs/architecture.md <<'EOF'
```rooms
the tree
+-------+-----------------+
| other | tool            |
+-------+-----------------+
| middle over low         |
+-------------------------+
```
```rooms
tool
| top  | what is on top
| base |
```
```rooms
tool/top
| top over above over below |
```
```exceptions
```
EOF
    echo '#include "low/low.h"' >tree/middle/middle.c
    echo '#include "low/low.h"' >tree/other/other.c
    echo '#include <stdio.h>' >tree/low/low.h
    echo '#include "low/low.h"' >tree/tool/base/file.h
    printf '#include "tool/%s"\n' base/file.h linux/helper.h >tree/tool/linux/file.c
    echo '#include "tool/base/file.h"' >tree/tool/windows/file.c
    echo '#include "low/low.h"' >tree/tool/linux/helper.h
    echo '#include "tool/base/file.h"' >tree/tool/base/linux/packet.h
    echo '#include "tool/base/linux/packet.h"' >tree/tool/top/linux/feed.h
    echo '#include "tool/base/file.h"' >tree/tool/top/main.h
    printf '#include "tool/%s"\n' top/main.h base/file.h top/above/room.h >tree/tool/top/main.c
    printf '#include "tool/%s"\n' base/file.h top/below/room.h >tree/tool/top/above/room.h
    echo '#include "tool/base/file.h"' >tree/tool/top/below/room.h
    printf '#include "tool/%s"\n' top/{below/room.h,above/room.h} >tree/tool/top/below/room_test.c
    printf '#include "tool/%s"\n' base/file.h top/main.h >tree/tool/base/file_test.c
}

# refuses WHAT MESSAGE: the tree is not in order, and the message, a pattern, is all that is said
refuses()
{
    ! judge tree || fail "$1: nothing was found"
    contains said "$2"
    equal "$1: lines" "$(wc -l <said)" "${3:-2}"
    make_tree
}

# except FILE FILE [REASON]
except()
{
    sed -i "s|^\`\`\`exceptions|&\n$1 -> $2\n${3-    Since it is so.}|" tree/docs/architecture.md
}

make_tree
judge tree || fail "a tree in order: $(<said)"

echo '#include "middle/middle.h"' >>tree/low/low.h
touch tree/middle/middle.h
refuses "a part above" '^low/low.h:2 includes middle/middle.h: against the order' 3

echo '#include "tool/top/main.h"' >>tree/other/other.c
refuses "a tool in a tool" '^other/other.c:2 includes tool/top/main.h: against the order'

echo '#include "tool/top/other.h"' >>tree/tool/base/file.h
touch tree/tool/top/other.h
refuses "a room above" '^tool/base/file.h:2 includes tool/top/other.h: against the order'

echo '#include "tool/top/above/other.h"' >>tree/tool/top/below/room.h
touch tree/tool/top/above/other.h
refuses "a room above within a room" \
    '^tool/top/below/room.h:2 includes tool/top/above/other.h: against the order'

echo '#include "tool/top/other.h"' >>tree/tool/top/below/room.h
touch tree/tool/top/other.h
refuses "the room that a room is in" \
    '^tool/top/below/room.h:2 includes tool/top/other.h: against the order'

echo '#include "tool/top/below/other.h"' >>tree/tool/base/file.h
touch tree/tool/top/below/other.h
refuses "a room within a room above" \
    '^tool/base/file.h:2 includes tool/top/below/other.h: against the order'

echo '#include "tool/top/other.h"' >>tree/tool/windows/file.c
touch tree/tool/top/other.h
refuses "a room above, from a platform's source" \
    '^tool/windows/file.c:2 includes tool/top/other.h: against the order'

printf '#include "tool/%s"\n' base/process.h top/other.h >tree/tool/linux/process_end.c
touch tree/tool/base/process.h tree/tool/top/other.h
refuses "a room above, from another source of a header" \
    '^tool/linux/process_end.c:2 includes tool/top/other.h: against the order'

echo '#include "tool/top/other.h"' >>tree/tool/linux/helper.h
touch tree/tool/top/other.h
refuses "a room above, by way of a helper" \
    'file.c:2 includes tool/linux/helper.h, and tool/linux/helper.h:2 includes tool/top/other.h: against'

echo '#include "tool/top/main.h"' >>tree/tool/base/linux/packet.h
refuses "a room above, from a helper of a room" \
    '^tool/base/linux/packet.h:2 includes tool/top/main.h: against the order'

echo '#include "tool/top/linux/feed.h"' >>tree/tool/base/file.h
sed -i d tree/tool/top/linux/feed.h
refuses "a helper of a room above" \
    '^tool/base/file.h:2 includes tool/top/linux/feed.h: against the order'

echo '#include "low/a.h"' >tree/low/b.h
echo '#include "low/b.h"' >tree/low/a.h
refuses "headers in a circle" \
    '^a circle: low/a.h:1 includes low/b.h, and low/b.h:1 includes low/a.h$'

touch tree/low/{a,b,c}.h
echo '#include "low/b.h"' >tree/low/a.c
echo '#include "low/c.h"' >tree/low/b.h
echo '#include "low/a.h"' >tree/low/c.c
refuses "three files in a circle" \
    '^a circle: low/a.c:1 includes low/b.h, and low/b.h:1 includes low/c.h, and low/c.c:1 includes low/a.h$'

echo '#include "low/lower.h"' >>tree/low/low.h
refuses "a file that is not there" '^low/low.h:2: includes "low/lower.h", and there is no such file'

mkdir tree/tool/attic
touch tree/tool/attic/old.c
refuses "a room that is not drawn" '^tool/attic/old: tool/attic/ is not in the picture "tool"'

mkdir tree/tool/top/attic
touch tree/tool/top/attic/old.c
refuses "a room in a room that is not drawn" \
    '^tool/top/attic/old: tool/top/attic/ is not in the picture "tool/top"'

mkdir tree/attic
touch tree/attic/old.c
refuses "a part that is not drawn" '^attic/old: attic/ is not in the picture "the tree"'

rm tree/middle/middle.c
refuses "a room that is no more" '^middle, in the picture "the tree", has no source'

rm tree/tool/top/below/* && echo '#include "tool/base/file.h"' >tree/tool/top/above/room.h
refuses "a room in a room that is no more" '^below, in the picture "tool/top", has no source'

echo '#include "tool/top/other.h"' >>tree/tool/base/file.h
touch tree/tool/top/other.h
except tool/base/file.h tool/top/other.h
judge tree || fail "an exception from the order: $(<said)"
make_tree

echo '#include "low/a.h"' >tree/low/b.h
echo '#include "low/b.h"' >tree/low/a.h
except low/a.h low/b.h
judge tree || fail "an exception from circles: $(<said)"
echo >tree/low/b.h
refuses "an exception that is not needed" \
    '^the exception low/a.h -> low/b.h is not needed any more: take it out$'

except low/a.h low/b.h
refuses "an exception for files that are not there" \
    '^the exception low/a.h -> low/b.h: there is no low/a.h: take it out$'

echo '#include "tool/top/other.h"' >>tree/tool/base/file.h
touch tree/tool/top/other.h
except tool/base/file.h tool/top/other.h ""
refuses "an exception without a reason" \
    '^the exception tool/base/file.h -> tool/top/other.h has no reason below it$'

judge "$TESTS/.." || { cat said >&2; fail "docs/architecture.md says which rooms there are"; }
