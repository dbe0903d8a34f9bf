/* Where code is in its module, as other tools that read the module have it. */
#ifndef UMBRA_GRINDER_LOCATION_H
#define UMBRA_GRINDER_LOCATION_H

#include "grinder/profile/images.h"

/* What is not known is 0. */
struct location {
    const struct image *module; /* null: in none */
    uint64_t address;           /* as linked: as `instrument --list`, nm and objdump have it */
    uint64_t offset;            /* in the file; known of code of an ELF file */
    uint64_t size;              /* bytes of the function, as far as known */
};

struct location location_of_function(const struct images *images, uint32_t function);

/* Where a call returns to. site: as tree_call_site gives it. */
struct location location_of_return(const struct images *images, uint64_t site);

/* "93ac61…", of its bytes in their order; empty if there is none. */
#define BUILD_ID_TEXT 65
void location_build_id(char text[BUILD_ID_TEXT], const struct image *module);

#endif
