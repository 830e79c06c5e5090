// The parts of a launch that run in the child. Those that return levels return what they reached.
#pragma once
#include "launch.h"
#include <stddef.h>

#define LAUNCH_MAXIMUM_VARIABLES 16

// For whatever is on the stack while the thread's own data, with the stack protector's canary, turns to zeros.
#define LAUNCH_UNGUARDED __attribute__((noinline, no_stack_protector))

// What the child keeps when it forgets everything else: the plan, in memory that is shared and not copied, and a stack.
struct launch_start {
    struct launch_plan plan;
    uint32_t levels;
    int report_pipe;
};
struct launch_room {
    struct launch_start *start;
    size_t start_size;
    char *stack, *stack_top;
};

// In the daemon. Returns 0 or an errno; on 0 the room is the caller's to free.
int launch_make_room(const struct launch_plan *plan, struct launch_room *room);
void launch_free_room(struct launch_room *room);

// The child is a copy of the daemon, whose memory holds secrets. Gives all of it back that is no file's, so that nobody finds them
// in the child for as long as the helper's init lives, nor while it must be open to itself. After this only system calls work: heap
// and thread-local data read as zeros. Returns -1 if nothing can be forgotten.
int launch_forget(void);

// A path without links, as a place (O_PATH). Who may write to a folder on its way can make another of it, but not lead out of what is
// his. Returns a descriptor or a negative errno.
int launch_open_plain(const char *path);

// Also tells what became of the writable folders.
uint32_t launch_namespaces(const struct launch_plan *plan, uint32_t levels, int report_pipe);
uint32_t launch_drop_capabilities(void);
uint32_t launch_landlock(const struct launch_plan *plan, uint32_t levels);
uint32_t launch_limit(const struct launch_plan *plan, uint32_t levels);
// The last one, because it refuses much of what the others do.
// Adds what it reached to the levels. Returns 0, or an errno if the machine has no room for it now: then there must be no helper.
int launch_filter(const struct launch_plan *plan, uint32_t *levels);

void launch_report(int report_pipe, uint32_t kind, uint32_t first, uint32_t second);

// Gives up every system call but those that an init needs.
void launch_be_still(void);

// Has each connect(2) of the process and of all that it starts wait until it is let go. Returns the descriptor on which that is asked
// for, or -1.
//
// An ended connection keeps its port for a minute (TIME-WAIT), whoever began it: a helper that takes all of them, which is a matter of
// seconds, keeps everybody else from the same server for so long.
int launch_meter(const struct launch_plan *plan, uint32_t *levels);
// Lets one of those that wait go on.
void launch_let_go(int meter);

// The first process of the namespace: hands SIGTERM on, reaps, lets connections begin at a limited pace, and ends with the helper.
__attribute__((noreturn)) void launch_init(pid_t helper, int report_pipe, int meter);
