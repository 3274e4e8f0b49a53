# SPDX-License-Identifier: Apache-2.0
"""Templates for the tests of conversations, in the manner of three families, and random conversations."""
import json

CHATML = """{% for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.role == 'assistant' %}
    {%- generation %}
        {{- message.content + '<|im_end|>' }}
    {%- endgeneration %}
    {{- '\\n' }}
{%- else %}
    {{- message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}"""

HEADERS = """{{- bos_token }}
{%- if tools is not none %}
    {{- '<|start_header_id|>system<|end_header_id|>\\n\\n' }}
    {%- for tool in tools %}
        {{- tool | tojson(indent=2) + '\\n' }}
    {%- endfor %}
    {{- '<|eot_id|>' }}
{%- endif %}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}
    {%- if message['role'] == 'assistant' %}{% generation %}{{ message['content'] | trim }}<|eot_id|>{% endgeneration %}
    {%- else %}
        {{- message['content'] | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}"""

INST = """{{ bos_token }}{% set state = namespace(system='') %}{% for message in messages %}
{% if message['role'] == 'system' %}{% set state.system = message['content'] + '\\n\\n' %}
{% elif message['role'] == 'user' %}
{{- '[INST] ' + state.system + message['content'] + ' [/INST]' -}}{% set state.system = '' %}
{% elif message['role'] == 'assistant' %}
{%- generation -%}{{ ' ' + message['content'] + eos_token }}{%- endgeneration -%}
{% else %}{{ raise_exception('a role it does not know: ' + message['role']) }}{% endif %}
{% endfor %}"""

TEMPLATES = {"chatml": CHATML, "headers": HEADERS, "inst": INST}

SPECIAL = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>",
           "<|eot_id|>"]

WORDS = ["the", "answer", "is", " ", "  ", "\n", "\n\n", "\t", "42", "2024", "don't", "naïve", "naïve", "é", "日本", "語",
         "🙂", "👩‍👩‍👧", "[INST]", "</s>", "<|im_end|>", "<|im_start|>", "x = {y}", "…", "\u00a0", "А", "ﬁ", "\u0301", "a.b", "{{", "%}"]


def without_tags(template):
    """The template as most are: it does not say what is generated."""
    for tag in ("generation", "endgeneration"):
        for begin in ("{%-", "{%"):
            for end in ("-%}", "%}"):
                template = template.replace(f"{begin} {tag} {end}", begin + " set _ = 0 " + end)
    return template


def conversation(random, roles=("user", "assistant")):
    """The messages of a record: sometimes a system's, then turns."""

    def content():
        return "".join(random.choice((" ", "", "")) + random.choice(WORDS) for _ in range(random.randint(0, 12)))

    messages = [{"role": "system", "content": content()}] if random.random() < 0.4 else []
    for turn in range(random.randint(1, 7)):
        messages.append({"role": roles[turn % len(roles)], "content": content()})
    return messages


def record(random):
    """A record as it lies in a file."""
    tools = [{"name": "look", "parameters": {"of": "é"}}] if random.random() < 0.2 else None
    return {"id": random.randrange(1000), "messages": conversation(random), **({"tools": tools} if tools else {})}


def write(path, records, ascii_only=False):
    path.write_text("".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in records), encoding="utf-8")
    return path
