/* SPDX-License-Identifier: Apache-2.0 */
/* One part from storage to ids: entries and their order, faults, failures, workers, huge documents. */
#include <unistd.h>

#include "support/engine_testing.h"

/* Reads the part j of the first source by itself. */
static lw_status read_part(rig *r, uint64_t j, lw__part *part, lw_error *err)
{
    *part = (lw__part){.stream = &r->lane->streams[0], .j = j};
    assert_true(lw__blocks_at(&r->engine->blocks[0], r->lane->number, j, &part->place));
    return lw__part_read_alone(part, 0, err);
}

static void must_read(rig *r, uint64_t j, lw__part *part)
{
    lw_error err = {0};
    rig_require(read_part(r, j, part, &err), &err);
}

static void check_entry(const lw__part *part, size_t i, uint64_t document, const char *text)
{
    const lw__entry *entry = &part->entries[i];
    assert_int_equal(entry->document, document);
    assert_int_equal(entry->token_count, strlen(text));
    for (size_t k = 0; k < entry->token_count; k++) {
        assert_int_equal(part->ids[entry->offset + k], text[k]);
    }
}

static void test_read__a_part_has_its_documents_in_file_order(void **state)
{
    (void)state;
    rig r;
    lw__part part;
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("abc") "\n" RIG_LINE("") RIG_LINE("de"), 1, 4096);
    rig_open(&r, 0, 1);
    must_read(&r, 0, &part);
    assert_true(part.last);
    assert_int_equal(part.entry_count, 3); /* a blank line is none */
    check_entry(&part, 0, 0, "abc");
    check_entry(&part, 1, 1, "");
    check_entry(&part, 2, 2, "de");
    assert_null(part.faults);
    assert_int_equal(part.bytes, 3 * sizeof(lw__entry) + 5 * sizeof(int32_t));
    lw__part_reset(&part);
    rig_close(&r);
}

static void test_read__a_permuted_part_is_in_the_order_of_the_plan(void **state)
{
    (void)state;
    static const char *const texts[] = {"a", "bb", "ccc", "dddd", "eeeee", "ffffff"};
    rig r;
    lw__part part;
    unsigned moved = 0;
    rig_init(&r);
    r.settings.order = LW__ORDER_PERMUTED;
    rig_source(&r, "a",
               RIG_LINE("a") RIG_LINE("bb") RIG_LINE("ccc") RIG_LINE("dddd") RIG_LINE("eeeee")
                   RIG_LINE("ffffff"),
               1, 4096);
    rig_open(&r, 0, 1);
    must_read(&r, 0, &part);
    lw__permutation order = lw__blocks_documents(&r.engine->blocks[0], part.place.g, 0, 6);
    for (size_t i = 0; i < 6; i++) {
        uint64_t document = lw__permutation_at(&order, i);
        check_entry(&part, i, document, texts[document]);
        moved += document != i;
    }
    assert_true(moved > 0);
    lw__part_reset(&part);
    rig_close(&r);
}

static void test_read__a_bad_record_is_a_document_with_a_fault(void **state)
{
    (void)state;
    rig r;
    lw__part part;
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("ab") "{none}\n" RIG_LINE("cd") "[]\n", 1, 4096);
    rig_open(&r, 0, 1);
    must_read(&r, 0, &part);
    assert_int_equal(part.entry_count, 4);
    check_entry(&part, 0, 0, "ab");
    check_entry(&part, 1, 1, "");
    check_entry(&part, 2, 2, "cd");
    assert_null(part.entries[0].fault);
    assert_ptr_equal(part.entries[1].fault, &part.faults[0]);
    assert_int_equal(part.entries[1].fault->at, 16);
    assert_ptr_equal(part.entries[3].fault, &part.faults[1]);
    lw__part_reset(&part);
    rig_close(&r);
}

static void test_read__the_check_is_of_the_parts_lines(void **state)
{
    (void)state;
    rig r;
    lw__part parts[3];
    uint64_t checks[3];
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("ab") RIG_LINE("ab") RIG_LINE("ac"), 1, 15);
    rig_open(&r, 0, 1);
    /* A line belongs to the block of the newline before it: two lines, one, none. */
    for (uint64_t j = 0; j < 3; j++) {
        must_read(&r, j, &parts[j]);
        checks[j] = parts[j].check;
        assert_int_equal(checks[j] & 1, 1);
    }
    assert_int_equal(parts[0].entry_count, 2);
    assert_int_equal(parts[1].entry_count, 1);
    assert_int_equal(parts[2].entry_count, 0);
    assert_true(checks[0] != checks[1] && checks[1] != checks[2]);
    must_read(&r, 1, &parts[2]);
    assert_true(parts[2].check == checks[1]);
    for (size_t j = 0; j < 3; j++) {
        lw__part_reset(&parts[j]);
    }
    rig_close(&r);
}

/* What the thread used for it goes with the part, so the thread does not keep its size. */
static void test_read__a_huge_document_takes_the_arena_along(void **state)
{
    (void)state;

    enum { HUGE_TEXT = 3000 };

    static char lines[HUGE_TEXT + 100];
    rig r;
    lw__part part;
    int used = snprintf(lines, sizeof lines, RIG_LINE("ab") "{\"text\": \"");
    memset(lines + used, 'x', HUGE_TEXT);
    snprintf(lines + used + HUGE_TEXT, 10, "\"}\n");
    rig_init(&r);
    rig_source(&r, "a", lines, 1, 15);
    rig_open(&r, 0, 1);
    assert_true(HUGE_TEXT * sizeof(int32_t) > lw__part_limit(15));
    must_read(&r, 0, &part);
    assert_int_equal(part.entry_count, 2);
    assert_non_null(part.huge_ids);
    assert_ptr_equal(part.ids, part.huge_ids);
    assert_null(r.engine->scratch[0].arena.ids);
    assert_int_equal(part.entries[1].token_count, HUGE_TEXT);
    assert_int_equal(part.ids[part.entries[1].offset + HUGE_TEXT - 1], 'x');
    lw__part_reset(&part);
    assert_null(part.huge_ids);
    rig_close(&r);
}

static void test_read__a_failure_waits_in_the_part(void **state)
{
    (void)state;
    rig r;
    bool ended;
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("ab"), 1, 4096);
    rig_open(&r, 0, 1);
    assert_int_equal(unlink(scratch_path("a.jsonl")), 0);
    lw__stream_want(&r.lane->streams[0]);
    assert_true(rig_turn(&r, LW__READ));
    const lw__part *part = lw__stream_front(&r.lane->streams[0], &ended);
    assert_non_null(part);
    assert_int_equal(part->status, LW_E_NOT_FOUND);
    assert_non_null(part->failure);
    assert_int_equal(part->failure->status, LW_E_NOT_FOUND);
    assert_non_null(strstr(part->failure->message, "a.jsonl"));
    assert_int_equal(part->entry_count, 0);
    assert_false(rig_turn(&r, LW__READ)); /* nothing is read after it */
    rig_close(&r);
}

/* ---- DOCUMENT workers ----------------------------------------------------------------------- */

/* Drops "drop", makes "more" longer, and lets the others be. */
static lw_status work(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                      lw_error *err)
{
    (void)op;
    for (size_t i = 0; i < count; i++) {
        lw_str text = lw_document_text(group[i]);
        lw_status status = LW_OK;
        if (text.bytes == 4 && memcmp(text.data, "drop", 4) == 0) {
            status = lw_sink_drop(out, group[i], err);
        } else {
            if (text.bytes == 4 && memcmp(text.data, "more", 4) == 0) {
                status = lw_document_set_text(group[i], "much more", 9, err);
            }
            status = status == LW_OK ? lw_sink_put(out, group[i], err) : status;
        }
        if (status != LW_OK) {
            return status;
        }
    }
    return LW_OK;
}

static const lw_op_type worker = {.struct_size = sizeof worker,
                                  .name = "work",
                                  .version = 1,
                                  .phase = LW_PHASE_DOCUMENT,
                                  .work = work};

static void test_read__workers_replace_and_drop_texts_before_they_are_tokenized(void **state)
{
    (void)state;
    rig r;
    lw__part part;
    rig_init(&r);
    rig_operator(&r, &worker, NULL);
    rig_operator(&r, &lw__op_wrap, NULL);
    rig_source(&r, "a", RIG_LINE("ab") RIG_LINE("drop") "none\n" RIG_LINE("more"), 1, 4096);
    rig_open(&r, 0, 1);
    for (int time = 0; time < 2; time++) { /* what the first used is used again */
        must_read(&r, 0, &part);
        assert_int_equal(part.entry_count, 4);
        check_entry(&part, 0, 0, "ab");
        check_entry(&part, 1, 1, "");
        check_entry(&part, 2, 2, "");
        check_entry(&part, 3, 3, "much more");
        assert_int_equal(part.entries[0].dropped, 0);
        assert_int_equal(part.entries[1].dropped, 1);
        assert_int_equal(part.entries[2].dropped, 0);
        assert_non_null(part.entries[2].fault);
        lw__part_reset(&part);
    }
    rig_close(&r);
}

static lw_status spoil(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                       lw_error *err)
{
    (void)op;
    (void)count;
    (void)out;
    return lw_document_set_text(group[0], "\xff", 1, err);
}

static void test_read__a_text_that_is_no_utf8_is_refused(void **state)
{
    (void)state;
    const lw_op_type spoiler = {.struct_size = sizeof spoiler,
                                .name = "spoil",
                                .version = 1,
                                .phase = LW_PHASE_DOCUMENT,
                                .work = spoil};
    rig r;
    lw__part part;
    lw_error err = {0};
    rig_init(&r);
    rig_operator(&r, &spoiler, NULL);
    rig_operator(&r, &lw__op_wrap, NULL);
    rig_source(&r, "a", RIG_LINE("ab"), 1, 4096);
    rig_open(&r, 0, 1);
    assert_int_equal(read_part(&r, 0, &part, &err), LW_E_OPERATOR);
    char said[600];
    snprintf(said, sizeof said,
             "spoil: lw_document_set_text: the new text is not UTF-8, at \"%s\" record 0",
             scratch_path("a.jsonl"));
    assert_string_equal(err.message, said);
    lw__part_reset(&part);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read__a_part_has_its_documents_in_file_order),
        cmocka_unit_test(test_read__a_permuted_part_is_in_the_order_of_the_plan),
        cmocka_unit_test(test_read__a_bad_record_is_a_document_with_a_fault),
        cmocka_unit_test(test_read__the_check_is_of_the_parts_lines),
        cmocka_unit_test(test_read__a_huge_document_takes_the_arena_along),
        cmocka_unit_test(test_read__a_failure_waits_in_the_part),
        cmocka_unit_test(test_read__workers_replace_and_drop_texts_before_they_are_tokenized),
        cmocka_unit_test(test_read__a_text_that_is_no_utf8_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
