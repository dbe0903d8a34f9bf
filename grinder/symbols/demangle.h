/* Names of symbols as a person would write them. */
#ifndef UMBRA_GRINDER_DEMANGLE_H
#define UMBRA_GRINDER_DEMANGLE_H

/* The readable form of a symbol's name, to be freed: C++ and Rust (legacy, without its hash, and
   v0) demangled, plain names of Microsoft's compilers, too (undecorate.h), a symbol version cut
   off, control characters replaced. */
char *demangle(const char *symbol);

/* The demangled name without arguments, result and what else is not the name: space::twice<int>. */
char *demangle_bare(const char *symbol);

#endif
