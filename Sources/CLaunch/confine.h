// The parts of a launch that run in the child. Each returns the levels that it reached.
#pragma once
#include "launch.h"

#define LAUNCH_MAXIMUM_LISTENERS 253
#define LAUNCH_MAXIMUM_VARIABLES 16

uint32_t launch_namespaces(const struct launch_plan *plan, uint32_t levels);
uint32_t launch_drop_capabilities(void);
uint32_t launch_landlock(const struct launch_plan *plan, uint32_t levels);
uint32_t launch_limit(const struct launch_plan *plan, uint32_t levels);

// The first process of the namespace: hands SIGTERM on, reaps, and ends with the helper.
__attribute__((noreturn)) void launch_init(pid_t helper, int report_pipe);
