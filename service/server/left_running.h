/*
 * What the command left running when it ended. The service of `start -- COMMAND` stays for that:
 *
 *      command ends --> programs in our session that are recorded,      stays until they end, or
 *                       or instrumented and yet to say hello            somebody stops it
 *                   --> daemons (a session of their own, setsid(2))     ends after a second at most;
 *                                                                       call_trace_service.c begins
 *                                                                       a service in the background
 *                   --> nothing                                         ends
 *
 * So a background job of a script is recorded to its end, before the next line of the script that
 * called us; and a daemon that never ends keeps nobody waiting.
 *
 * A service in the background ends when the last of its sessions has.
 */
#ifndef UMBRA_SERVICE_LEFT_RUNNING_H
#define UMBRA_SERVICE_LEFT_RUNNING_H

struct service;

/* The command has ended, or a service in the background begins. */
void left_running_begin(struct service *service);

/* To be called when a session may have ended. */
void left_running_look(struct service *service);

#endif
