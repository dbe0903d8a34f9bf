#include "grinder/profile/sample_range.h"

#include <math.h>

#define Z 1.96 /* deviations: 95% of a normal distribution */

struct sample_range sample_range(uint64_t ns, uint64_t samples, uint64_t all_ns, uint64_t all)
{
    double k = (double)samples;
    double n = samples && ns ? k * (double)all_ns / (double)ns : (double)all;
    double middle = (k + Z * Z / 2) / (n + Z * Z);
    double half = Z / (n + Z * Z) * sqrt((n > k ? k * (n - k) / n : 0) + Z * Z / 4);
    double low = middle - half, high = middle + half;

    return (struct sample_range){
        .low_ns = low > 0 ? (uint64_t)(low * (double)all_ns + 0.5) : 0,
        .high_ns = high < 1 ? (uint64_t)(high * (double)all_ns + 0.5) : all_ns,
    };
}
