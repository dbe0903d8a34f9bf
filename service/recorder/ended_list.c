#include "service/recorder/ended_list.h"

#include <stdlib.h>

void ended_list_add(struct ended_list *list, const struct ended_session *session)
{
    struct ended_session *slot;

    if (!list->sessions)
        list->sessions = calloc(ENDED_LIST_LIMIT, sizeof(*list->sessions));
    if (!list->sessions) {
        free(session->elsewhere);
        return;
    }
    slot = &list->sessions[list->count++ % ENDED_LIST_LIMIT];
    free(slot->elsewhere);
    *slot = *session;
}

void ended_list_free(struct ended_list *list)
{
    for (size_t i = 0; list->sessions && i < ENDED_LIST_LIMIT; i++)
        free(list->sessions[i].elsewhere);
    free(list->sessions);
    list->sessions = NULL;
}

size_t ended_list_size(const struct ended_list *list)
{
    return list->count < ENDED_LIST_LIMIT ? (size_t)list->count : ENDED_LIST_LIMIT;
}

const struct ended_session *ended_list_find(const struct ended_list *list, uint32_t first)
{
    const struct ended_session *found = NULL;

    for (size_t i = 0; i < ended_list_size(list); i++) {
        const struct ended_session *at = &list->sessions[i];

        if (at->number >= first && (!found || at->number < found->number))
            found = at;
    }
    return found;
}
