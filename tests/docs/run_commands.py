#!/usr/bin/env python3
"""Runs the commands that the documentation shows, and follows its links.

    run_commands.py --dewpoint PATH [--slow]     run every command of every ```sh and ```console block
    run_commands.py --links                      check that relative links lead somewhere

In an ```sh block every line is a command (a trailing backslash joins lines); in a ```console block
the lines after "$ " are commands and the rest is output, which is not compared. The commands of one
page run in order in one temporary folder, each in a shell of its own, with dewpoint first on PATH
and the repository's examples/ at hand.

Lines that begin with make, git, sudo or apt-get are not run; a make line must name targets of the
Makefile. A comment above a block changes how it is treated:

    <!-- slow -->               run only with --slow
    <!-- not run: reason -->    listed with its reason, not run
    <!-- fails: 2 -->           every command must end with this exit status
    <!-- data: NAME .. -->      needs models or texts that are not ours to ship: run where the folder
                                ../shared/data beside the repository has them, and each is then at hand
                                by its name; skipped elsewhere
    <!-- file: NAME -->         not commands, in any language: written to that file

Needs Python 3.9 or newer and nothing else.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import List, Optional

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/README.md"]
NOT_RUN_HERE = {"git", "sudo", "apt-get"}
RUN_LANGUAGES = {"sh", "console"}
FORGOTTEN_LANGUAGES = {"bash", "shell", "zsh", "shell-session"}  # would silently not be run

DATA = Path("../shared/data")

FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*([\w-]*)")
COMMENT = re.compile(r"^\s*<!--\s*(.*?)\s*-->\s*$")
ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=\S*$")


class DocumentError(Exception):
    """Something in a page that must be changed; the message names file and line."""


@dataclass
class Command:
    line: int
    text: str


@dataclass
class Block:
    line: int
    language: str
    commands: List[Command] = field(default_factory=list)
    slow: bool = False
    not_run: Optional[str] = None
    expected_status: int = 0
    data: List[str] = field(default_factory=list)  # folders below DATA
    file: Optional[str] = None  # the block is the content of this file
    content: str = ""


def pages(root):
    found = [root / name for name in PAGES if (root / name).exists()]
    found += sorted((root / "docs").rglob("*.md"))
    if not found:
        raise DocumentError(f"{root}: no pages found")
    return found


def fenced(lines, name):
    """Yields (opening line index, language, [line indices inside]) of every fenced block."""
    opening = None
    for i, line in enumerate(lines):
        match = FENCE.match(line)
        if opening is None:
            if match:
                opening, mark, language, inside = i, match[2], match[3], []
        elif match and match[2].startswith(mark) and line.strip() == match[2]:
            yield opening, language, inside
            opening = None
        else:
            inside.append(i)
    if opening is not None:
        raise DocumentError(f"{name}:{opening + 1}: this block is never closed")


def apply_directives(block, lines, name):
    """Reads the comment lines directly above the block."""
    i = block.line - 2
    while i >= 0:
        if not lines[i].strip():
            i -= 1
            continue
        match = COMMENT.match(lines[i])
        if not match:
            return
        text = match[1]
        if text == "slow":
            block.slow = True
        elif text.startswith("not run:") and text[len("not run:"):].strip():
            block.not_run = text[len("not run:"):].strip()
        elif re.fullmatch(r"fails: [1-9]\d*", text):
            block.expected_status = int(text.split()[1])
        elif re.fullmatch(r"data:( [\w-]+)+", text):
            block.data = text.split()[1:]
        else:
            raise DocumentError(
                f"{name}:{i + 1}: found '<!-- {text} -->' above a block of commands; allowed are "
                "slow, not run: REASON, fails: STATUS, data: NAME ..")
        i -= 1


def commands_of(language, lines, inside):
    commands, pending, first = [], "", None
    for i in inside:
        text = lines[i].strip()
        if not pending:
            if language == "console":
                if not text.startswith("$ "):
                    continue
                text = text[2:].strip()
            if not text or text.startswith("#"):
                continue
            first = i + 1
        elif language == "console" and text.startswith("> "):
            text = text[2:]
        pending += text
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        commands.append(Command(first, pending))
        pending = ""
    if pending:
        commands.append(Command(first, pending))
    return commands


def blocks_of(text, name):
    lines = text.splitlines()
    blocks = []
    for opening, language, inside in fenced(lines, name):
        if language in FORGOTTEN_LANGUAGES:
            raise DocumentError(f"{name}:{opening + 1}: found ```{language}; commands are ```sh or "
                                "```console, so that they are run")
        above = COMMENT.match(lines[opening - 1]) if opening > 0 else None
        if above and re.fullmatch(r"file: [\w.-]+", above[1]):
            content = "".join(lines[i] + "\n" for i in inside)
            blocks.append(Block(opening + 1, language, file=above[1].split()[1], content=content))
            continue
        if language not in RUN_LANGUAGES:
            continue
        block = Block(opening + 1, language, commands_of(language, lines, inside))
        apply_directives(block, lines, name)
        blocks.append(block)
    return blocks


def make_targets(root):
    makefile = root / "Makefile"
    if not makefile.exists():
        return set()
    return set(re.findall(r"^([A-Za-z][\w-]*)\s*:(?!=)", makefile.read_text(encoding="utf-8"), re.M))


def words_of(command):
    """The words of a command without its comment and without leading VAR=value."""
    words = re.sub(r"(^|\s)#.*", "", command).split()
    while words and ASSIGNMENT.match(words[0]):
        words = words[1:]
    return words


def unknown_make_targets(command, targets):
    words = words_of(command)
    if words and words[0] == "sudo":
        words = words[1:]
    if not words or words[0] != "make":
        return []
    named = [w for w in words[1:] if "=" not in w and not w.startswith("-")]
    return [w for w in named if w not in targets]


def run(command, folder, environment, timeout):
    """Exit status and output of one command; a command that takes too long has status None."""
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=timeout)
        return process.returncode, output.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return None, output.decode("utf-8", "replace")


def reason_to_skip(block, root, slow):
    if block.not_run:
        return block.not_run
    if block.slow and not slow:
        return "slow: run with --slow"
    absent = [name for name in block.data if not (root / DATA / name).is_dir()]
    return f"{', '.join(absent)} not in {DATA}" if absent else None


def put_at_hand(block, root, folder):
    for name in block.data:
        link = Path(folder) / name
        if not link.exists():
            os.symlink((root / DATA / name).resolve(), link)


def run_pages(root, dewpoint, slow, timeout):
    """Runs everything; returns the list of failures, each a text."""
    failures, ran, checked, skipped = [], 0, 0, []
    targets = make_targets(root)
    environment = dict(os.environ)
    environment["PATH"] = f"{dewpoint.parent}{os.pathsep}{environment.get('PATH', '')}"

    for page in pages(root):
        name = page.relative_to(root).as_posix()
        try:
            blocks = blocks_of(page.read_text(encoding="utf-8"), name)
        except DocumentError as error:
            failures.append(str(error))
            continue
        with tempfile.TemporaryDirectory(prefix="dewpoint-docs-") as folder:
            if (root / "examples").is_dir():
                os.symlink(root / "examples", Path(folder) / "examples")
            for block in blocks:
                if block.file:
                    (Path(folder) / block.file).write_text(block.content, encoding="utf-8")
                for command in block.commands:
                    unknown = unknown_make_targets(command.text, targets)
                    if unknown:
                        failures.append(f"{name}:{command.line}: {command.text}\n"
                                        f"  the Makefile has no target {' '.join(unknown)}")
                reason = reason_to_skip(block, root, slow)
                if reason:
                    skipped.append((name, block, reason))
                    continue
                put_at_hand(block, root, folder)
                for command in block.commands:
                    words = words_of(command.text)
                    if words and (words[0] == "make" or words[0] in NOT_RUN_HERE):
                        checked += 1
                        continue
                    status, output = run(command.text, folder, environment, timeout)
                    ran += 1
                    if status != block.expected_status:
                        ending = (f"took longer than {timeout} s" if status is None else
                                  f"exit status {status}, expected {block.expected_status}")
                        indented = "".join(f"    {line}\n" for line in output.splitlines())
                        failures.append(f"{name}:{command.line}: {command.text}\n  {ending}\n"
                                        f"{indented}".rstrip())

    for name, block, reason in skipped:
        print(f"skipped {name}:{block.line} ({len(block.commands)} commands): {reason}")
    print(f"{ran} commands run, {checked} make/git/sudo lines checked, "
          f"{sum(len(b.commands) for _, b, _ in skipped)} skipped, {len(failures)} failures")
    if ran == 0:
        failures.append("no command was run: are the blocks still marked ```sh?")
    return failures


def without_code(text, name):
    """The page with fenced blocks and `code` blanked, line numbers kept."""
    lines = text.splitlines()
    code = set()
    for opening, _, inside in fenced(lines, name):
        code.update([opening, *inside, (inside[-1] if inside else opening) + 1])
    return [("" if i in code else re.sub(r"`[^`]*`", "", line)) for i, line in enumerate(lines)]


def anchors_of(path):
    """The anchors GitHub gives to the headings of a page."""
    anchors, text = set(), path.read_text(encoding="utf-8")
    prose = without_code(text, path.name)
    for line, original in zip(prose, text.splitlines()):
        if re.match(r"^#{1,6}\s", line):
            title = re.sub(r"[^\w\- ]", "", original.lstrip("#").strip().lower())
            anchors.add(title.replace(" ", "-"))
    return anchors


LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s*(\S+)|"
                  r"<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"", re.M)


def broken_links(root):
    failures, followed = [], 0
    for page in pages(root):
        name = page.relative_to(root).as_posix()
        try:
            prose = without_code(page.read_text(encoding="utf-8"), name)
        except DocumentError as error:
            failures.append(str(error))
            continue
        text = "\n".join(prose)
        for match in LINK.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            link = next(group for group in match.groups() if group)
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue  # another site: not ours to check
            followed += 1
            path, _, anchor = link.partition("#")
            target = (page.parent / path) if path else page
            if not target.exists():
                failures.append(f"{name}:{number}: {link}: no such file")
            elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
                failures.append(f"{name}:{number}: {link}: no such heading")
    print(f"{followed} relative links followed, {len(failures)} broken")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2],
                        help="the top folder of the repository")
    parser.add_argument("--dewpoint", type=Path, help="the built program")
    parser.add_argument("--slow", action="store_true", help="also the blocks marked slow")
    parser.add_argument("--timeout", type=float, default=None,
                        help="seconds a command may take (120, with --slow 1800)")
    parser.add_argument("--links", action="store_true", help="check links instead of commands")
    options = parser.parse_args()
    root = options.root.resolve()

    try:
        if options.links:
            failures = broken_links(root)
        else:
            if options.dewpoint is None or not options.dewpoint.is_file():
                parser.error("--dewpoint must name the built program")
            timeout = options.timeout or (1800 if options.slow else 120)
            failures = run_pages(root, options.dewpoint.resolve(), options.slow, timeout)
    except DocumentError as error:
        failures = [str(error)]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
