"""The invariants of ARCHITECTURE.md, I1 and so on: each is kept by code that cites its number, and tried by a test that does.

Keepers are the types between "Kept by" and "Guarded by", and are declared in files of their names. A number that is cited has an invariant.
"""
import re

from .texts import code, documents, line_of

CITED = r"\bI(\d+)(?: to I(\d+))?\b"

def cited(text):
    """The numbers that comments and strings cite."""
    numbers = set()
    for line in re.findall(r"(?://|\").*", text):
        for first, last in re.findall(CITED, line): numbers |= set(range(int(first), int(last or first) + 1))
    return numbers

def invariants(text):
    """Numbers, lines, and the names of keepers."""
    starts = list(re.finditer(r"^\*\*I(\d+) – ", text, re.M))
    for start in starts:
        part = re.split(r"\n\n", text[start.start() :], maxsplit=1)[0]
        keepers = re.search(r"\*Kept by\*(.*?)\*Guarded by\*", part, re.S)
        plain = re.sub(r"\]\([^)]*\)", "]", keepers[1]) if keepers else ""
        yield int(start[1]), line_of(text, start.start()), re.findall(r"\b[A-Z]\w*[a-z]\w*\b", plain)

def check(root):
    book = "ARCHITECTURE.md"
    sources = {path: path.read_text() for path in code(root, "Sources")}
    tests = {path: path.read_text() for path in code(root, "Tests")}
    tried = set().union(*map(cited, tests.values()))
    known = set()
    for number, line, keepers in invariants((root / book).read_text()):
        if number in known: yield f"{book}:{line}: I{number} is there twice"
        known.add(number)
        if not keepers: yield f"{book}:{line}: I{number} names no code that keeps it"
        for keeper in keepers:
            files = [path for path in sources if path.stem == keeper]
            if not files: yield f"{book}:{line}: I{number} is kept by {keeper}, and there is no {keeper}.swift"
            for path in files:
                if number not in cited(sources[path]): yield f"{path.relative_to(root)}:1: keeps I{number} by {book}, and does not cite it"
        if number not in tried: yield f"{book}:{line}: no test cites I{number}"
    for path, text in [*sources.items(), *tests.items()]:
        for number in sorted(cited(text) - known): yield f"{path.relative_to(root)}:1: cites I{number}, which {book} does not have"
    for path in documents(root):
        for found in re.finditer(CITED, path.read_text()):
            if int(found[1]) not in known: yield f"{path.relative_to(root)}:{line_of(found.string, found.start())}: {book} has no I{found[1]}"

SOUND = {
    "ARCHITECTURE.md": "**I1 – Old.** Yes.\n*Kept by* [Keeper](Sources/Keeper.swift), queues. *Guarded by* ATests.\n\n"
    "**I2 – New.** *Kept by* Keeper (`check`). *Guarded by* ATests.\n",
    "Sources/Keeper.swift": "/// Keeps I1.\nstruct Keeper {} // I2\n", "Tests/ATests.swift": '@Test("I1 to I2: both")\n',
}
CASES = [
    ({"Sources/Keeper.swift": "/// I1\nlet I2 = 1"}, "Keeper.swift:1: keeps I2"), ({"Tests/ATests.swift": "// I1"}, ":4: no test cites I2"),
    ({"Tests/ATests.swift": "// I1 to I3"}, "cites I3, which"), ({"README.md": "\nI4 says"}, "README.md:2: ARCHITECTURE.md has no I4"),
    ({"ARCHITECTURE.md": SOUND["ARCHITECTURE.md"].replace("Keeper (", "Other (")}, "there is no Other.swift"),
    ({"ARCHITECTURE.md": SOUND["ARCHITECTURE.md"].replace("Keeper (", "queues (")}, "I2 names no code"),
    ({"ARCHITECTURE.md": SOUND["ARCHITECTURE.md"].replace("I2 –", "I1 –")}, "twice"),
]
