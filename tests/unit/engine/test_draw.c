/* SPDX-License-Identifier: Apache-2.0 */
/* Which document a lane draws: order, lengths, what is passed over, the mixer, waits, failures. */
#include <unistd.h>

#include "support/engine_testing.h"

/* A DOCUMENT accumulator that writes down what passes: the source's letter and the text. */
typedef struct witness {
    char text[RIG_TEXT];
} witness;

static lw_status watch_create(const void *op, const lw_op_context *context, void **acc,
                              lw_error *err)
{
    (void)context;
    (void)err;
    *acc = *(witness *const *)op;
    return LW_OK;
}

static lw_status watch_push(void *acc, lw_record *rec, lw_sink *out, lw_error *err)
{
    witness *w = acc;
    size_t count;
    size_t used = strlen(w->text);
    const int32_t *tokens = lw_document_tokens(rec, &count);
    assert_true(used + count + 3 < RIG_TEXT);
    w->text[used++] = (char)('A' + lw_document_source(rec));
    for (size_t i = 0; i < count; i++) {
        w->text[used++] = (char)tokens[i];
    }
    memcpy(w->text + used, " ", 2);
    return lw_sink_put(out, rec, err);
}

static void watch_destroy(void *acc)
{
    (void)acc; /* the test's */
}

static const lw_op_type watch = {.struct_size = sizeof watch,
                                 .name = "watch",
                                 .version = 1,
                                 .phase = LW_PHASE_DOCUMENT,
                                 .acc_create = watch_create,
                                 .acc_push = watch_push,
                                 .acc_destroy = watch_destroy};

static witness seen;
static witness *const seen_at = &seen;

static void open_watched(rig *r)
{
    seen.text[0] = 0;
    rig_operator(r, &watch, &seen_at);
    rig_operator(r, &lw__op_wrap, NULL);
    rig_open(r, 0, 1);
    for (size_t i = 0; i < r->settings.source_count; i++) {
        lw__stream_want(&r->lane->streams[i]);
    }
}

/* Draws until no document comes, reading whenever the lane has to wait; how it ended. */
static lw__outcome draw_all(rig *r, lw_error *err)
{
    lw__outcome drawn = LW__DRAWN;
    while (drawn == LW__DRAWN || (drawn == LW__MUST_WAIT && rig_turn(r, LW__READ))) {
        drawn = lw__lane_draw(r->lane, err);
    }
    return drawn;
}

static void must_end(rig *r)
{
    lw_error err = {0};
    lw__outcome drawn = draw_all(r, &err);
    if (drawn != LW__HAS_ENDED) {
        fail_msg("%d: %s", drawn, err.message);
    }
}

static void test_draw__documents_come_in_order_and_empty_ones_are_passed_over(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("x") RIG_LINE("") RIG_LINE("yy") RIG_LINE("") RIG_LINE("zzzzz"), 1,
               15);
    open_watched(&r);
    must_end(&r);
    assert_string_equal(seen.text, "Ax Ayy Azzzzz ");
    assert_int_equal(r.lane->documents, 3);
    assert_int_equal(r.lane->empty, 2);
    assert_int_equal(r.lane->dropped, 0);
    rig_close(&r);
}

static void test_draw__with_the_document_shift_one_token_is_no_document(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    r.settings.shift = LW__SHIFT_DOCUMENT;
    rig_source(&r, "a", RIG_LINE("x") RIG_LINE("yy") RIG_LINE("z"), 1, 4096);
    open_watched(&r);
    must_end(&r);
    assert_string_equal(seen.text, "Ayy ");
    assert_int_equal(r.lane->empty, 2);
    assert_int_equal(r.lane->mixture.total, 0); /* all has ended: counted anew */
    rig_close(&r);
}

static void check_overflow(lw__overflow overflow, lw__shift shift, const char *drawn,
                           uint64_t dropped, uint64_t lost)
{
    rig r;
    rig_init(&r);
    r.settings.overflow = overflow;
    r.settings.shift = shift;
    rig_source(&r, "a", RIG_LINE("abcd") RIG_LINE("abcdefg") RIG_LINE("abcde"), 1, 4096);
    open_watched(&r);
    must_end(&r);
    assert_string_equal(seen.text, drawn);
    assert_int_equal(r.lane->dropped, dropped);
    assert_int_equal(r.lane->truncated_tokens, lost);
    rig_close(&r);
}

/* The context is 4; with the document shift a document of five tokens has four inputs. */
static void test_draw__documents_longer_than_a_row(void **state)
{
    (void)state;
    check_overflow(LW__OVERFLOW_SPLIT, LW__SHIFT_STREAM, "Aabcd Aabcdefg Aabcde ", 0, 0);
    check_overflow(LW__OVERFLOW_TRUNCATE, LW__SHIFT_STREAM, "Aabcd Aabcd Aabcd ", 0, 4);
    check_overflow(LW__OVERFLOW_DROP, LW__SHIFT_STREAM, "Aabcd ", 2, 12);
    check_overflow(LW__OVERFLOW_SPLIT, LW__SHIFT_DOCUMENT, "Aabcd Aabcdefg Aabcde ", 0, 0);
    check_overflow(LW__OVERFLOW_TRUNCATE, LW__SHIFT_DOCUMENT, "Aabcd Aabcde Aabcde ", 0, 2);
    check_overflow(LW__OVERFLOW_DROP, LW__SHIFT_DOCUMENT, "Aabcd Aabcde ", 1, 6);
}

/* The worked numbers of docs/stream.md, section 10. */
static void test_draw__the_mixer_draws_as_the_page_says(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("aaaa") RIG_LINE("aaaa") RIG_LINE("aaaa") RIG_LINE("aaaa"), 5,
               4096);
    rig_source(&r, "b",
               RIG_LINE("b") RIG_LINE("bb") RIG_LINE("bbb") RIG_LINE("bbbb") RIG_LINE("bbbbb")
                   RIG_LINE("bbbbbb"),
               3, 4096);
    rig_source(&r, "c", RIG_LINE("cccccccccc") RIG_LINE("c"), 2, 4096);
    open_watched(&r);
    must_end(&r);
    assert_string_equal(seen.text, "Bb Aaaaa Bbb Ccccccccccc Aaaaa Bbbb Aaaaa Aaaaa Cc Bbbbb "
                                   "Bbbbbb Bbbbbbb ");
    rig_close(&r);
}

static void test_draw__by_documents_lengths_do_not_count(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    r.settings.unit = LW__UNIT_DOCUMENTS;
    rig_source(&r, "a", RIG_LINE("aaaa") RIG_LINE("aaaa"), 1, 4096);
    rig_source(&r, "b", RIG_LINE("b") RIG_LINE("b"), 1, 4096);
    open_watched(&r);
    must_end(&r);
    assert_string_equal(seen.text, "Aaaaa Bb Aaaaa Bb ");
    rig_close(&r);
}

/* Of every text the first x is learnt, and those right behind it. */
static lw_status learn_x(const void *op, lw_record *const *group, size_t count, lw_sink *out,
                         lw_error *err)
{
    (void)op;
    lw_status status = LW_OK;
    for (size_t i = 0; i < count && status == LW_OK; i++) {
        lw_str text = lw_document_text(group[i]);
        const char *x = memchr(text.data, 'x', text.bytes);
        uint64_t first = x != NULL ? (uint64_t)(x - text.data) : text.bytes;
        lw_text_span span = {.first = first, .end = first};
        while (span.end < text.bytes && text.data[span.end] == 'x') {
            span.end++;
        }
        status = lw_document_supervise(group[i], &span, 1, err);
        status = status == LW_OK ? lw_sink_put(out, group[i], err) : status;
    }
    return status;
}

static const lw_op_type learning = {.struct_size = sizeof learning,
                                    .name = "learn_x",
                                    .version = 1,
                                    .phase = LW_PHASE_DOCUMENT,
                                    .work = learn_x};

static void test_draw__by_what_is_learnt_of_a_document(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    r.settings.unit = LW__UNIT_SUPERVISED;
    r.operators[r.operator_count++] = (lw__operator){&learning, NULL};
    rig_source(&r, "a", RIG_LINE("qqxqqq") RIG_LINE("xqqqqq") RIG_LINE("qqqqqx"), 1, 4096);
    rig_source(&r, "b", RIG_LINE("xxx") RIG_LINE("qq"), 1, 4096);
    open_watched(&r);
    must_end(&r);
    assert_string_equal(seen.text, "Aqqxqqq Bxxx Axqqqqq Aqqqqqx Bqq ");
    rig_close(&r);
}

static void test_draw__a_document_of_which_nothing_is_learnt_costs_one(void **state)
{
    (void)state;
    rig r;
    rig_init(&r);
    r.settings.unit = LW__UNIT_SUPERVISED;
    r.operators[r.operator_count++] = (lw__operator){&learning, NULL};
    rig_source(&r, "a", RIG_LINE("qqq") RIG_LINE("qqq") RIG_LINE("qqq"), 1, 4096);
    rig_source(&r, "b", RIG_LINE("x") RIG_LINE("x"), 1, 4096);
    open_watched(&r);
    must_end(&r);
    assert_string_equal(seen.text, "Aqqq Bx Aqqq Bx Aqqq ");
    rig_close(&r);
}

/* Whatever is ready when, the draws are the same: one that has to wait leaves no trace. */
static void test_draw__a_wait_changes_nothing(void **state)
{
    (void)state;
    rig r;
    lw_error err = {0};
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("aa") RIG_LINE("aa") RIG_LINE("aa"), 1, 15);
    rig_source(&r, "b", RIG_LINE("bb") RIG_LINE("bb") RIG_LINE("bb"), 1, 15);
    open_watched(&r);
    assert_true(rig_turn(&r, LW__READ)); /* a is there, b is not */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lw__lane_draw(r.lane, &err), LW__MUST_WAIT);
    }
    assert_string_equal(seen.text, "");
    assert_int_equal(r.lane->mixture.total, 0);
    assert_int_equal(r.lane->streams[0].position.index, 0);
    assert_true(r.lane->streams[1].waited);
    must_end(&r);
    assert_string_equal(seen.text, "Aaa Bbb Aaa Bbb Aaa Bbb ");
    rig_close(&r);
}

#define BAD                                                                                        \
    RIG_LINE("a")                                                                                  \
    "none\n" RIG_LINE("b") "none\n"                                                                \
                           "none\n" RIG_LINE("c")

static void open_bad(rig *r, lw__policy policy, uint64_t limit)
{
    rig_init(r);
    r->settings.policy = policy;
    r->settings.bad_limit = limit;
    rig_source(r, "bad", BAD, 1, 4096);
    open_watched(r);
}

static void check_bad(lw__policy policy, uint64_t limit, const char *drawn, uint64_t skipped,
                      const char *record)
{
    rig r;
    lw_error err = {0};
    open_bad(&r, policy, limit);
    assert_int_equal(draw_all(&r, &err), LW__HAS_FAILED);
    assert_string_equal(seen.text, drawn);
    assert_int_equal(r.lane->skipped, skipped);
    assert_int_equal(err.status, LW_E_CORRUPT);
    assert_non_null(strstr(err.message, "bad.jsonl"));
    assert_non_null(strstr(err.message, record));
    rig_close(&r);
}

static void test_draw__a_bad_record_fails_after_all_before_it(void **state)
{
    (void)state;
    check_bad(LW__POLICY_FAIL, 0, "Aa ", 0, "record 1 ");
}

static void test_draw__bad_records_are_passed_over_up_to_the_limit(void **state)
{
    (void)state;
    rig r;
    check_bad(LW__POLICY_SKIP, 1, "Aa Ab ", 1, "record 3 ");
    check_bad(LW__POLICY_SKIP, 2, "Aa Ab ", 2, "record 4 ");
    for (uint64_t limit = 0; limit <= 3; limit += 3) {
        open_bad(&r, LW__POLICY_SKIP, limit);
        must_end(&r);
        assert_string_equal(seen.text, "Aa Ab Ac ");
        assert_int_equal(r.lane->skipped, 3);
        rig_close(&r);
    }
}

/* Those that a run passed over before its state was saved count too. */
static void test_draw__the_limit_is_of_the_whole_run(void **state)
{
    (void)state;
    rig r;
    lw_error err = {0};
    open_bad(&r, LW__POLICY_SKIP, 3);
    r.lane->streams[0].position.skipped = 2;
    assert_int_equal(draw_all(&r, &err), LW__HAS_FAILED);
    assert_string_equal(seen.text, "Aa Ab ");
    assert_int_equal(r.lane->skipped, 1);
    rig_close(&r);
}

static void test_draw__a_source_without_documents_fails_instead_of_looping(void **state)
{
    (void)state;
    rig r;
    lw_error err = {0};
    rig_init(&r);
    r.settings.end = LW__END_REPEAT;
    rig_source(&r, "hollow", RIG_LINE("") "\n" RIG_LINE(""), 1, 15);
    open_watched(&r);
    assert_int_equal(draw_all(&r, &err), LW__HAS_FAILED);
    assert_string_equal(err.message, "source: \"hollow\" has no documents, expected at least one");
    rig_close(&r);
}

static void test_draw__other_bytes_than_when_the_state_was_saved_are_refused(void **state)
{
    (void)state;
    rig r;
    lw_error err = {0};
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("ab") RIG_LINE("cd"), 1, 4096);
    open_watched(&r);
    r.lane->streams[0].position = (lw__position){.index = 1, .check = 4711};
    assert_int_equal(draw_all(&r, &err), LW__HAS_FAILED);
    assert_int_equal(err.status, LW_E_MISMATCH);
    assert_non_null(strstr(err.message, "a.jsonl\" block 0 has other bytes than"));
    assert_string_equal(seen.text, "");
    rig_close(&r);
}

static void test_draw__a_position_beyond_the_part_is_refused(void **state)
{
    (void)state;
    rig r;
    lw_error err = {0};
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("ab") RIG_LINE("cd"), 1, 4096);
    open_watched(&r);
    r.lane->streams[0].position.index = 3;
    assert_int_equal(draw_all(&r, &err), LW__HAS_FAILED);
    assert_int_equal(err.status, LW_E_MISMATCH);
    rig_close(&r);
}

static void test_draw__a_part_that_failed_is_met_after_the_documents_before_it(void **state)
{
    (void)state;
    rig r;
    lw_error err = {0};
    rig_init(&r);
    rig_source(&r, "a", RIG_LINE("ab") RIG_LINE("cd") RIG_LINE("ef"), 1, 15);
    open_watched(&r);
    assert_true(rig_turn(&r, LW__READ));
    assert_int_equal(truncate(scratch_path("a.jsonl"), 31), 0);
    assert_int_equal(draw_all(&r, &err), LW__HAS_FAILED);
    assert_string_equal(seen.text, "Aab Acd ");
    assert_non_null(strstr(err.message, "a.jsonl"));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draw__documents_come_in_order_and_empty_ones_are_passed_over),
        cmocka_unit_test(test_draw__with_the_document_shift_one_token_is_no_document),
        cmocka_unit_test(test_draw__documents_longer_than_a_row),
        cmocka_unit_test(test_draw__the_mixer_draws_as_the_page_says),
        cmocka_unit_test(test_draw__by_documents_lengths_do_not_count),
        cmocka_unit_test(test_draw__by_what_is_learnt_of_a_document),
        cmocka_unit_test(test_draw__a_document_of_which_nothing_is_learnt_costs_one),
        cmocka_unit_test(test_draw__a_wait_changes_nothing),
        cmocka_unit_test(test_draw__a_bad_record_fails_after_all_before_it),
        cmocka_unit_test(test_draw__bad_records_are_passed_over_up_to_the_limit),
        cmocka_unit_test(test_draw__the_limit_is_of_the_whole_run),
        cmocka_unit_test(test_draw__a_source_without_documents_fails_instead_of_looping),
        cmocka_unit_test(test_draw__other_bytes_than_when_the_state_was_saved_are_refused),
        cmocka_unit_test(test_draw__a_position_beyond_the_part_is_refused),
        cmocka_unit_test(test_draw__a_part_that_failed_is_met_after_the_documents_before_it),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
