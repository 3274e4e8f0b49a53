/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The .model files of SentencePiece: one protocol buffer, read here without that library. A field
 * is a varint of its number and its form, then a varint, 4 or 8 bytes, or a byte count and bytes.
 *
 * What a file does not say has the value that the format gives it. Fields that have no effect on
 * encoding are passed over; cut short anywhere, the file is refused with the byte.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "tokenize/vocab.h"

enum { FORM_VARINT = 0, FORM_8_BYTES = 1, FORM_BYTES = 2, FORM_4_BYTES = 5 };

enum { MODEL_UNIGRAM = 1, MODEL_BPE = 2 };

typedef struct field {
    uint64_t number;
    unsigned form;
    uint64_t value; /* of a varint, 4 or 8 bytes */
    lw_str bytes;
} field;

/* The file, and what it said beside the pieces. */
typedef struct model {
    lw__vocab *vocab;
    const unsigned char *begin;
    uint64_t type;
    uint64_t suffix; /* treat_whitespace_as_suffix */
    uint64_t prefix; /* add_dummy_prefix */
    bool has_trainer;
    bool has_normalizer;
    lw_str bos;
    lw_str eos;
    lw_str surface; /* unk_surface */
    bool is_denormalized;
} model;

static lw_status corrupt(const model *file, const unsigned char *at, const char *what,
                         lw_error *err)
{
    lw__place place = {
        .path = file->vocab->path, .unit = "byte", .at = (uint64_t)(at - file->begin)};
    return lw__vocab_fail(err, LW_E_CORRUPT, &place, "%s, expected a SentencePiece model", what);
}

static uint64_t little_endian(lw__reader *reader, size_t bytes)
{
    return bytes == 4 ? lw__reader_u32le(reader) : lw__reader_u64le(reader);
}

static lw_status read_field(const model *file, lw__reader *reader, field *out, lw_error *err)
{
    const unsigned char *start = reader->at;
    uint64_t tag = lw__reader_varint(reader);
    *out = (field){.number = tag >> 3, .form = (unsigned)(tag & 7)};
    switch (out->form) {
    case FORM_VARINT:
        out->value = lw__reader_varint(reader);
        break;
    case FORM_BYTES:
        out->bytes = lw__reader_text(reader);
        break;
    case FORM_4_BYTES:
    case FORM_8_BYTES:
        out->value = little_endian(reader, out->form == FORM_4_BYTES ? 4 : 8);
        break;
    default:
        return corrupt(file, start, "a field of unknown form", err);
    }
    if (reader->failed) {
        return corrupt(file, start, "a field that is cut short", err);
    }
    return out->number != 0 ? LW_OK : corrupt(file, start, "a field without a number", err);
}

/* Calls `use` for each field of a message. */
static lw_status read_message(model *file, lw_str bytes, void *into,
                              lw_status (*use)(model *, const field *, void *, lw_error *),
                              lw_error *err)
{
    lw__reader reader = lw__reader_of(bytes.data, bytes.bytes);
    while (reader.at < reader.end) {
        field found;
        LW__TRY(read_field(file, &reader, &found, err));
        LW__TRY(use(file, &found, into, err));
    }
    return LW_OK;
}

/* A known field in another form than its own would be passed over by the reference. */
static lw_status check_form(const model *file, const field *found, unsigned form, const char *name,
                            lw_error *err)
{
    lw__place place = {.path = file->vocab->path};
    return found->form == form
               ? LW_OK
               : lw__vocab_fail(err, LW_E_CORRUPT, &place, "%s has form %u, expected %u", name,
                                found->form, form);
}

/* ---- pieces ---- */

typedef struct item {
    lw_str text;
    float score;
    uint64_t kind;
} item;

static lw_status use_piece_field(model *file, const field *found, void *into, lw_error *err)
{
    item *piece = into;
    if (found->number == 1) {
        LW__TRY(check_form(file, found, FORM_BYTES, "pieces.piece", err));
        piece->text = found->bytes;
    } else if (found->number == 2) {
        LW__TRY(check_form(file, found, FORM_4_BYTES, "pieces.score", err));
        uint32_t bits = (uint32_t)found->value;
        memcpy(&piece->score, &bits, sizeof bits);
    } else if (found->number == 3) {
        LW__TRY(check_form(file, found, FORM_VARINT, "pieces.type", err));
        piece->kind = found->value;
    }
    return LW_OK;
}

static lw_status check_piece(const model *file, const item *piece, const lw__place *place,
                             lw_error *err)
{
    const lw__piece_rules *rules = &file->vocab->pieces;
    if (piece->text.bytes == 0) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "an empty text, expected a piece");
    }
    if (lw__utf8_check(piece->text.data, piece->text.bytes) < piece->text.bytes) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "a text that is not UTF-8, expected UTF-8");
    }
    if (!isfinite(piece->score)) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place,
                              "\"%.*s\" has a score that is no number, expected a number",
                              lw__vocab_shown(piece->text), piece->text.data);
    }
    if (piece->kind < LW__PIECE_NORMAL || piece->kind > LW__PIECE_BYTE ||
        piece->kind == LW__PIECE_UNUSED) {
        return lw__vocab_fail(err, LW_E_UNSUPPORTED, place,
                              "\"%.*s\" is of type %llu, expected a normal, unknown, control, "
                              "user-defined or byte piece",
                              lw__vocab_shown(piece->text), piece->text.data,
                              (unsigned long long)piece->kind);
    }
    if (piece->kind == LW__PIECE_UNKNOWN && rules->unknown >= 0) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "a second unknown piece, expected one");
    }
    if (piece->kind == LW__PIECE_BYTE && lw__piece_byte(piece->text) < 0) {
        return lw__vocab_fail(err, LW_E_CORRUPT, place, "byte piece \"%.*s\", expected <0xHH>",
                              lw__vocab_shown(piece->text), piece->text.data);
    }
    return LW_OK;
}

static lw_status use_piece(model *file, lw_str bytes, lw_error *err)
{
    lw__vocab *vocab = file->vocab;
    int32_t id = (int32_t)vocab->limit;
    lw__place place = {.path = vocab->path, .unit = "piece", .at = (uint64_t)id};
    item piece = {.text = {.data = "", .bytes = 0}, .kind = LW__PIECE_NORMAL};
    LW__TRY(read_message(file, bytes, &piece, use_piece_field, err));
    LW__TRY(check_piece(file, &piece, &place, err));
    LW__TRY(lw__vocab_put(vocab, id, piece.text, &place, err));
    lw__piece stored = {.score = (double)piece.score, .kind = (uint32_t)piece.kind};
    LW__TRY(lw__piece_rules_put(&vocab->pieces, id, stored, err));
    if (piece.kind == LW__PIECE_UNKNOWN) {
        vocab->pieces.unknown = id;
    }
    if (piece.kind == LW__PIECE_UNKNOWN || piece.kind == LW__PIECE_CONTROL) {
        lw__added added = {.id = id, .special = true};
        return lw__vocab_put_added(vocab, &added, err);
    }
    return LW_OK;
}

/* ---- the trainer's and the normalizer's settings ---- */

static lw_status use_trainer_field(model *file, const field *found, void *into, lw_error *err)
{
    static const struct {
        unsigned number;
        const char *name;
    } known[] = {{3, "trainer_spec.model_type"},
                 {24, "trainer_spec.treat_whitespace_as_suffix"},
                 {35, "trainer_spec.byte_fallback"}};

    (void)into;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (found->number == known[i].number) {
            LW__TRY(check_form(file, found, FORM_VARINT, known[i].name, err));
        }
    }
    switch (found->number) {
    case 3:
        file->type = found->value;
        break;
    case 24:
        file->suffix = found->value;
        break;
    case 35:
        file->vocab->pieces.byte_fallback = found->value != 0;
        break;
    case 44:
        file->surface = found->bytes;
        break;
    case 46:
        file->bos = found->bytes;
        break;
    case 47:
        file->eos = found->bytes;
        break;
    default:
        break;
    }
    return LW_OK;
}

static lw_status use_normalizer_field(model *file, const field *found, void *into, lw_error *err)
{
    lw__piece_rules *rules = &file->vocab->pieces;
    (void)into;
    if (found->number == 2) {
        LW__TRY(check_form(file, found, FORM_BYTES, "normalizer_spec.precompiled_charsmap", err));
        lw__bytes_reset(&rules->charsmap);
        lw__bytes_put(&rules->charsmap, found->bytes.data, found->bytes.bytes);
        return rules->charsmap.failed ? lw__fail_nomem(err, found->bytes.bytes, "a character map")
                                      : LW_OK;
    }
    if (found->number < 3 || found->number > 5) {
        return LW_OK;
    }
    LW__TRY(check_form(file, found, FORM_VARINT, "normalizer_spec: a switch", err));
    if (found->number == 3) {
        file->prefix = found->value;
    } else if (found->number == 4) {
        rules->collapsed = found->value != 0;
    } else {
        rules->escaped = found->value != 0;
    }
    return LW_OK;
}

static lw_status use_denormalizer_field(model *file, const field *found, void *into, lw_error *err)
{
    (void)into;
    (void)err;
    if (found->number == 2) {
        file->is_denormalized = found->bytes.bytes > 0;
    }
    return LW_OK;
}

static lw_status use_top_field(model *file, const field *found, void *into, lw_error *err)
{
    if (found->number == 5 && found->form == FORM_BYTES) {
        return read_message(file, found->bytes, into, use_denormalizer_field, err);
    }
    if (found->number < 1 || found->number > 3) {
        return LW_OK;
    }
    LW__TRY(check_form(file, found, FORM_BYTES, "a part of the model", err));
    if (found->number == 1) {
        return use_piece(file, found->bytes, err);
    }
    file->has_trainer = file->has_trainer || found->number == 2;
    file->has_normalizer = file->has_normalizer || found->number == 3;
    return read_message(file, found->bytes, into,
                        found->number == 2 ? use_trainer_field : use_normalizer_field, err);
}

static lw_status refuse(const model *file, const char *what, lw_error *err)
{
    lw__place place = {.path = file->vocab->path};
    return lw__vocab_fail(err, LW_E_UNSUPPORTED, &place, "%s", what);
}

static lw_status set_decoding(const model *file, lw_error *err)
{
    lw__decode_rules *rules = &file->vocab->decode;
    bool collapsed = file->vocab->pieces.collapsed;
    rules->pieces = true;
    rules->spaces = true;
    rules->bytes = true;
    rules->hidden = true;
    if (collapsed) {
        rules->strip = LW__STRIP_PIECES;
    } else if (file->prefix != 0) {
        rules->strip = LW__STRIP_FIRST_PIECE;
    }
    if (file->is_denormalized) {
        (void)snprintf(rules->refused, sizeof rules->refused, "denormalizer_spec");
    }
    lw__bytes_put(&rules->surface, file->surface.data, file->surface.bytes);
    return rules->surface.failed ? lw__fail_nomem(err, file->surface.bytes, "a surface") : LW_OK;
}

static lw_status finish(model *file, lw_error *err)
{
    lw__vocab *vocab = file->vocab;
    lw__piece_rules *rules = &vocab->pieces;
    if (!file->has_trainer || !file->has_normalizer) {
        return refuse(file,
                      file->has_trainer ? "no normalizer_spec, expected one"
                                        : "no trainer_spec, expected one",
                      err);
    }
    if (file->type != MODEL_UNIGRAM && file->type != MODEL_BPE) {
        return refuse(file, "trainer_spec.model_type is word or char, expected unigram or bpe",
                      err);
    }
    if (file->suffix != 0) {
        return refuse(file, "trainer_spec.treat_whitespace_as_suffix is true, expected false", err);
    }
    for (int32_t id = 0; (size_t)id < rules->count && !rules->byte_fallback; id++) {
        if (lw__piece_rules_kind(rules, id) == LW__PIECE_BYTE) {
            return refuse(file, "byte pieces without byte_fallback, expected none", err);
        }
    }
    rules->unigram = file->type == MODEL_UNIGRAM;
    rules->prefix = file->prefix != 0 ? LW__PREFIX_ALWAYS : LW__PREFIX_NEVER;
    rules->bos = lw__vocab_find_added(vocab, file->bos);
    rules->eos = lw__vocab_find_added(vocab, file->eos);
    return set_decoding(file, err);
}

lw_status lw__load_sentencepiece(lw__vocab *vocab, lw_error *err)
{
    lw__bytes bytes;
    model file = {.vocab = vocab,
                  .type = MODEL_UNIGRAM,
                  .prefix = 1,
                  .bos = {.data = "<s>", .bytes = 3},
                  .eos = {.data = "</s>", .bytes = 4},
                  .surface = {.data = " \xE2\x81\x87 ", .bytes = 5}};
    lw__bytes_init(&bytes);
    lw_status status = lw__vocab_read(vocab->path, &bytes, err);
    vocab->pieces.used = true;
    vocab->pieces.scored = true;
    vocab->pieces.fused = true;
    vocab->pieces.escaped = true;
    vocab->pieces.collapsed = true;
    vocab->pieces.unknown = -1;
    file.begin = bytes.data;
    if (status == LW_OK) {
        lw_str all = {.data = (const char *)bytes.data, .bytes = bytes.count};
        status = read_message(&file, all, NULL, use_top_field, err);
    }
    status = status == LW_OK ? finish(&file, err) : status;
    lw__bytes_reset(&bytes);
    return status;
}
