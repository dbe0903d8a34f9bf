# A Go program for Windows, with and without symbols, is refused by name.
# needs: golang-go
. "$(dirname "$0")/../lib.sh"

export GOCACHE=$work/cache GO111MODULE=off GOOS=windows GOARCH=amd64
printf 'package main\n\nfunc main() { println("hello") }\n' >hello.go
go build -o native/hello.exe hello.go
go build -ldflags='-s -w' -trimpath -o native/stripped.exe hello.go
for name in hello stripped; do
    status=0
    "$BUILD/rewriter/instrument" "native/$name.exe" -o "instrumented/$name.exe" 2>line || status=$?
    equal "status for $name" "$status" 1
    equal "lines for $name" "$(wc -l <line)" 1
    contains line "^instrument: native/$name.exe: .*found a Go program"
    [[ ! -e instrumented/$name.exe ]] || fail "$name: an output was left"
done
