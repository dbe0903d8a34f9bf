#include "service/server/command_link.h"

/* Programs find the service by UMBRA_RENDEZVOUS, or the default instance's rendezvous file. */
void command_link_make(const char *socket_path)
{
    (void)socket_path;
}

void command_link_remove(void)
{
}
