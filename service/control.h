/* The tool that speaks to a running service. */
#ifndef UMBRA_SERVICE_CONTROL_H
#define UMBRA_SERVICE_CONTROL_H

/* Both print the service's answer on standard output and return an exit status: 0, or 1 if the
 * instance is not served. */
int control_status(const char *instance);

/* Returns when the service has ended. */
int control_stop(const char *instance);

#endif
