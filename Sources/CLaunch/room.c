#define _GNU_SOURCE
#include "confine.h"
#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_SIZE (128UL << 10)
#define GUARD_SIZE (64UL << 10) // at least a page, on every architecture

static size_t count_of(const char *const *list) {
    size_t count = 0;
    while (list && list[count]) count++;
    return count;
}

static size_t room_for_text(const char *text) { return text ? strlen(text) + 1 : 0; }

static size_t room_for_list(const char *const *list) {
    size_t size = (count_of(list) + 1) * sizeof *list + alignof(max_align_t);
    for (size_t i = 0; list && list[i]; i++) size += room_for_text(list[i]);
    return size;
}

static void *take(char **cursor, size_t size, size_t alignment) {
    char *start = (char *)(((uintptr_t)*cursor + alignment - 1) & ~(uintptr_t)(alignment - 1));
    *cursor = start + size;
    return start;
}

static const char *copy_text(char **cursor, const char *text) {
    size_t size = room_for_text(text);
    return size ? memcpy(take(cursor, size, 1), text, size) : NULL;
}

static const char *const *copy_list(char **cursor, const char *const *list) {
    size_t count = count_of(list);
    const char **copy = take(cursor, (count + 1) * sizeof *copy, alignof(char *));
    for (size_t i = 0; i < count; i++) copy[i] = copy_text(cursor, list[i]);
    copy[count] = NULL;
    return copy;
}

int launch_make_room(const struct launch_plan *plan, struct launch_room *room) {
    const char *const *const lists[] = {plan->arguments, plan->environment, plan->hidden,   plan->awaited,
                                        plan->reachable, plan->writable,    plan->readable, plan->readable_uncovered};
    size_t listeners = plan->listener_count * sizeof *plan->listeners;
    size_t size = sizeof *room->start + listeners + room_for_text(plan->program) + room_for_text(plan->scratch) + 64;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) size += room_for_list(lists[i]);
    room->start_size = size;
    room->start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room->start == MAP_FAILED) return errno;
    // The guards also keep it from being merged with a neighbour.
    room->stack = mmap(NULL, STACK_SIZE + 2 * GUARD_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room->stack == MAP_FAILED || mprotect(room->stack + GUARD_SIZE, STACK_SIZE, PROT_READ | PROT_WRITE) < 0) {
        int code = errno;
        launch_free_room(room);
        return code;
    }
    room->stack_top = room->stack + GUARD_SIZE + STACK_SIZE;

    // Empty as it comes. But the compiler may call these functions in the child, where it finds a loop that does the same, and the
    // dynamic linker cannot be asked for them there any more: so each is called here (memset, memcpy, strlen).
    memset(room->start, 0, size);
    char *cursor = (char *)(room->start + 1);
    struct launch_plan *copy = &room->start->plan;
    *copy = *plan;
    copy->arguments = copy_list(&cursor, plan->arguments);
    copy->environment = copy_list(&cursor, plan->environment);
    copy->hidden = copy_list(&cursor, plan->hidden);
    copy->awaited = copy_list(&cursor, plan->awaited);
    copy->reachable = copy_list(&cursor, plan->reachable);
    copy->writable = copy_list(&cursor, plan->writable);
    copy->readable = copy_list(&cursor, plan->readable);
    copy->readable_uncovered = copy_list(&cursor, plan->readable_uncovered);
    copy->listeners = listeners ? memcpy(take(&cursor, listeners, alignof(int)), plan->listeners, listeners) : NULL;
    copy->program = copy_text(&cursor, plan->program);
    copy->scratch = copy_text(&cursor, plan->scratch);
    return 0;
}

void launch_free_room(struct launch_room *room) {
    if (room->start != MAP_FAILED) munmap(room->start, room->start_size);
    if (room->stack != MAP_FAILED) munmap(room->stack, STACK_SIZE + 2 * GUARD_SIZE);
}
