# SPDX-License-Identifier: Apache-2.0
"""Conversations into packed rows of which only the assistant's words are learnt; then the same from a state.

usage: chat_sft.py [CHATS.jsonl [TOKENIZER]]

A line of the file is a record with "messages". A tokenizer of one's own has its chat template beside it; the sample's
has none, so there is one here. Needs jinja2: pip install 'laneway[chat]'.
"""
import json
import pathlib
import sys
import tempfile

import laneway
from laneway import Dataset, Pipeline, StaticMixtureWorkSource

SAMPLE = pathlib.Path(__file__).resolve().parents[1] / "data" / "tokenizer.json"
TEMPLATE = """{% for message in messages %}
{{- '## ' + message.role + '\\n' }}
{%- if message.role == 'assistant' %}
    {%- generation %}{{ message.content + '\\n\\n' }}{% endgeneration %}
{%- else %}
    {{- message.content + '\\n\\n' }}
{%- endif %}
{%- endfor %}"""
BATCHES = 4  # two a step


def write_chats(path: pathlib.Path) -> None:
    """Small sums, one of them answered wrong at first: that turn is seen, and not learnt."""
    with path.open("w", encoding="utf-8") as out:
        for number in range(400):
            messages: list[dict[str, object]] = [
                {"role": "system", "content": "You add numbers."},
                {"role": "user", "content": f"What is {number} plus {number + 7}?"},
                {"role": "assistant", "content": "I do not know.", "train": False},
                {"role": "user", "content": "Try again."},
                {"role": "assistant", "content": f"It is {2 * number + 7}."}]
            out.write(json.dumps({"messages": messages}) + "\n")


def pipeline_of(chats: pathlib.Path, tokenizer: pathlib.Path) -> Pipeline:
    source = StaticMixtureWorkSource([Dataset.from_path("chats", chats)], seed=1, exhausted_policy="repeat")
    template = TEMPLATE if tokenizer == SAMPLE else None
    return (Pipeline(source).options(canonical_replicas=2)
            .tokenize_chat(tokenizer_id=tokenizer, field="messages", template=template)
            .pack_flat(max_length=256, algorithm="best_fit").batch(microbatch_size=4))


def show(batch: laneway.Batch, tokenizer: laneway.Tokenizer) -> None:
    fields = batch.to_training(return_labels=True, return_num_valid_tokens=True, framework="numpy")
    learnt = fields["labels"][fields["labels"] != -100]
    print(f"step {batch.step}: {fields['input_ids'].size} tokens, {fields['num_valid_tokens']} to learn from: "
          f"{tokenizer.decode(learnt)[:40]!r}...")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        chats = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else folder + "/chats.jsonl")
        path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else SAMPLE
        if len(sys.argv) < 2:
            write_chats(chats)
        tokenizer = laneway.Tokenizer(path)
        with pipeline_of(chats, path) as pipeline:
            loader = pipeline.loader()
            for _ in range(BATCHES):
                batch = next(loader)
                show(batch, tokenizer)
            state = pipeline.checkpoint()
        print(f"a state of {len(state)} bytes, and on from there:")
        with pipeline_of(chats, path) as pipeline:
            pipeline.restore(state)
            show(next(pipeline.loader()), tokenizer)


if __name__ == "__main__":
    main()
