#pragma once
// Hides ICU's types, which Debian's libxml2 shows to its callers: Foundation brings another version of ICU, and Swift refuses a program that sees
// both.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>

// xmlFree is a variable that holds a function; Swift refuses it as shared mutable state.
static inline void cxml_free(void *memory) { xmlFree(memory); }
