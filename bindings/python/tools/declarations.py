# SPDX-License-Identifier: Apache-2.0
"""Makes the module that tells cffi what the library declares, out of the public headers.

usage: declarations.py INCLUDE_FOLDER OUT

The headers are the one source of the declarations: comments, attributes and preprocessor lines are
dropped, and integer constants are kept. The module is plain Python and needs no compiler, neither here
nor where it is used.
"""
import ast
import pathlib
import re
import sys

import cffi

COMMENT = re.compile(r"/\*.*?\*/", re.S)
CONSTANT = re.compile(r"^#define (LW_\w+)[ \t]+([^\\\n]+)$", re.M)
EXTERN_C = re.compile(r"#ifdef __cplusplus.*?#endif", re.S)
DIRECTIVE = re.compile(r"^#(?:[^\\\n]|\\.|\\\n)*$", re.M)
INCLUDE = re.compile(r"^#include <(laneway/\w+\.h)>$", re.M)
LIMITS = {"INT64_MAX": 2**63 - 1, "UINT64_MAX": 2**64 - 1}


def read_headers(include: pathlib.Path) -> str:
    """The text of all headers, each once, in the order the umbrella header and they themselves name."""
    seen: list[str] = []

    def visit(name: str) -> str:
        if name in seen:
            return ""
        seen.append(name)
        text = (include / name).read_text(encoding="utf-8")
        return "".join(map(visit, INCLUDE.findall(text))) + text

    return visit("laneway/laneway.h")


def constants(text: str) -> list[str]:
    """The integer constants, as definitions of plain numbers."""
    found = []
    for name, value in CONSTANT.findall(text):
        value = re.sub(r"\b(\d+)u\b", r"\1", value.strip())
        if value in LIMITS:
            found.append(f"#define {name} {LIMITS[value]}")
        elif re.fullmatch(r"\(?-?\d+\)?", value):
            found.append(f"#define {name} {ast.literal_eval(value)}")
    return found


def declarations(include: pathlib.Path) -> str:
    text = EXTERN_C.sub("", COMMENT.sub("", read_headers(include)))
    named = constants(text)
    text = re.sub(r"\bLW_(API|MUST_CHECK)\b", "", DIRECTIVE.sub("", text))
    return "\n".join([*named, text])


def main() -> None:
    include, out = map(pathlib.Path, sys.argv[1:])
    ffi = cffi.FFI()
    ffi.cdef(declarations(include))
    ffi.set_source("laneway._declarations", None)
    ffi.emit_python_code(str(out))


if __name__ == "__main__":
    main()
