#pragma once
#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>

// xmlFree is a variable that holds a function; Swift sees shared mutable state in it.
static inline void cxml_free(void *memory) { xmlFree(memory); }
