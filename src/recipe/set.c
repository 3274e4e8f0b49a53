/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Setting one option by its dotted key.
 *
 * The key is followed through the tree and the option table at once, making the maps and lists
 * that are not there yet. All of it happens in a copy of the tree, which takes the place of the
 * old one only when the value has been checked and put.
 */
#include <string.h>

#include "base/error.h"
#include "recipe/tree.h"

/* The place that the parts of a key have led to so far. */
typedef struct key_place {
    lw__node *parent; /* holds the child that the newest part names */
    size_t at;        /* its index there; the count when it is not there yet */
    lw__shape_kind shape;
    char pattern[LW__PATTERN_BYTES];
    const char *part;
    size_t part_bytes;
    const char *rest; /* the parts to come; NULL when there are none */
} key_place;

static void take_part(key_place *place)
{
    place->part = place->rest;
    place->part_bytes = strcspn(place->part, ".");
    place->rest =
        place->part[place->part_bytes] == '.' ? place->part + place->part_bytes + 1 : NULL;
}

/* Reads a list index: up to six digits, more than any list has items. */
static bool read_index(const key_place *place, size_t *out)
{
    size_t index = 0;
    for (size_t i = 0; i < place->part_bytes; i++) {
        if (place->part[i] < '0' || place->part[i] > '9') {
            return false;
        }
        index = index * 10 + (size_t)(place->part[i] - '0');
    }
    *out = index;
    return place->part_bytes > 0 && place->part_bytes <= 6 &&
           (place->part[0] != '0' || place->part_bytes == 1);
}

static lw_status step_into_list(key_place *place, const lw__origin *origin, lw_error *err)
{
    char pattern[LW__PATTERN_BYTES];
    if (!read_index(place, &place->at) || place->at > place->parent->count) {
        return lw__recipe_fail(
            err, LW_E_INVALID, origin, 0, "\"%.*s\" is no index, expected 0 to %zu (%zu appends)",
            (int)place->part_bytes, place->part, place->parent->count, place->parent->count);
    }
    place->shape = lw__options_item(place->pattern, pattern);
    memcpy(place->pattern, pattern, sizeof(pattern));
    return LW_OK;
}

static lw_status step_into_map(key_place *place, const lw__origin *origin, lw_error *err)
{
    char pattern[LW__PATTERN_BYTES];
    const lw__option *ignored = NULL;
    place->shape =
        lw__options_member(place->pattern, place->part, place->part_bytes, pattern, &ignored);
    if (place->shape == LW__SHAPE_NONE) {
        return lw__tree_fail_unknown(origin, 0, place->pattern, place->part, place->part_bytes,
                                     err);
    }
    if (place->shape == LW__SHAPE_OPTION && place->rest != NULL) {
        return lw__recipe_fail(err, LW_E_INVALID, origin, 0,
                               "parts after \"%.*s\", expected none after an option",
                               (int)(place->part_bytes), place->part);
    }
    place->at = lw__node_find(place->parent, place->part, place->part_bytes);
    memcpy(place->pattern, pattern, sizeof(pattern));
    return LW_OK;
}

/* Takes child on success, in place of what is there. */
static lw_status put_child(const key_place *place, lw__node *child, lw_error *err)
{
    lw__node *parent = place->parent;
    if (parent->kind == LW__NODE_MAP) {
        LW__TRY(lw__node_set_key(child, place->part, place->part_bytes, err));
    }
    if (place->at == parent->count) {
        return lw__node_append(parent, child, err);
    }
    lw__node_destroy(parent->children[place->at]);
    parent->children[place->at] = child;
    return LW_OK;
}

/* Makes the child the parent of what is to come. */
static lw_status enter_child(key_place *place, lw_error *err)
{
    if (place->at == place->parent->count) {
        lw__node *child = NULL;
        lw__node_kind kind = place->shape == LW__SHAPE_LIST ? LW__NODE_LIST : LW__NODE_MAP;
        LW__TRY(lw__node_create(kind, &child, err));
        lw_status status = put_child(place, child, err);
        if (status < 0) {
            lw__node_destroy(child);
            return status;
        }
    }
    place->parent = place->parent->children[place->at];
    return LW_OK;
}

/* Follows all parts of the key from the root on. */
static lw_status find_place(key_place *place, const lw__origin *origin, lw_error *err)
{
    for (;;) {
        take_part(place);
        if (place->parent->kind == LW__NODE_LIST) {
            LW__TRY(step_into_list(place, origin, err));
        } else {
            LW__TRY(step_into_map(place, origin, err));
        }
        if (place->rest == NULL) {
            return LW_OK;
        }
        LW__TRY(enter_child(place, err));
    }
}

/* A text without any value stands for null, as in a file. */
static lw_status read_value(const lw__origin *origin, const char *text, lw__node **out,
                            lw_error *err)
{
    LW__TRY(lw__recipe_read_yaml(origin, text, strlen(text), out, err));
    if (*out == NULL) {
        return lw__recipe_read_yaml(origin, "null", 4, out, err);
    }
    return LW_OK;
}

/* Takes value on success. */
static lw_status put_value(lw__node *root, const lw__origin *origin, lw__node *value, lw_error *err)
{
    key_place place = {.parent = root, .rest = origin->set_key};
    LW__TRY(find_place(&place, origin, err));
    LW__TRY(lw__tree_check(value, place.pattern, origin->set_key, origin, err));
    return put_child(&place, value, err);
}

lw_status lw__tree_set(lw__node **root, const char *key, const char *value, lw_error *err)
{
    lw__origin origin = {.set_key = key};
    lw__node *copy = NULL;
    lw__node *node = NULL;
    lw_status status = read_value(&origin, value, &node, err);
    if (status == LW_OK) {
        status = lw__node_copy(*root, &copy, err);
    }
    if (status == LW_OK) {
        status = put_value(copy, &origin, node, err);
    }
    if (status < 0) {
        lw__node_destroy(node);
        lw__node_destroy(copy);
        return status;
    }
    lw__node_destroy(*root);
    *root = copy;
    return LW_OK;
}
