"""Writes verbs.py: a typed Python function for every verb of the command line that has an answer.

    write_verbs.py VERBS.json verbs.py      (VERBS.json: what `dewpoint manual json` prints)

Names, defaults and meanings are the verbs' own; formulas and examples are in verb_texts.py.

SPDX-License-Identifier: Apache-2.0
"""

import json
import keyword
import sys
import textwrap

from verb_texts import TEXTS

HEAD = '''"""The verbs of the command line. Written by write_verbs.py at build time.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Sequence

from ._call import Option, Path, Progress, Values, call
from .results import Result
'''


def python_name(option):
    name = option["name"].replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def default_of(option):
    """The default as a Python value; None: not given."""
    value = option["default"]
    if option["kind"] == "flag":
        return False
    if option["several"] or option["required"] or option["name"] == "output":
        return None
    if isinstance(value, float) and value == int(value) and abs(value) < 2**53:
        return int(value)
    return value


PLAIN = {"whole": "int", "number": "float", "flag": "bool", "text": "str", "file": "Path",
         "seed": "int | str"}


def type_of(option):
    plain = "Values" if option["list"] else PLAIN[option["kind"]]
    return f"{plain} | Sequence[{plain}]" if option["several"] else plain


def annotation_of(option):
    optional = default_of(option) is None and not option["required"]
    return type_of(option) + (" | None" if optional else "")


def parameters_of(verb):
    """Those that must be given by position first, then the rest by name."""
    positional = [one for one in verb["options"] if one["positional"]]
    named = [one for one in verb["options"] if not one["positional"]]
    texts = []
    for one in positional:
        default = "" if one["required"] else " = None"
        texts.append(f"{python_name(one)}: {annotation_of(one)}{default}")
    texts.append("*")
    for one in sorted(named, key=lambda one: not one["required"]):
        default = "" if one["required"] else f" = {default_of(one)!r}"
        texts.append(f"{python_name(one)}: {annotation_of(one)}{default}")
    return texts + ["progress: Progress = None"]


def default_text(option):
    """What the signature cannot show."""
    if option["several"] and option["default"]:
        return f" (default {','.join(option['default'])})"
    return f" (default: {option['otherwise']})" if option["otherwise"] else ""


def indented(text, width=4):
    return textwrap.indent(text, " " * width)


def docstring_of(verb):
    words = TEXTS[verb["verb"]]
    lines = [verb["about"] + f": `dewpoint {verb['verb']}`.", ""]
    if words.get("formula"):
        lines += [textwrap.dedent(words["formula"]).strip("\n"), ""]
    lines.append("Parameters:")
    for option in verb["options"]:
        meaning = option["about"] + default_text(option)
        if option["name"] == "tokens" and verb["verb"].startswith("phase"):
            meaning += ", or an array with a row per token"
        lines += textwrap.wrap(f"{python_name(option)}: {meaning}", 92, initial_indent="    ",
                               subsequent_indent="        ", break_on_hyphens=False)
    lines.append("    progress: True for a line on standard error, or a function of the share done "
                 "and a label")
    if words.get("example"):
        lines += ["", "Example:", indented(textwrap.dedent(words["example"]).strip("\n"))]
    return "\n".join(lines)


def kind_text(option):
    """How a value is written on the command line: as in _call.py."""
    if option["list"] or option["kind"] == "file":
        return "text"
    return "whole" if option["kind"] == "seed" else option["kind"]


def option_text(option):
    word = "" if option["positional"] else "--" + option["name"]
    extra = ", True" if option["several"] else ""
    extra += ", True" if option["several"] and option["commas"] else ""
    extra += ", silent=True" if option["name"] == "output" and option["default"] else ""
    return (f"Option({python_name(option)!r}, {word!r}, {kind_text(option)!r}, "
            f"{default_of(option)!r}{extra})")


def function_of(verb):
    name = verb["verb"].replace(" ", "_")
    parameters = ",\n".join(parameters_of(verb))
    doc = docstring_of(verb).replace("\\", "\\\\")
    return (f"\n\ndef {name}(\n{indented(parameters)},\n) -> Result:\n"
            f'    """{indented(doc).lstrip()}\n    """\n'
            f"    return call({verb['verb']!r}, OPTIONS[{verb['verb']!r}], locals())\n")


def main(description, output):
    with open(description, encoding="utf-8") as file:
        described = {one["verb"]: one for one in json.load(file)}
    verbs = [described[name] for name in TEXTS]
    text = HEAD + "\nOPTIONS: dict[str, Sequence[Option]] = {\n"
    for verb in verbs:
        options = ",\n".join(indented(option_text(one), 8) for one in verb["options"])
        text += f"    {verb['verb']!r}: (\n{options},\n    ),\n"
    text += "}\n" + "".join(function_of(verb) for verb in verbs)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
