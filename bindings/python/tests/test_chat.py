# SPDX-License-Identifier: Apache-2.0
"""Conversations: texts and spans, what is learnt of them, the same masks for everyone, and what is refused."""
import json
import multiprocessing.resource_tracker
import random

import numpy as np
import pytest

import laneway
import operator_functions as functions
from chat_templates import TEMPLATES, record, without_tags, write
from conftest import ROOT, row_digests, run_python, take
from laneway import Chat, Dataset, Pipeline, StaticMixtureWorkSource, Supervised
from laneway.loader import start_state

jinja2 = pytest.importorskip("jinja2", reason="jinja2 is not installed")

PLAIN = ("{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
         "{% if add_generation_prompt %}<assistant>{% endif %}")
TAGGED = ("{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}</>"
          "{% endgeneration %}{% else %}{{ m.content }}</>{% endif %}{% endfor %}")


def turns(*contents, **last):
    """A record of contents by the user and the assistant in turn; fields of the last message."""
    messages = [{"role": "assistant" if turn % 2 else "user", "content": content}
                for turn, content in enumerate(contents)]
    messages[-1].update(last)
    return {"messages": messages}


def learnt(one, template=PLAIN, **settings):
    """What is learnt of a record: the parts of its text."""
    text, spans = Chat.from_tokenizer(None, template=template, **settings).function(json.dumps(one))
    return [text.encode()[first:end].decode() for first, end in spans]


# ---- texts and spans -------------------------------------------------------------------------------


@pytest.mark.parametrize("template", [PLAIN, TAGGED])
def test_the_answers_are_learnt(template):
    assert learnt(turns("é?", "ja 🙂", "so?", "né"), template) == ["ja 🙂</>", "né</>"]
    assert learnt(turns("a", "b", "c"), template) == ["b</>"]
    assert learnt(turns("a"), template) == []
    assert learnt(turns("a", ""), template) == ["</>"]


@pytest.mark.parametrize("template", [PLAIN, TAGGED])
def test_the_last_turn_alone(template):
    assert learnt(turns("a", "b", "c", "d", "e"), template, scope="last") == ["d</>"]
    assert learnt(turns("a"), template, scope="last") == []


@pytest.mark.parametrize("template", [PLAIN, TAGGED])
@pytest.mark.parametrize("choice", [{"train": False}, {"weight": 0}, {"weight": 0.0}])
def test_a_message_may_say_that_it_is_not_learnt(template, choice):
    assert learnt(turns("a", "b", "c", "d", **choice), template) == ["b</>"]
    assert learnt(turns("a", "b", "c", "d", **choice), template, scope="last") == []
    assert learnt(turns("a", "b", train=True), template) == learnt(turns("a", "b", weight=1), template) == ["b</>"]


def test_choices_are_no_part_of_the_message():
    assert learnt(turns("a", "b", train=True), "{% for m in messages %}{{ m | tojson }}{% endfor %}",
                  add_generation_prompt=False) == ['{"role": "assistant", "content": "b"}']


def test_other_roles_and_all():
    one = {"messages": [{"role": "system", "content": "s"}, *turns("a", "b")["messages"]]}
    assert learnt(one, mask=["system", "assistant"]) == ["<system>s</>", "b</>"]
    assert learnt(one, TAGGED, mask=["user"]) == ["<user>a</>"]
    assert Chat.from_tokenizer(None, template=TAGGED, mask="all").function(json.dumps(one)) == \
        "<system>s</><user>a</><assistant>b</>"


def test_without_the_prompt_a_turn_has_its_head():
    assert learnt(turns("a", "b"), add_generation_prompt=False) == ["<assistant>b</>"]


def test_what_is_generated_in_a_macro_a_loop_and_a_scope():
    template = ("{% macro say(m) %}[{% generation %}{{ m.content }}{% endgeneration %}]{% endmacro %}{% set x = 'x' %}"
                "{% for m in messages %}{% if m.role != 'assistant' %}{% continue %}{% endif %}{{ say(m) }}"
                "{% generation %}{% set x = 'y' %}{{ x }}{% generation %}z{% endgeneration %}{% endgeneration %}"
                "{{ x }}{% endfor %}{% generation %}{% endgeneration %}")
    text, spans = Chat.from_tokenizer(None, template=template).function(json.dumps(turns("a", "é")))
    assert text == "[é]yzx" and spans == [(1, 3), (4, 6)]


def test_content_of_parts_tools_and_further_values():
    template = "{{ bos }}{{ tools | tojson if tools else '' }}{% for m in messages %}{{ m.content }};{% endfor %}"
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "é"}]
    one = {"chat": {"messages": [{"role": "user", "content": parts}]}, "tools": [{"name": "é"}]}

    def render(one, **more):
        return Chat.from_tokenizer(None, template=template, field="chat.messages", mask="all", **more).function(
            json.dumps(one))

    assert render(one, template_kwargs={"bos": "<s>"}) == '<s>[{"name": "é"}]aé;'
    assert render({**one, "tools": json.dumps(one["tools"])}) == render(one) == '[{"name": "é"}]aé;'
    assert render({**one, "tools": None}) == render({**one, "tools": ""}) == "aé;"
    assert render({**one, "tools": None}, template_kwargs={"tools": [1]}) == "[1]aé;"
    assert render({**one, "functions": [2]}, tools_field="functions") == "[2]aé;"


def test_there_is_no_clock_but_the_date_that_is_given():
    template = "{% if strftime_now is defined %}{{ strftime_now('%d %m %Y') }}{% else %}never{% endif %}"

    def render(**more):
        return Chat.from_tokenizer(None, template=template, mask="all", **more).function(json.dumps(turns("a")))

    assert render() == "never" and render(date="2025-01-31") == "31 01 2025"


@pytest.mark.parametrize("template", ["{{ cycler.__init__.__globals__ }}", "{{ messages.append(1) }}",
                                      "{{ messages[0].update(role='x') }}", "{{ ''.__class__.__mro__ }}"])
def test_templates_cannot_reach_out(template):
    with pytest.raises(jinja2.exceptions.SecurityError):
        Chat.from_tokenizer(None, template=template, mask="all").function(json.dumps(turns("a")))


# ---- where the template is -------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """The folder of a tokenizer, without a template yet."""
    (tmp_path / "tokenizer").mkdir()
    (tmp_path / "tokenizer" / "tokenizer.json").write_bytes((ROOT / "examples" / "data" / "tokenizer.json").read_bytes())
    return tmp_path / "tokenizer"


def rendered(folder, one=None, **more):
    return Chat.from_tokenizer(folder, mask="all", **more).function(json.dumps(one or turns("a")))


def test_the_template_of_the_configuration_and_its_tokens(folder):
    (folder / "special_tokens_map.json").write_text('{"pad_token": "<p>", "eos_token": "<old>"}')
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"chat_template": "{{ bos_token }}{{ eos_token }}{{ pad_token }}{{ unk_token }}{{ additional_special_tokens }}",
         "bos_token": {"content": "<b>", "lstrip": False}, "eos_token": "<e>", "unk_token": None,
         "additional_special_tokens": ["<x>", {"content": "<y>"}]}))
    assert rendered(folder) == rendered(folder / "tokenizer.json") == "<b><e><p>['<x>', '<y>']"


def test_a_file_beside_the_tokenizer_comes_before_its_configuration(folder):
    (folder / "tokenizer_config.json").write_text('{"chat_template": "one"}')
    assert rendered(folder) == "one"
    (folder / "chat_template.jinja").write_text("two")
    assert rendered(folder) == "two"
    (folder / "other.jinja").write_text("three\n")
    assert rendered(folder, template=folder / "other.jinja") == "three"
    assert rendered(folder, template="{{ 'four' }}") == "four"


def test_one_of_several_templates(folder):
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": [
        {"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools"},
        {"name": "rag", "template": "search"}]}))
    assert rendered(folder) == "plain" and rendered(folder, {**turns("a"), "tools": [1]}) == "tools"
    assert rendered(folder, {**turns("a"), "tools": [1]}, template="rag") == "search"


# ---- streams ---------------------------------------------------------------------------------------


@pytest.fixture(autouse=True, scope="module")
def tracker():
    """Python's own helper of spawned processes stays for as long as the program does: it is no file left behind."""
    multiprocessing.resource_tracker.ensure_running()


@pytest.fixture(scope="module")
def chats(tmp_path_factory):
    source = random.Random("chats")
    return write(tmp_path_factory.mktemp("chats") / "chats.jsonl", [record(source) for _ in range(90)], ascii_only=True)


@pytest.fixture
def recipe(chats):
    """A recipe over conversations, with rows that hold several of them and parts of others."""
    return {"seed": 3, "lanes": 6, "global_batch": 12, "context": 48, "end": "drop", "shuffle": {"rows": 2},
            "sources": [{"name": "chats", "path": str(chats), "text": ".", "block": 2048}],
            "tokenizer": {"path": str(ROOT / "examples" / "data" / "tokenizer.json"), "special_text": True}}


def opened(recipe, template=TEMPLATES["chatml"], runner="threads", **more):
    chat = Chat.from_tokenizer(None, template=template, template_kwargs={"bos_token": "<s>", "eos_token": "</s>"})
    return laneway.open(recipe, operators=[chat], runner=runner,
                        processes=2 if runner == "process" else 0, **more)


@pytest.mark.parametrize("algorithm", ["wrap", "best_fit"])
@pytest.mark.parametrize("shift", ["stream", "document"])
def test_labels_are_the_learnt_bytes_and_no_others(chats, recipe, algorithm, shift):
    recipe = {**recipe, "tokenizer": {"name": "bytes", "eos": True}, "labels": {"shift": shift}, "lanes": 2,
              "global_batch": 4, "pack": {"algorithm": algorithm}}
    chat = Chat.from_tokenizer(None, template=TEMPLATES["chatml"]).function
    texts = [chat(line) for line in chats.read_text().splitlines()]
    learns = [{at for first, end in spans for at in range(first, end)} for _text, spans in texts]
    count = 0
    with laneway.open(recipe, operators=[Chat.from_tokenizer(None, template=TEMPLATES["chatml"])]) as loader:
        for batch in loader:
            count += batch.to_training(framework="numpy", return_num_valid_tokens=True)["num_valid_tokens"]
            assert np.array_equal(batch.loss_mask != 0, batch.labels != -100)
            for row in range(batch.rows):
                _check_row(loader, batch, row, texts, learns)
    assert count > 2000


def _check_row(loader, batch, row, texts, learns):
    """Within a document a place has a label where the next byte is learnt; at its end only of another document's."""
    at = 0
    for segment in batch.segments(row):
        _source, _shard, record = loader.locate(segment)
        text = texts[record].text.encode()
        for place in range(segment.first, segment.first + segment.count):
            token = batch.tokens[row, at]
            assert token == (text[place] if place < len(text) else 257)
            if place + 1 < segment.first + segment.count:
                assert batch.labels[row, at] == (text[place + 1] if place + 1 in learns[record] else -100)
            at += 1
    assert (batch.labels[row, at:] == -100).all()


def test_without_a_mask_all_is_learnt(recipe):
    plain = [Chat.from_tokenizer(None, template=TEMPLATES["chatml"], mask="all")]
    with laneway.open(recipe, operators=plain) as all_of_it, opened(recipe) as some:
        for whole, part in zip(all_of_it, some):
            assert np.array_equal(whole.tokens, part.tokens)
            assert (whole.labels != -100).sum() > (part.labels != -100).sum() > 0
            assert np.array_equal(np.where(part.loss_mask, whole.labels, -100), part.labels)


@pytest.fixture
def stream(recipe):
    """Row digests of all steps, on one thread."""
    with opened(recipe, options={"runtime.threads": 1}) as loader:
        return [row_digests(batch) for batch in loader]


@pytest.mark.parametrize("runner", ["threads", "inline", "process"])
def test_worlds_and_runners_give_the_same(recipe, stream, runner):
    assert len(stream) > 5
    for world in (1, 2, 3):
        rows = [[] for _ in stream]
        for rank in range(world):
            with opened(recipe, runner=runner, rank=rank, world=world) as loader:
                for step, batch in enumerate(loader):
                    rows[step] += row_digests(batch)
        assert rows == stream


def test_a_resume_after_any_step_gives_the_same(recipe, stream):
    for step in range(len(stream) + 1):
        with opened(recipe) as loader:
            for _ in range(step):
                next(loader)
            state = loader.checkpoint()
        world = step % 3 + 1
        rows = [[] for _ in stream[step:]]
        for rank in range(world):
            with opened(recipe, rank=rank, world=world, state=state) as loader:
                for count, batch in enumerate(loader):
                    rows[count] += row_digests(batch)
        assert rows == stream[step:]


def test_without_conversations_the_stream_is_what_it_was(recipe):
    """The bit of a token is nobody's business who has no spans: a Map of texts gives the digests of no operator."""
    recipe["sources"][0]["text"] = "."
    with laneway.open(recipe) as plain, laneway.open(recipe, operators=[laneway.Map(str, name="same")]) as mapped:
        assert take(plain, 4) == take(mapped, 4)


def test_shares_of_what_is_learnt(tmp_path):
    """Sources with short and with long answers, and questions of any length, in equal shares of what is learnt."""
    source = random.Random("shares")
    lengths = {"short": 10, "long": 1000}
    for name, most in lengths.items():
        write(tmp_path / f"{name}.jsonl", [turns("q" * source.randint(0, 300), "a" * source.randint(1, most))
                                           for _ in range(60000 // most)])
    recipe = {"lanes": 1, "global_batch": 1, "context": 512, "end": "repeat", "mixture": {"unit": "supervised"},
              "sources": [{"name": name, "path": str(tmp_path / f"{name}.jsonl"), "text": "."} for name in lengths],
              "tokenizer": {"name": "bytes"}}
    keeper = functions.Counter()
    operators = [Chat.from_tokenizer(None, template=PLAIN), laneway.Stateful(keeper, group=1)]
    with laneway.open(recipe, operators=operators) as loader:
        for _ in range(500):
            next(loader)
    drawn = [0, 0]
    assert {number for number, _learnt in keeper.seen} == {0, 1}
    for number, count in keeper.seen:
        drawn[number] += count
        assert abs(drawn[0] - drawn[1]) <= 2 * (1000 + len("</>"))
    assert sum(drawn) > 20000


# ---- pipelines -------------------------------------------------------------------------------------


def pipeline_of(path, folder, **chat):
    source = StaticMixtureWorkSource([Dataset.from_path("chats", path)], shuffle_shards=False)
    return Pipeline(source).filter(functions.has_two_turns).tokenize_chat(tokenizer_id=folder, **chat)


def test_a_pipeline_of_conversations(folder, chats):
    (folder / "chat_template.jinja").write_text(PLAIN)
    chat = Chat.from_tokenizer(folder).function
    texts = [chat(line) for line in chats.read_text().splitlines() if functions.has_two_turns(line)]
    pipeline = pipeline_of(chats, folder, parallelism=2).pack_flat(max_length=64).batch(microbatch_size=2)
    assert pipeline.recipe().value("tokenizer.special_text") is True
    assert pipeline.recipe().value("tokenizer.eos") is False
    tokenizer = laneway.Tokenizer(folder)
    with pipeline:
        ids = [token for batch in pipeline for row in batch.tokens for token in row.tolist()]
        assert tokenizer.decode(ids).startswith("".join(one.text for one in texts)[:500])


def test_steps_after_conversations_are_refused(chats):
    with pytest.raises(laneway.UnsupportedError, match="map: after tokenize"):
        pipeline_of(chats, "bytes", template=PLAIN).map_transform(str.upper)


def test_texts_with_spans_from_a_function_of_ones_own(tmp_path):
    path = write(tmp_path / "texts.jsonl", [{"text": "a=1 b=22"}, {"text": "c"}])
    recipe = {"lanes": 1, "global_batch": 1, "context": 12, "order": "file", "end": "pad",
              "sources": [{"name": "texts", "path": str(path)}], "tokenizer": {"name": "bytes"}}
    with laneway.open(recipe, operators=[laneway.Map(functions.learn_digits)]) as loader:
        batch = next(loader)
        assert bytes(batch.labels[0][batch.loss_mask[0] != 0].astype(np.uint8).tolist()) == b"122"
        assert batch.labels[0].tolist()[:3] == [-100, ord("1"), -100]


def test_a_transform_sees_ids_and_what_is_learnt(tmp_path):
    path = write(tmp_path / "texts.jsonl", [{"text": "a=1 b=22"}])
    recipe = {"lanes": 1, "global_batch": 1, "context": 12, "order": "file", "end": "pad",
              "sources": [{"name": "texts", "path": str(path)}], "tokenizer": {"name": "bytes"}}
    keeper = functions.Keeper()
    operators = [laneway.Map(functions.learn_digits), laneway.Stateful(keeper)]
    with laneway.open(recipe, operators=operators) as loader:
        next(loader)
    assert keeper.seen == [("a=1 b=22", [False, False, True, False, False, False, True, True])]


# ---- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("settings, words", [
    ({"mask": "user"}, 'mask is \'user\', expected "assistant", "all" or a list of roles'),
    ({"scope": "first"}, 'scope is \'first\', expected "all" or "last"'),
    ({"date": "today"}, 'date is \'today\', expected one such as "2025-01-31"'),
    ({"template": "{% if %}"}, "the template: TemplateSyntaxError: "),
    ({"template": "{% generation %}x"}, "the template: TemplateSyntaxError: "),
    ({"template": "none.jinja"}, "template 'none.jinja' is no file, and no name of a template"),
    ({"template": None}, "there is no chat_template.jinja beside the tokenizer"),
    ({"template_kwargs": {"messages": []}}, "template_kwargs has 'messages', expected names that are free")])
def test_settings_that_are_wrong(settings, words):
    with pytest.raises(laneway.InvalidError) as caught:
        Chat.from_tokenizer(None, **{"template": PLAIN, **settings})
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("one, words", [
    ({"messages": "a"}, "field 'messages' is a str, expected a list of messages"),
    ({"messages": []}, "field 'messages' is empty, expected a list of messages"),
    ({"message": []}, "field 'messages' is missing, expected a list of messages"),
    ({"messages": [{"content": "a"}]}, "turn 0 is no message, expected an object with a role"),
    (turns("a", "b", weight=0.5), "turn 1: its train or weight is 0.5, expected true or 1, or false or 0"),
    (turns("a", [{"type": "image", "url": ""}]), "turn 1: its content has a part of type 'image', expected \"text\""),
    (turns("a", "\ud800"), "half of a surrogate pair in the record, expected characters")])
def test_records_that_are_wrong(one, words):
    for template in (PLAIN, TAGGED):
        with pytest.raises((ValueError, KeyError)) as caught:
            learnt(one, template)
        assert words in str(caught.value)


def test_turns_that_a_template_writes_in_two_ways():
    only_last = "{% for m in messages %}<{{ m.role }}>{% if loop.last or m.role == 'user' %}{{ m.content }}{% endif %}" \
                "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    counted = "{{ messages | length }}" + PLAIN
    with pytest.raises(ValueError, match="turn 1: the text up to it changes when it is rendered with more turns behind it"):
        learnt(turns("a", "b", "c", "d"), only_last)
    assert learnt(turns("a", "b", "c", "d"), only_last, scope="last") == ["d"]
    with pytest.raises(ValueError, match="turn 1: the text up to it changes when it is put behind those before it"):
        learnt(turns("a", "b"), counted)


def test_tags_that_do_not_fit_the_turns():
    once = "{% generation %}{% for m in messages %}{{ m.content }}{% endfor %}{% endgeneration %}"
    assert learnt(turns("a", "b", "c", "d"), once) == ["abcd"]
    with pytest.raises(ValueError, match="the template generates 1 times for 2 turns of the assistant"):
        learnt(turns("a", "b", "c", "d"), once, scope="last")


def test_a_choice_where_all_is_learnt():
    with pytest.raises(ValueError, match="turn 1 says whether it is learnt"):
        Chat.from_tokenizer(None, template=PLAIN, mask="all").function(json.dumps(turns("a", "b", train=False)))


@pytest.mark.parametrize("runner", ["threads", "process"])
def test_a_failure_names_the_document_and_the_turn(tmp_path, recipe, runner):
    records = [turns("a", "b") for _ in range(5)]
    records[3] = {"messages": [{"role": "user", "content": "a"}, {"role": "narrator", "content": "b"}]}
    recipe["sources"][0]["path"] = str(write(tmp_path / "chats.jsonl", records))
    recipe.update(lanes=1, global_batch=1, end="pad")
    with opened(recipe, TEMPLATES["inst"], runner) as loader, pytest.raises(laneway.OperatorError) as caught:
        for _batch in loader:
            pass
    assert str(caught.value).startswith("chat: TemplateError: a role it does not know: narrator, at ")
    assert str(caught.value).endswith('chats.jsonl" record 3')


def test_a_state_of_another_template_or_mask_is_refused(recipe):
    with opened(recipe) as loader:
        next(loader)
        state = loader.checkpoint()
    others = [Chat.from_tokenizer(None, template=without_tags(TEMPLATES["chatml"])),
              Chat.from_tokenizer(None, template=TEMPLATES["chatml"], scope="last"),
              Chat.from_tokenizer(None, template=TEMPLATES["chatml"], template_kwargs={"think": False})]
    for other in others:
        with pytest.raises(laneway.MismatchError, match="documents.0.options is "):
            laneway.open(recipe, operators=[other], state=state)


@pytest.mark.parametrize("spans", [[(2, 1)], [(0, 2), (1, 3)], [(0, 99)], [(1, 2)], [(-1, 2)]])
def test_spans_that_are_none(tmp_path, recipe, spans):
    recipe["sources"][0].update(path=str(write(tmp_path / "texts.jsonl", [{"text": "a"}])))
    recipe.update(lanes=1, global_batch=1)
    wrong = laneway.Map(lambda text: Supervised("é" + text, spans), name="wrong")
    with laneway.open(recipe, operators=[wrong]) as loader, pytest.raises(laneway.OperatorError, match="^wrong: "):
        next(loader)


def test_without_jinja2_its_name_is_told():
    done = run_python("import sys; sys.modules['jinja2'] = None; import laneway\n"
                      "try: laneway.Chat.from_tokenizer(None, template='{{ 1 }}')\n"
                      "except laneway.UnsupportedError as error: print(error)")
    assert done.stdout == ("chat: jinja2 is not installed, expected it to render templates: "
                           "pip install 'laneway[chat]'\n"), done.stderr


def test_start_states_have_the_conversation_in_their_fingerprint(recipe):
    made = laneway.Recipe(recipe).add(Chat.from_tokenizer(None, template=PLAIN))
    assert start_state(made) != start_state(laneway.Recipe(recipe))
