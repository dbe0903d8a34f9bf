/* Names as Microsoft's compilers decorate them. */
#ifndef UMBRA_GRINDER_UNDECORATE_H
#define UMBRA_GRINDER_UNDECORATE_H

/*
 * The name in `?name@inner@outer@@…`, with its scopes but without parameters and types, which the
 * rest is about: outer::inner::name; to be freed. Null for what is beyond plain names,
 * constructors, destructors and operators: templates, anonymous namespaces, local scopes.
 */
char *undecorate(const char *symbol);

#endif
