/* A client over TCP: a Windows program, or on Windows also a tool. Its secret says that it may. */
#ifndef UMBRA_SERVICE_TCP_CLIENT_H
#define UMBRA_SERVICE_TCP_CLIENT_H

struct service;

/* Takes over a connection that was accepted. */
void tcp_client_begin(struct service *service, int connection);

#endif
