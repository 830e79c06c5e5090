#pragma once
// Debian's libxml2 shows ICU's types to its callers, which need none of them; Foundation brings an ICU of another edition, and
// Swift refuses a program that sees both.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>

// xmlFree is a variable that holds a function; Swift sees shared mutable state in it.
static inline void cxml_free(void *memory) { xmlFree(memory); }
