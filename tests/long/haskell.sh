#!/bin/bash
# Haskell: GHC itself, what it builds (with names and stripped, linked either way), and pandoc print
# natively what they print while they are recorded, and every trace balances. --how=copy and prologues.
# needs: ghc pandoc
. "$(dirname "$0")/../lib.sh"

cat >hello.hs <<'END'
import qualified Data.List as L
import qualified Control.Exception as E
main :: IO ()
main = do
  n <- return 20000
  let xs = [ (x * 7919) `mod` 10007 | x <- [1 .. n] ] :: [Int]
  print (sum (L.sort xs))
  r <- E.try (E.evaluate (xs !! 30000)) :: IO (Either E.SomeException Int)
  putStrLn (either (const "caught") show r)
END
ghc -O hello.hs -o static -outputdir static.o >/dev/null
ghc -O -dynamic hello.hs -o dynamic -outputdir dynamic.o >/dev/null
strip static -o stripped
printf '# Title\n\nSome *text*, `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n' >page.md

# recorded_as WHAT COMMAND…: with umbra
recorded_as()
{
    local what=$1
    shift
    rm -rf umbra.data
    "$@" >native.out
    XDG_CACHE_HOME=$work/cache umbra record --quiet -- "$@" >recorded.out || fail "$what: status $?"
    cmp native.out recorded.out || fail "$what prints something else"
    grinder --mode=summary umbra.data/traces/*.bin >summary 2>problems || fail "$what: not balanced"
    (($(summed unwound) * 1000 <= $(summed entries))) || fail "$what: $(summed unwound) unwound"
}

for name in static stripped dynamic; do
    recorded_as "$name" "./$name"
done
recorded_as pandoc pandoc page.md
recorded_as "pandoc, LaTeX" pandoc page.md -t latex
for what in 1 2; do
    rm -rf again.o
    recorded_as ghc ghc -v0 -O -dynamic hello.hs -o again -outputdir again.o
    [[ $what == 1 ]] || equal "what it builds" "$(./again)" "$(./dynamic)"
done

for how in prologue copy; do
    for name in static stripped; do
        cp "$name" native
        instrumented "$name" --how=$how
        recorded "$name"
    done
    mkdir -p "$how"
    for library in $(ldd dynamic | awk '$3 ~ /libHS/ { print $3 }'); do
        instrument "$library" -o "$how/${library##*/}" --how=$how >/dev/null
    done
    cp dynamic native
    instrumented dynamic --how=$how
    LD_LIBRARY_PATH=$work/$how recorded dynamic
done
