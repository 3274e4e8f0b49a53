/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML (and so JSON) text to a tree of nodes, over the events of libyaml.
 *
 * A recipe is one document of maps, lists and scalars. What makes two readers see different
 * things is refused: a key twice in a map, anchors, aliases, tags, a second document. Depth is
 * limited, so the recursion here and in the tree's other functions is.
 */
#include <string.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "recipe/node.h"

/* A recipe needs four levels; more is a mistake, and this bounds the stack. */
#define DEPTH_LIMIT 32

typedef struct reading {
    yaml_parser_t yaml;
    yaml_event_t event; /* the present one; zero before the first */
    const lw__origin *origin;
    const char *text;
    lw_error *err;
} reading;

static size_t line_at(const char *text, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < offset; i++) {
        line += text[i] == '\n';
    }
    return line;
}

static size_t line_of(const yaml_event_t *event)
{
    return event->start_mark.line + 1;
}

static lw_status fail_syntax(const reading *in)
{
    const yaml_parser_t *yaml = &in->yaml;
    if (yaml->error == YAML_MEMORY_ERROR) {
        return lw__fail_nomem(in->err, sizeof(*yaml), "reading a recipe");
    }
    if (yaml->error == YAML_READER_ERROR) {
        return lw__recipe_fail(in->err, LW_E_INVALID, in->origin,
                               line_at(in->text, yaml->problem_offset),
                               "a control character, expected text");
    }
    return lw__recipe_fail(
        in->err, LW_E_INVALID, in->origin, yaml->problem_mark.line + 1,
        "%s%s%s (column %zu), expected YAML", yaml->problem, yaml->context != NULL ? " " : "",
        yaml->context != NULL ? yaml->context : "", yaml->problem_mark.column + 1);
}

static lw_status next_event(reading *in)
{
    yaml_event_delete(&in->event);
    memset(&in->event, 0, sizeof(in->event));
    return yaml_parser_parse(&in->yaml, &in->event) ? LW_OK : fail_syntax(in);
}

/* Refuses anchors and tags. */
static lw_status check_plain_node(const reading *in, const yaml_char_t *anchor,
                                  const yaml_char_t *tag)
{
    if (anchor != NULL) {
        return lw__recipe_fail(in->err, LW_E_INVALID, in->origin, line_of(&in->event),
                               "anchor \"&%s\", expected a value without one",
                               (const char *)anchor);
    }
    if (tag != NULL) {
        return lw__recipe_fail(in->err, LW_E_INVALID, in->origin, line_of(&in->event),
                               "tag \"%s\", expected a value without one", (const char *)tag);
    }
    return LW_OK;
}

/* Copies the present scalar. A NUL would end the copy early, and so hide what follows. */
static lw_status copy_scalar(const reading *in, char **out)
{
    const char *text = (const char *)in->event.data.scalar.value;
    size_t bytes = in->event.data.scalar.length;
    LW__TRY(check_plain_node(in, in->event.data.scalar.anchor, in->event.data.scalar.tag));
    if (memchr(text, '\0', bytes) != NULL) {
        return lw__recipe_fail(in->err, LW_E_INVALID, in->origin, line_of(&in->event),
                               "a NUL character in a text, expected none");
    }
    *out = lw__copy_text(text, bytes);
    return *out != NULL ? LW_OK : lw__fail_nomem(in->err, bytes + 1, "a recipe");
}

static lw_status read_value(reading *in, int depth, lw__node **out);

static lw_status read_list(reading *in, int depth, lw__node *list)
{
    for (;;) {
        lw__node *child = NULL;
        LW__TRY(next_event(in));
        if (in->event.type == YAML_SEQUENCE_END_EVENT) {
            return LW_OK;
        }
        LW__TRY(read_value(in, depth + 1, &child));
        lw_status status = lw__node_append(list, child, in->err);
        if (status < 0) {
            lw__node_destroy(child);
            return status;
        }
    }
}

/* The present event is a key: refuses one that is no text or stands in the map already. */
static lw_status check_key(const reading *in, const lw__node *map)
{
    const yaml_event_t *event = &in->event;
    if (event->type != YAML_SCALAR_EVENT) {
        return lw__recipe_fail(in->err, LW_E_INVALID, in->origin, line_of(event),
                               "a key that is no text, expected text");
    }
    const char *text = (const char *)event->data.scalar.value;
    const lw__node *first = lw__node_get(map, text, event->data.scalar.length);
    if (first != NULL) {
        return lw__recipe_fail(in->err, LW_E_INVALID, in->origin, line_of(event),
                               "key \"%s\" a second time, expected once (first on line %zu)", text,
                               first->line);
    }
    return LW_OK;
}

static lw_status read_member(reading *in, int depth, lw__node *map)
{
    char *key = NULL;
    size_t line = line_of(&in->event);
    lw__node *child = NULL;
    LW__TRY(check_key(in, map));
    LW__TRY(copy_scalar(in, &key));
    lw_status status = next_event(in);
    if (status == LW_OK) {
        status = read_value(in, depth + 1, &child);
    }
    if (child == NULL) { /* made on success only */
        lw__free(key);
        return status;
    }
    child->key = key;
    child->line = line;
    status = lw__node_append(map, child, in->err);
    if (status < 0) {
        lw__node_destroy(child);
    }
    return status;
}

static lw_status read_map(reading *in, int depth, lw__node *map)
{
    for (;;) {
        LW__TRY(next_event(in));
        if (in->event.type == YAML_MAPPING_END_EVENT) {
            return LW_OK;
        }
        LW__TRY(read_member(in, depth, map));
    }
}

static lw_status fill_node(reading *in, int depth, lw__node *node)
{
    const yaml_event_t *event = &in->event;
    if (node->kind == LW__NODE_SCALAR) {
        node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return copy_scalar(in, &node->text);
    }
    if (node->kind == LW__NODE_LIST) {
        LW__TRY(check_plain_node(in, event->data.sequence_start.anchor,
                                 event->data.sequence_start.tag));
        return read_list(in, depth, node);
    }
    LW__TRY(check_plain_node(in, event->data.mapping_start.anchor, event->data.mapping_start.tag));
    return read_map(in, depth, node);
}

/* The present event begins a value. */
static lw_status read_value(reading *in, int depth, lw__node **out)
{
    lw__node *node = NULL;
    size_t line = line_of(&in->event);
    if (in->event.type == YAML_ALIAS_EVENT) {
        return lw__recipe_fail(in->err, LW_E_INVALID, in->origin, line,
                               "alias \"*%s\", expected the value itself",
                               (const char *)in->event.data.alias.anchor);
    }
    if (depth > DEPTH_LIMIT) {
        return lw__recipe_fail(in->err, LW_E_INVALID, in->origin, line,
                               "values nested deeper than %d, expected at most that", DEPTH_LIMIT);
    }
    lw__node_kind kind = in->event.type == YAML_SCALAR_EVENT           ? LW__NODE_SCALAR
                         : in->event.type == YAML_SEQUENCE_START_EVENT ? LW__NODE_LIST
                                                                       : LW__NODE_MAP;
    LW__TRY(lw__node_create(kind, &node, in->err));
    node->line = line;
    lw_status status = fill_node(in, depth, node);
    if (status < 0) {
        lw__node_destroy(node);
        return status;
    }
    *out = node;
    return LW_OK;
}

/* Passes the end of the document and checks that no other one follows. */
static lw_status read_end(reading *in)
{
    LW__TRY(next_event(in));
    LW__TRY(next_event(in));
    if (in->event.type != YAML_STREAM_END_EVENT) {
        return lw__recipe_fail(in->err, LW_E_INVALID, in->origin, line_of(&in->event),
                               "a second document, expected one");
    }
    return LW_OK;
}

static lw_status read_stream(reading *in, lw__node **out)
{
    LW__TRY(next_event(in)); /* the start of the stream */
    LW__TRY(next_event(in)); /* of the document */
    if (in->event.type == YAML_STREAM_END_EVENT) {
        return LW_OK;
    }
    LW__TRY(next_event(in));
    LW__TRY(read_value(in, 0, out));
    return read_end(in);
}

lw_status lw__recipe_read_yaml(const lw__origin *origin, const char *text, size_t count,
                               lw__node **out, lw_error *err)
{
    reading in = {.origin = origin, .text = text, .err = err};
    *out = NULL;
    size_t valid = lw__utf8_check(text, count);
    if (valid < count) {
        return lw__recipe_fail(err, LW_E_INVALID, origin, line_at(text, valid),
                               "bytes that are not UTF-8, expected text");
    }
    if (!yaml_parser_initialize(&in.yaml)) {
        return lw__fail_nomem(err, sizeof(in.yaml), "reading a recipe");
    }
    yaml_parser_set_encoding(&in.yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&in.yaml, (const unsigned char *)text, count);
    lw_status status = read_stream(&in, out);
    if (status < 0) {
        lw__node_destroy(*out);
        *out = NULL;
    }
    yaml_event_delete(&in.event);
    yaml_parser_delete(&in.yaml);
    return status;
}
