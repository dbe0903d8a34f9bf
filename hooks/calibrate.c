#include "hooks/calibrate.h"

void calibrate(void)
{
}
