"""What pages of the manual show as a session (```console) is what the program prints, but for times, sizes, dates, UUIDs and paths.

TOOL is the program, built with the policies of Examples/BookMigration; without it nothing is run. Sessions that need a run which was killed are not repeated.
"""
import difflib, os, re, shutil, subprocess, sys, tempfile
from pathlib import Path

from .texts import line_of

SESSION = r"^```console\n(.*?)^```$"
VARYING = [
    (r"\d{8}T\d{6}Z", "TIME"), (r"\b[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}\b", "UUID"),
    (r"(?:under |about |≈ ?)?\d[\d.,\u202f ]*(?=(?:s|ms|min|h|KiB|MiB|GiB|rows/s|checkpoints?)\b)", "N "), (r" +", " "),
]

def plain(line):
    for pattern, word in VARYING: line = re.sub(pattern, word, line)
    return line.rstrip()

def parts(session):
    """The commands of a session, each with the lines of its output."""
    for part in re.split(r"^\$ ", session, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.splitlines()

def lasting(lines):
    """Without the lines of an estimate that a fast machine has not: a name and its time."""
    return [line for line in lines if not re.fullmatch(r" [a-z ]+: N s", plain(line))]

def furnish(root, folder, tool):
    """The library of books, made up as the README says, its models and mapping models, and the same as an application."""
    source = root / "Examples/BookMigration"
    for name in ("Library.xcdatamodeld", "Mappings"):
        for place in (folder, folder / "App"):
            if (source / name).exists(): shutil.copytree(source / name, place / name)
    for name in ("godwit", "book-migration"): (folder / name).symlink_to(Path(tool).resolve())
    run(folder, ["godwit", "sample", "Library.xcdatamodeld", "--version", "Library 1", "--rows", "20500", "--output", "Library.sqlite"])

def run(folder, words):
    done = subprocess.run([folder / words[0], *words[1:]], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return lasting(line.replace(str(folder), "/data") for line in (done.stdout + done.stderr).splitlines())

def compared(root, path, tool):
    """Each output of a page's sessions: where it stands, what the page shows, and what the program prints."""
    text = path.read_text()
    for found in re.finditer(SESSION, text, re.M | re.S):
        if "status" in found[1]: continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            furnish(root, folder, tool)
            for command, shown in parts(found[1]):
                yield found.start(1) + found[1].index(command), command, lasting(shown), run(folder, command.split())

def check(root):
    tool = os.environ.get("TOOL")
    for path in sorted(root.glob("docs/manual/*.md")) if tool else []:
        for place, command, shown, printed in compared(root, path, tool):
            line = f"{path.relative_to(root)}:{line_of(path.read_text(), place)}"
            for one, other in zip(shown + [""] * len(printed), printed + [""] * len(shown)):
                if plain(one) != plain(other):
                    yield f"{line}: {command}: the page shows \"{one}\", the program prints \"{other}\""
                    break

def merged(shown, printed):
    """What is printed, but lines as they are shown where only times and sizes differ."""
    matcher = difflib.SequenceMatcher(None, list(map(plain, shown)), list(map(plain, printed)), autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        yield from shown[start:end] if kind == "equal" else printed[first:last]

def update(root):
    """Puts what the program prints into the pages, where it differs."""
    for path in sorted(root.glob("docs/manual/*.md")):
        text = path.read_text()
        for _, _, shown, printed in list(compared(root, path, os.environ["TOOL"])):
            text = text.replace("\n".join(shown), "\n".join(merged(shown, printed)))
        path.write_text(text)

PROGRAM = "#!/bin/sh\n[ $1 = sample ] || printf '%s\\n' \"$PWD: 20 rows\" 'took 0.31 s'\n"
SOUND = {"docs/manual/a.md": "```console\n$ godwit plan\n/data: 20 rows\ntook under 0.1 s\n$ godwit plan\n/data: 20 rows\ntook 2 s\n```\n", "tool": PROGRAM}
CASES = [
    ({"docs/manual/a.md": SOUND["docs/manual/a.md"].replace("20", "21")}, 'a.md:2: godwit plan: the page shows "/data: 21 rows", the program prints "/data: 20'),
    ({"tool": PROGRAM.replace(" 'took 0.31 s'", "")}, 'shows "took under 0.1 s", the program prints ""'),
    ({"tool": PROGRAM + "echo more\n"}, 'shows "", the program prints "more"'),
]
