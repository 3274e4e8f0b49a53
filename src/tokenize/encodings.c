/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of known encodings. Ids are those that the models' own programs give: fixed ones where
 * they are fixed there, else in a row behind the ranks.
 */
#include "tokenize/encodings.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define NEXT LW__SPECIAL_NEXT

static const lw__special gpt2_specials[] = {
    {"<|endoftext|>", 50256, 0, 0},
    {NULL, 0, 0, 0},
};
static const lw__special cl100k_specials[] = {
    {"<|endoftext|>", 100257, 0, 0},   {"<|fim_prefix|>", 100258, 0, 0},
    {"<|fim_middle|>", 100259, 0, 0},  {"<|fim_suffix|>", 100260, 0, 0},
    {"<|endofprompt|>", 100276, 0, 0}, {NULL, 0, 0, 0},
};
static const lw__special o200k_specials[] = {
    {"<|endoftext|>", 199999, 0, 0},
    {"<|endofprompt|>", 200018, 0, 0},
    {NULL, 0, 0, 0},
};
/* 200018 is <|reserved_200018|> too; a token has one text here. */
static const lw__special harmony_specials[] = {
    {"<|startoftext|>", 199998, 0, 0},
    {"<|endoftext|>", NEXT, 0, 0},
    {"<|reserved_", NEXT, 200000, 2},
    {"<|return|>", NEXT, 0, 0},
    {"<|constrain|>", NEXT, 0, 0},
    {"<|reserved_", NEXT, 200004, 1},
    {"<|channel|>", NEXT, 0, 0},
    {"<|start|>", NEXT, 0, 0},
    {"<|end|>", NEXT, 0, 0},
    {"<|message|>", NEXT, 0, 0},
    {"<|reserved_", NEXT, 200009, 3},
    {"<|call|>", NEXT, 0, 0},
    {"<|reserved_", NEXT, 200013, 5},
    {"<|endofprompt|>", NEXT, 0, 0},
    {"<|reserved_", NEXT, 200019, 1069},
    {NULL, 0, 0, 0},
};
static const lw__special llama3_specials[] = {
    {"<|begin_of_text|>", NEXT, 0, 0},
    {"<|end_of_text|>", NEXT, 0, 0},
    {"<|reserved_special_token_", NEXT, 0, 2},
    {"<|finetune_right_pad_id|>", NEXT, 0, 0},
    {"<|step_id|>", NEXT, 0, 0},
    {"<|start_header_id|>", NEXT, 0, 0},
    {"<|end_header_id|>", NEXT, 0, 0},
    {"<|eom_id|>", NEXT, 0, 0},
    {"<|eot_id|>", NEXT, 0, 0},
    {"<|python_tag|>", NEXT, 0, 0},
    {"<|image|>", NEXT, 0, 0},
    {"<|reserved_special_token_", NEXT, 2, 244},
    {NULL, 0, 0, 0},
};
static const lw__special llama4_specials[] = {
    {"<|begin_of_text|>", NEXT, 0, 0},
    {"<|end_of_text|>", NEXT, 0, 0},
    {"<|fim_prefix|>", NEXT, 0, 0},
    {"<|fim_middle|>", NEXT, 0, 0},
    {"<|fim_suffix|>", NEXT, 0, 0},
    {"<|header_start|>", NEXT, 0, 0},
    {"<|header_end|>", NEXT, 0, 0},
    {"<|eom|>", NEXT, 0, 0},
    {"<|eot|>", NEXT, 0, 0},
    {"<|step|>", NEXT, 0, 0},
    {"<|text_post_train_reserved_special_token_", NEXT, 0, 6},
    {"<|python_start|>", NEXT, 0, 0},
    {"<|python_end|>", NEXT, 0, 0},
    {"<|finetune_right_pad|>", NEXT, 0, 0},
    {"<|text_post_train_reserved_special_token_", NEXT, 8, 61},
    {"<|image_start|>", NEXT, 0, 0},
    {"<|image_end|>", NEXT, 0, 0},
    {"<|vision_reserved_special_token_", NEXT, 0, 2},
    {"<|tile_x_separator|>", NEXT, 0, 0},
    {"<|tile_y_separator|>", NEXT, 0, 0},
    {"<|vision_reserved_special_token_", NEXT, 2, 4},
    {"<|image|>", NEXT, 0, 0},
    {"<|vision_reserved_special_token_", NEXT, 6, 1},
    {"<|patch|>", NEXT, 0, 0},
    {"<|vision_reserved_special_token_", NEXT, 7, 1041},
    {"<|reasoning_reserved_special_token_", NEXT, 0, 8},
    {"<|reasoning_thinking_start|>", NEXT, 0, 0},
    {"<|reasoning_thinking_end|>", NEXT, 0, 0},
    {"<|reserved_special_token_", NEXT, 0, 904},
    {NULL, 0, 0, 0},
};
static const lw__special qwen_specials[] = {
    {"<|endoftext|>", NEXT, 0, 0},
    {"<|im_start|>", NEXT, 0, 0},
    {"<|im_end|>", NEXT, 0, 0},
    {"<|extra_", NEXT, 0, 205},
    {NULL, 0, 0, 0},
};
static const lw__special qwen3_6_specials[] = {
    {"<|endoftext|>", NEXT, 0, 0},
    {"<|im_start|>", NEXT, 0, 0},
    {"<|im_end|>", NEXT, 0, 0},
    {"<|object_ref_start|>", NEXT, 0, 0},
    {"<|object_ref_end|>", NEXT, 0, 0},
    {"<|box_start|>", NEXT, 0, 0},
    {"<|box_end|>", NEXT, 0, 0},
    {"<|quad_start|>", NEXT, 0, 0},
    {"<|quad_end|>", NEXT, 0, 0},
    {"<|vision_start|>", NEXT, 0, 0},
    {"<|vision_end|>", NEXT, 0, 0},
    {"<|vision_pad|>", NEXT, 0, 0},
    {"<|image_pad|>", NEXT, 0, 0},
    {"<|video_pad|>", NEXT, 0, 0},
    {"<tool_call>", NEXT, 0, 0},
    {"</tool_call>", NEXT, 0, 0},
    {"<|fim_prefix|>", NEXT, 0, 0},
    {"<|fim_middle|>", NEXT, 0, 0},
    {"<|fim_suffix|>", NEXT, 0, 0},
    {"<|fim_pad|>", NEXT, 0, 0},
    {"<|repo_name|>", NEXT, 0, 0},
    {"<|file_sep|>", NEXT, 0, 0},
    {"<tool_response>", NEXT, 0, 0},
    {"</tool_response>", NEXT, 0, 0},
    {"<think>", NEXT, 0, 0},
    {"</think>", NEXT, 0, 0},
    {"<|audio_start|>", NEXT, 0, 0},
    {"<|audio_end|>", NEXT, 0, 0},
    {"<tts_pad>", NEXT, 0, 0},
    {"<tts_text_bos>", NEXT, 0, 0},
    {"<tts_text_eod>", NEXT, 0, 0},
    {"<tts_text_bos_single>", NEXT, 0, 0},
    {"<|audio_pad|>", NEXT, 0, 0},
    {NULL, 0, 0, 0},
};

static const lw__encoding encodings[] = {
    {"gpt2.tiktoken", "gpt2", gpt2_specials, false},
    {"r50k_base.tiktoken", "gpt2", gpt2_specials, false},
    {"p50k_base.tiktoken", "gpt2", gpt2_specials, false},
    {"cl100k_base.tiktoken", "cl100k", cl100k_specials, false},
    {"o200k_base.tiktoken", "o200k", o200k_specials, false},
    {"o200k_harmony.tiktoken", "o200k", harmony_specials, false},
    {"llama3.tokenizer.model", "llama3", llama3_specials, true},
    {"llama4.tokenizer.model", "llama4", llama4_specials, true},
    {"qwen.tiktoken", "qwen", qwen_specials, true},
    {"qwen3_6.tiktoken", "qwen3_6", qwen3_6_specials, true},
};

#define ENCODINGS (sizeof encodings / sizeof encodings[0])

const lw__encoding *lw__encoding_of_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1;
    for (size_t i = 0; i < ENCODINGS; i++) {
        if (strcmp(file, encodings[i].file) == 0) {
            return &encodings[i];
        }
    }
    return NULL;
}

const lw__encoding *lw__encoding_of_pattern(const char *pattern)
{
    for (size_t i = 0; i < ENCODINGS; i++) {
        if (encodings[i].of_pattern && strcmp(pattern, encodings[i].pattern) == 0) {
            return &encodings[i];
        }
    }
    return NULL;
}

static lw_status put_special(lw__vocab *vocab, int64_t id, const char *text, lw_error *err)
{
    lw__place place = {.path = vocab->path};
    lw_str content = {.data = text, .bytes = strlen(text)};
    lw__added added = {.id = (int32_t)id, .special = true};
    LW__TRY(lw__vocab_put_aside(vocab, id, content, &place, err));
    return lw__vocab_put_added(vocab, &added, err);
}

static lw_status put_numbered(lw__vocab *vocab, int64_t id, const lw__special *special,
                              lw_error *err)
{
    for (uint32_t i = 0; i < special->count; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s%u|>", special->text, special->number + i);
        LW__TRY(put_special(vocab, id + i, text, err));
    }
    return LW_OK;
}

lw_status lw__encoding_put_specials(lw__vocab *vocab, const lw__encoding *encoding, lw_error *err)
{
    for (const lw__special *s = encoding->specials; s->text != NULL; s++) {
        int64_t id = s->id == LW__SPECIAL_NEXT ? (int64_t)vocab->limit : s->id;
        LW__TRY(s->count == 0 ? put_special(vocab, id, s->text, err)
                              : put_numbered(vocab, id, s, err));
    }
    return LW_OK;
}
