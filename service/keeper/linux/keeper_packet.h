/* What a service and a keeper say to each other, a packet at a time over a local socket. */
#ifndef UMBRA_SERVICE_LINUX_KEEPER_PACKET_H
#define UMBRA_SERVICE_LINUX_KEEPER_PACKET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/traces/trace_file.h"

#define KEEPER_PACKET_MAGIC 0x5045454bu /* "KEEP" */

enum keeper_packet_kind {
    KEEPER_HOLD = 1,    /* with the descriptors of a session */
    KEEPER_RELEASE = 2, /* the session of that number */
    KEEPER_END = 3,     /* to a new service: that was all */
    KEEPER_TAKEN = 4,   /* from it: all of them are its own now */
};

enum keeper_descriptor {
    KEEPER_TRACE,
    KEEPER_DIRECTORY,
    KEEPER_RING,
    KEEPER_WATCH,
    KEEPER_DESCRIPTORS,
};

struct keeper_packet {
    uint32_t magic;
    uint32_t kind;   /* enum keeper_packet_kind */
    uint32_t number; /* of the session, among those of its service */
    uint32_t pid;
    uint32_t has; /* HOLD: a bit for each enum keeper_descriptor that comes along, in that order */
    uint32_t is_fixed; /* its directory (trace_dir.h) */
    char name[TRACE_FILE_NAME_SIZE];
    char directory[PATH_MAX];
};

/* Waits no longer than the socket does. files: -1 where there is none; null for none at all. */
bool keeper_packet_send(int socket, struct keeper_packet *packet,
                        const int files[KEEPER_DESCRIPTORS]);

/* Waits no longer than the socket does. False: the other end is gone, or what came is no such
   packet; its kind is 0 then. The descriptors of a HOLD are the caller's, those of other packets
   are closed. The name of a HOLD is that of a trace in its directory. */
bool keeper_packet_receive(int socket, struct keeper_packet *packet, int files[KEEPER_DESCRIPTORS]);

#endif
