/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical text and the fields of the fingerprint: equal for equal recipes, however written. */
#include "recipe_testing.h"

#define FULL                                                                                       \
    "seed: 18446744073709551615\n"                                                                 \
    "lanes: 4\n"                                                                                   \
    "global_batch: 8\n"                                                                            \
    "context: 16\n"                                                                                \
    "order: file\n"                                                                                \
    "sources:\n"                                                                                   \
    "  - name: \"web\"\n"                                                                          \
    "    path: \"data/web\"\n"                                                                     \
    "    format: null\n"                                                                           \
    "    text: \"text\"\n"                                                                         \
    "    weight: 0.7\n"                                                                            \
    "    block: 0\n"                                                                               \
    "  - name: \"code\"\n"                                                                         \
    "    path: [\"a\", \"b\"]\n"                                                                   \
    "    format: jsonl\n"                                                                          \
    "    text: \"body.content\"\n"                                                                 \
    "    weight: 12.000000003\n"                                                                   \
    "    block: 65536\n"                                                                           \
    "mixture:\n"                                                                                   \
    "  unit: documents\n"                                                                          \
    "tokenizer:\n"                                                                                 \
    "  path: \"t.tiktoken\"\n"                                                                     \
    "  name: null\n"                                                                               \
    "  pattern: \"cl100k\"\n"                                                                      \
    "  bos: \"<s>\"\n"                                                                             \
    "  eos: true\n"                                                                                \
    "  special_text: true\n"                                                                       \
    "documents: []\n"                                                                              \
    "pack:\n"                                                                                      \
    "  algorithm: best_fit\n"                                                                      \
    "  overflow: truncate\n"                                                                       \
    "  open_rows: 9\n"                                                                             \
    "  pad: 3\n"                                                                                   \
    "shuffle:\n"                                                                                   \
    "  rows: 5\n"                                                                                  \
    "labels:\n"                                                                                    \
    "  shift: document\n"                                                                          \
    "  mask_eos: true\n"                                                                           \
    "end: pad\n"                                                                                   \
    "on_bad_record:\n"                                                                             \
    "  policy: skip\n"                                                                             \
    "  limit: 100\n"                                                                               \
    "cache:\n"                                                                                     \
    "  path: null\n"                                                                               \
    "  limit: 100000000000\n"                                                                      \
    "runtime:\n"                                                                                   \
    "  threads: 3\n"                                                                               \
    "  memory: 1048576\n"                                                                          \
    "  prefetch_steps: 1\n"                                                                        \
    "  device: cpu\n"                                                                              \
    "  microbatch: 2\n"                                                                            \
    "  dtype: int64\n"                                                                             \
    "  digests: true\n"                                                                            \
    "  keep_states: 1\n"

static void text_is(const char *recipe_text, const char *expected)
{
    lw_recipe *recipe = parsed(recipe_text);
    char *text = text_of(recipe);
    assert_string_equal(text, expected);
    lw_text_free(text);
    lw_recipe_close(recipe);
}

static void test_canonical__canonical_text_is_its_own(void **state)
{
    (void)state;
    text_is(FULL, FULL);
}

static void test_canonical__the_text_has_every_default(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(SMALL);
    char *text = text_of(recipe);
    text_is(text, text);
    assert_non_null(strstr(text, "seed: 0\n"));
    assert_non_null(strstr(text, "    path: \"data\"\n    format: null\n    text: \"text\"\n"
                                 "    weight: 1\n    block: 0\n"));
    assert_non_null(strstr(text, "  path: null\n  name: bytes\n  pattern: null\n  bos: false\n"));
    assert_non_null(strstr(text, "  pad: null\n"));
    assert_non_null(strstr(text, "  memory: 4000000000\n"));
    lw_text_free(text);
    lw_recipe_close(recipe);
}

static void test_canonical__yaml_json_and_calls_give_the_same_text(void **state)
{
    (void)state;
    const char *json =
        "{\"runtime\": {\"memory\": \"2MiB\"}, \"tokenizer\": {\"name\": \"bytes\", \"eos\": true},"
        " \"sources\": [{\"weight\": 0.50, \"path\": [\"data\"], \"name\": \"web\"}],"
        " \"context\": 16, \"global_batch\": 8, \"lanes\": 4}";
    const char *yaml = "lanes: 4\nglobal_batch: 8\ncontext: 16\n"
                       "sources:\n  - name: web\n    path: data\n    weight: 0.5\n"
                       "tokenizer: {name: bytes, eos: true}\n"
                       "runtime: {memory: 2097152}\nseed: 0\n";
    lw_recipe *built = parsed("");
    set_option(built, "runtime.memory", "2MiB");
    set_option(built, "sources.0.weight", "0.5");
    set_option(built, "sources.0.path", "data");
    set_option(built, "sources.0.name", "'web'");
    set_option(built, "tokenizer.eos", "true");
    set_option(built, "tokenizer.name", "bytes");
    set_option(built, "lanes", "4");
    set_option(built, "context", "16");
    set_option(built, "global_batch", "8");
    char *text = text_of(built);
    text_is(json, text);
    text_is(yaml, text);
    lw_text_free(text);
    lw_recipe_close(built);
}

static void test_canonical__any_text_reads_back(void **state)
{
    (void)state;
    const char *json_text = "\"q\\\" b\\\\ n\\n t\\t \\u0085 \\u2028 \\ufeff \\uffff \\u007f "
                            "\xC3\xA9 \xF0\x9F\x98\x80 # : - ' \\x1b\"";
    lw_recipe *recipe = parsed(SMALL);
    set_option(recipe, "sources.0.name", json_text);
    char *text = text_of(recipe);
    assert_non_null(strstr(text, "\"q\\\" b\\\\ n\\u000a t\\u0009 \\u0085 \\u2028 \\ufeff \\uffff "
                                 "\\u007f \xC3\xA9 \xF0\x9F\x98\x80 # : - ' \\u001b\"\n"));
    lw_recipe *again = parsed(text);
    assert_string_equal(settings_of(again)->sources[0].name, settings_of(recipe)->sources[0].name);
    text_is(text, text);
    lw_text_free(text);
    lw_recipe_close(again);
    lw_recipe_close(recipe);
}

static void test_canonical__an_incomplete_recipe_has_no_text(void **state)
{
    (void)state;
    char *text = NULL;
    lw_error err = {0};
    lw_recipe *recipe = parsed("lanes: 1\n");
    assert_int_equal(lw_recipe_text(recipe, &text, &err), LW_E_INVALID);
    assert_null(text);
    assert_string_equal(
        err.message,
        "recipe: global_batch is missing, expected a whole number from 1 to 4294967295");
    lw_recipe_close(recipe);
}

/* Writes each field on a line of its own. */
static void write_field(void *ctx, const char *key, const char *value)
{
    lw__bytes_printf(ctx, "%s=%s\n", key, value);
}

static void fields_are(lw_recipe *recipe, const char *expected)
{
    lw__bytes lines;
    lw__bytes_init(&lines);
    assert_int_equal(lw__recipe_stream_fields(recipe, write_field, &lines, NULL), LW_OK);
    lw__bytes_put_u8(&lines, '\0');
    assert_string_equal((const char *)lines.data, expected);
    lw__bytes_reset(&lines);
}

static void test_canonical__fields_are_the_stream_options_in_table_order(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(FULL);
    fields_are(recipe, "seed=18446744073709551615\n"
                       "lanes=4\n"
                       "global_batch=8\n"
                       "context=16\n"
                       "order=file\n"
                       "sources=[\"web\", \"code\"]\n"
                       "sources.web.format=null\n"
                       "sources.web.text=\"text\"\n"
                       "sources.web.weight=0.7\n"
                       "sources.web.block=0\n"
                       "sources.code.format=jsonl\n"
                       "sources.code.text=\"body.content\"\n"
                       "sources.code.weight=12.000000003\n"
                       "sources.code.block=65536\n"
                       "mixture.unit=documents\n"
                       "tokenizer.name=null\n"
                       "tokenizer.pattern=\"cl100k\"\n"
                       "tokenizer.bos=\"<s>\"\n"
                       "tokenizer.eos=true\n"
                       "tokenizer.special_text=true\n"
                       "documents=[]\n"
                       "pack.algorithm=best_fit\n"
                       "pack.overflow=truncate\n"
                       "pack.open_rows=9\n"
                       "pack.pad=3\n"
                       "shuffle.rows=5\n"
                       "labels.shift=document\n"
                       "labels.mask_eos=true\n"
                       "end=pad\n"
                       "on_bad_record.policy=skip\n"
                       "on_bad_record.limit=100\n");
    lw_recipe_close(recipe);
}

static lw_status work(const void *op, lw_record *const *group, size_t group_count, lw_sink *out,
                      lw_error *err)
{
    (void)op;
    (void)group;
    (void)group_count;
    (void)out;
    (void)err;
    return LW_OK;
}

static void test_canonical__operators_are_fields_by_name_version_and_options(void **state)
{
    (void)state;
    const lw_op_type lower = {.struct_size = sizeof(lw_op_type),
                              .name = "lower",
                              .version = 2,
                              .phase = LW_PHASE_DOCUMENT,
                              .work = work};
    lw__bytes lines;
    lw__bytes_init(&lines);
    lw_recipe *recipe = parsed(SMALL);
    assert_int_equal(lw_recipe_add_operator(recipe, &lower, NULL, NULL, NULL), LW_OK);
    assert_int_equal(lw_recipe_add_operator(recipe, &lower, NULL, "a \"b\"", NULL), LW_OK);
    assert_int_equal(lw__recipe_stream_fields(recipe, write_field, &lines, NULL), LW_OK);
    lw__bytes_put_u8(&lines, '\0');
    assert_non_null(strstr((const char *)lines.data, "documents=[\"lower\", \"lower\"]\n"
                                                     "documents.0.name=\"lower\"\n"
                                                     "documents.0.version=2\n"
                                                     "documents.0.options=null\n"
                                                     "documents.1.name=\"lower\"\n"
                                                     "documents.1.version=2\n"
                                                     "documents.1.options=\"a \\\"b\\\"\"\n"
                                                     "pack.algorithm="));
    lw__bytes_reset(&lines);
    lw_recipe_close(recipe);
}

static void ignore_field(void *ctx, const char *key, const char *value)
{
    (void)ctx;
    (void)key;
    (void)value;
}

static void test_canonical__running_out_of_memory_is_reported(void **state)
{
    (void)state;
    lw_recipe *recipe = parsed(FULL);
    lw_status status = LW_E_NOMEM;
    for (unsigned long calls = 1; status != LW_OK; calls++) {
        char *text = NULL;
        lw__alloc_fail_after(calls);
        status = lw_recipe_text(recipe, &text, NULL);
        lw__alloc_fail_after(0);
        assert_true(status == LW_E_NOMEM || text != NULL);
        lw_text_free(text);
    }
    status = LW_E_NOMEM;
    for (unsigned long calls = 1; status != LW_OK; calls++) {
        lw__alloc_fail_after(calls);
        status = lw__recipe_stream_fields(recipe, ignore_field, NULL, NULL);
        lw__alloc_fail_after(0);
        assert_true(status == LW_OK || status == LW_E_NOMEM);
    }
    lw_recipe_close(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical__canonical_text_is_its_own),
        cmocka_unit_test(test_canonical__the_text_has_every_default),
        cmocka_unit_test(test_canonical__yaml_json_and_calls_give_the_same_text),
        cmocka_unit_test(test_canonical__any_text_reads_back),
        cmocka_unit_test(test_canonical__an_incomplete_recipe_has_no_text),
        cmocka_unit_test(test_canonical__fields_are_the_stream_options_in_table_order),
        cmocka_unit_test(test_canonical__operators_are_fields_by_name_version_and_options),
        cmocka_unit_test(test_canonical__running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
