#!/bin/bash
# A flame graph in a browser: it is drawn, a click zooms, a search finds, its address keeps both.
# needs: chromium libxml2-utils g++
. "$(dirname "$0")/lib.sh"

# in_browser FILE#ADDRESS: leaves the document as it is after its scripts have run in `dom`
in_browser()
{
    timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" \
        --dump-dom "file://$work/$1" >dom 2>browser.log || { tail browser.log; fail "chromium"; }
}

# shown NAME: widths of the frames of that name that are shown
shown()
{
    xmllint --recover --xpath "//*[local-name()='g'][*[local-name()='title'][starts-with(., '$1
')]][not(contains(@style, 'none'))]/*[local-name()='rect']/@width" dom 2>/dev/null |
        tr -d ' ' | paste -sd' '
}

# with_script NAME SCRIPT: the graph as NAME.svg, which runs the script at its end
with_script()
{
    sed 's#^</svg>#<script><![CDATA[\n#' graph.svg >"$1.svg"
    printf '%s\n]]></script>\n</svg>\n' "$2" >>"$1.svg"
}

build formats formats.cpp -O1
instrumented formats
(cd instrumented && call_trace_service start --trace-dir="$work/traces" -- ./formats 300 5)
grinder --mode=profile --merge --weight=calls --output-format=flamegraph --output-file=graph.svg \
    traces

in_browser graph.svg
equal "the whole" "$(shown all)" 'width="100%"'
[[ $(shown main) != 'width="100%"' && $(shown main) ]] || fail "main's frame: $(shown main)"
equal "frames of parse" "$(shown 'space::parse(int)' | wc -w)" 3

# The number of main's frame, to click at and to zoom to by the address.
find_main="[...document.querySelectorAll('#frames > g')].findIndex((g) =>
    g.querySelector('title').textContent.startsWith('main\\n'))"
with_script click "document.querySelectorAll('#frames > g')[$find_main].dispatchEvent(
    new MouseEvent('click'));"
in_browser click.svg
equal "main, clicked" "$(shown main)" 'width="100%"'
equal "what is left of parse" "$(shown 'space::parse(int)' | wc -w)" 1
with_script back "document.querySelectorAll('#frames > g')[$find_main].dispatchEvent(
    new MouseEvent('click'));
    window.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));"
in_browser back.svg
equal "frames of parse after Escape" "$(shown 'space::parse(int)' | wc -w)" 3
with_script number "document.getElementById('title').textContent = $find_main;"
in_browser number.svg
number=$(xmllint --recover --xpath 'string(//*[@id="title"])' dom 2>/dev/null)
in_browser "graph.svg#zoom=$number"
equal "main, by the address" "$(shown main)" 'width="100%"'

in_browser 'graph.svg#search=space::(leaf|twice)'
equal "what was found" "$(xmllint --recover --xpath 'count(//*[@class="found"])' dom 2>/dev/null)" \
    "$(grep -Ec '<title>(int )?space::(leaf|twice)' graph.svg)"
contains dom 'id="matched"[^>]*>space::\(leaf\|twice\): [0-9]+ frames, [0-9.]+%<'
with_script search "window.prompt = () => 'dive';
    document.getElementById('search').dispatchEvent(new MouseEvent('click'));"
in_browser search.svg
contains dom 'id="matched"[^>]*>dive: [0-9]+ frames, [0-9.]+%<'
in_browser 'graph.svg#search=('
contains dom 'id="matched"[^>]*>[^<]*regular expression'

# It asks nobody for anything.
! grep -Eo '(src|href|url\()[^>]*' graph.svg || fail "the graph refers to something else"
