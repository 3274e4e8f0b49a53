/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing a state with what is there now: every kind of difference has its line. */
#include "support/state_testing.h"

static lw__dataset *open_source(const char *path)
{
    lw__dataset_options options = {.name = "web",
                                   .folder = scratch_folder(),
                                   .paths = &path,
                                   .path_count = 1,
                                   .text = "text",
                                   .block_bytes = 64,
                                   .lanes = 1};
    lw__dataset *dataset = NULL;
    lw_error err = {0};
    if (lw__dataset_open(&options, &dataset, &err) != LW_OK) {
        fail_msg("%s", err.message);
    }
    return dataset;
}

static void write_files(const char *const *names, size_t count)
{
    scratch_clear();
    for (size_t i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "data/%s", names[i]);
        scratch_write_text(path, "{\"text\": \"x\"}\n");
    }
}

/* The state of an identity with one source: the folder "data" as it is now. */
static lw_state *state_of_files(const lw__identity *base)
{
    lw_state *made = NULL;
    lw__dataset *dataset = open_source("data");
    lw__identity identity = *base;
    identity.datasets = &dataset;
    identity.dataset_count = 1;
    identity.samples = NULL;
    assert_int_equal(lw__state_create(&made, NULL), LW_OK);
    made_add_global(made, &identity, 4);
    lw__free(identity.samples);
    lw__dataset_close(dataset);
    return made_finish(made);
}

static lw_status compare_files(const lw_state *made, const lw__identity *base, lw_error *err)
{
    lw__dataset *dataset = open_source("data");
    lw__identity identity = *base;
    identity.datasets = &dataset;
    identity.dataset_count = 1;
    identity.samples = NULL;
    lw_status status = lw__global_compare(made, &identity, err);
    lw__free(identity.samples);
    lw__dataset_close(dataset);
    return status;
}

static void files_fail(const char *const *names, size_t count, const char *contained)
{
    static const char *const before[] = {"a1.jsonl", "a2.jsonl", "b.jsonl"};
    lw__identity identity;
    lw_error err = {0};
    made_identity(&identity, "32");
    write_files(before, 3);
    lw_state *made = state_of_files(&identity);
    assert_int_equal(compare_files(made, &identity, &err), LW_OK);
    write_files(names, count);
    assert_int_equal(compare_files(made, &identity, &err), LW_E_MISMATCH);
    if (strstr(err.message, contained) == NULL) {
        fail_msg("\"%s\", expected \"%s\" in it", err.message, contained);
    }
    assert_memory_equal(err.message, "state: source \"web\": file \"", 27);
    lw_state_close(made);
    lw__identity_reset(&identity);
}

static void test_global__files_that_are_missing_new_or_renamed_are_named(void **state)
{
    (void)state;
    files_fail((const char *const[]){"a1.jsonl", "a2.jsonl"}, 2,
               "file \"b.jsonl\" is missing, expected as in the state");
    files_fail((const char *const[]){"a1.jsonl", "a2.jsonl", "b.jsonl", "c.jsonl"}, 4,
               "c.jsonl\" is new, expected the files of the state");
    files_fail((const char *const[]){"a1.jsonl", "a3.jsonl", "b.jsonl"}, 3,
               "file \"a3.jsonl\" here, expected \"a2.jsonl\"");
}

static void test_global__a_file_of_another_size_or_content_is_named(void **state)
{
    (void)state;
    static const char *const names[] = {"a.jsonl"};
    lw__identity identity;
    lw_error err = {0};
    made_identity(&identity, "32");
    write_files(names, 1);
    lw_state *made = state_of_files(&identity);
    scratch_write_text("data/a.jsonl", "{\"text\": \"xyz\"}\n");
    assert_int_equal(compare_files(made, &identity, &err), LW_E_MISMATCH);
    assert_non_null(strstr(err.message, "a.jsonl\" has 16 bytes, expected 14"));
    scratch_write_text("data/a.jsonl", "{\"text\": \"y\"}\n");
    assert_int_equal(compare_files(made, &identity, &err), LW_E_MISMATCH);
    assert_non_null(strstr(err.message, "a.jsonl\" has other content, expected that of the state"));
    lw_state_close(made);
    lw__identity_reset(&identity);
}

static void test_global__files_may_move_with_their_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.jsonl"};
    lw__identity identity;
    lw_error err = {0};
    made_identity(&identity, "32");
    write_files(names, 1);
    lw_state *made = state_of_files(&identity);
    scratch_write_text("elsewhere/a.jsonl", "{\"text\": \"x\"}\n");
    lw__dataset *moved = open_source("elsewhere");
    lw__identity other = identity;
    other.datasets = &moved;
    other.dataset_count = 1;
    other.samples = NULL;
    assert_int_equal(lw__global_compare(made, &other, &err), LW_OK);
    lw__free(other.samples);
    lw__dataset_close(moved);
    lw_state_close(made);
    lw__identity_reset(&identity);
}

static void compare_fails(const lw_state *made, lw__identity *identity, const char *message)
{
    lw_error err = {0};
    assert_int_equal(lw__global_compare(made, identity, &err), LW_E_MISMATCH);
    assert_int_equal(err.status, LW_E_MISMATCH);
    assert_string_equal(err.message, message);
}

static void test_global__the_first_option_that_differs_is_named(void **state)
{
    (void)state;
    lw_state *made = made_state(4, 0, 1);
    lw__identity identity;
    made_identity(&identity, "32");
    assert_int_equal(lw__global_compare(made, &identity, NULL), LW_OK);
    lw__identity_reset(&identity);

    made_identity(&identity, "64");
    compare_fails(made, &identity,
                  "state: context is 64 in the recipe, expected 32 as in the state");
    lw__identity_reset(&identity);

    identity = (lw__identity){0};
    assert_int_equal(lw__identity_add(&identity, "seed", "1", NULL), LW_OK);
    compare_fails(made, &identity,
                  "state: context is not set in the recipe, expected 32 as in the state");
    lw__identity_reset(&identity);

    made_identity(&identity, "32");
    assert_int_equal(lw__identity_add(&identity, "more", "1", NULL), LW_OK);
    compare_fails(made, &identity, "state: 3 options in the recipe, expected 2");
    lw__identity_reset(&identity);
    lw_state_close(made);
}

static void test_global__another_number_of_sources_is_a_mismatch(void **state)
{
    (void)state;
    static const char *const names[] = {"a.jsonl"};
    lw__identity identity;
    lw_error err = {0};
    made_identity(&identity, "32");
    write_files(names, 1);
    lw_state *made = state_of_files(&identity);
    compare_fails(made, &identity, "state: 0 sources in the recipe, expected 1");
    lw_state_close(made);

    made = made_state(4, 0, 1);
    assert_int_equal(compare_files(made, &identity, &err), LW_E_MISMATCH);
    assert_string_equal(err.message, "state: 1 sources in the recipe, expected 0");
    lw_state_close(made);
    lw__identity_reset(&identity);
}

/* A state whose global piece holds these bytes. */
static lw_status parse_global(const lw__bytes *bytes, lw_state **out, lw_error *err)
{
    assert_int_equal(lw__state_create(out, NULL), LW_OK);
    made_add(*out, "global", bytes->data, bytes->count);
    return lw__state_finish(*out, err);
}

static void test_global__another_stream_version_is_a_mismatch(void **state)
{
    (void)state;
    lw__identity identity;
    lw__bytes bytes;
    lw_state *made = NULL;
    made_identity(&identity, "32");
    lw__bytes_init(&bytes);
    assert_int_equal(lw__global_save(&identity, 4, &bytes, NULL), LW_OK);
    bytes.data[0] = LW__STREAM_VERSION + 1;
    assert_int_equal(parse_global(&bytes, &made, NULL), LW_OK);
    compare_fails(made, &identity, "state: stream version 2, expected 1");
    lw_state_close(made);
    lw__bytes_reset(&bytes);
    lw__identity_reset(&identity);
}

/* Counts of fields and sources, with nothing that follows. */
static void make_global(lw__bytes *bytes, uint64_t fields, uint64_t sources)
{
    lw__bytes_init(bytes);
    lw__bytes_put_varint(bytes, LW__STREAM_VERSION);
    lw__bytes_put_varint(bytes, 4); /* step */
    lw__bytes_put_varint(bytes, 0);
    lw__bytes_put_text(bytes, "", 0);
    lw__bytes_put_varint(bytes, fields);
    lw__bytes_put_varint(bytes, sources);
    assert_false(bytes->failed);
}

/* A checksum is no signature: counts are not to be trusted. */
static void test_global__counts_that_nothing_follows_are_refused(void **state)
{
    (void)state;
    static const uint64_t counts[][2] = {{1, 0}, {UINT64_C(1) << 63, 0}, {0, 100000}};
    for (size_t i = 0; i < 3; i++) {
        lw__bytes bytes;
        lw_state *made = NULL;
        make_global(&bytes, counts[i][0], counts[i][1]);
        lw_status status = parse_global(&bytes, &made, NULL);
        lw_state_close(made);
        lw__bytes_reset(&bytes);
        if (status != LW_E_CORRUPT) {
            fail_msg("%llu fields, %llu sources: %d, expected LW_E_CORRUPT",
                     (unsigned long long)counts[i][0], (unsigned long long)counts[i][1], status);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_global__files_that_are_missing_new_or_renamed_are_named),
        cmocka_unit_test(test_global__a_file_of_another_size_or_content_is_named),
        cmocka_unit_test(test_global__files_may_move_with_their_folder),
        cmocka_unit_test(test_global__the_first_option_that_differs_is_named),
        cmocka_unit_test(test_global__another_number_of_sources_is_a_mismatch),
        cmocka_unit_test(test_global__another_stream_version_is_a_mismatch),
        cmocka_unit_test(test_global__counts_that_nothing_follows_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
