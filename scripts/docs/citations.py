"""What is cited is there: sections of docs/core-data.md, cited as "(B.4)", and traps of docs/traps.md, as "trap 7".

Each section must also say what its evidence is, name its code by links, and name its tests.
"""
import re

from .texts import code, documents, line_of

# Where the headings are, what a heading looks like, what a citation looks like, and what each section must have.
BOOKS = [
    ("docs/core-data.md", r"### ([A-F]\.\d+) .*", r"\b[A-F]\.\d+\b", ["* *Evidence:*", "* *Code:*", "* *Guarded by*"]),
    ("docs/traps.md", r"## Trap (\d+): .*", r"\b[Tt]raps? (\d+(?:(?:,|,? and| to) \d+)*)", ["* *Code:*", "* *Guarded by*"]),
]

def sections(text, heading):
    """The sections as (number, line, text); one ends at the next heading of any level."""
    starts = [m for m in re.finditer(r"^#{1,3} .*$", text, re.M)]
    for start, end in zip(starts, starts[1:] + [None]):
        if found := re.fullmatch(heading, start[0]):
            yield found[1], line_of(text, start.start()), text[start.end() : end.start() if end else len(text)]

def check_citations(path, book, citation, known):
    for line, text in enumerate(path.read_text().splitlines(), 1):
        for found in re.finditer(citation, text):
            for number in re.findall(r"\d+", found[1]) if found.groups() else [found[0]]:
                if number not in known: yield line, f"{number} has no heading in {book}"
        for number, rule in re.findall(r"\b([A-F]\.\d+), rule (\d+)", text) if book == BOOKS[0][0] else []:
            if not re.search(rf"^{rule}\. ", known.get(number, ""), re.M): yield line, f"{number} has no rule {rule}"

def check(root):
    for book, heading, citation, needed in BOOKS:
        known = {}
        for number, line, text in sections((root / book).read_text(), heading):
            if number in known: yield f"{book}:{line}: {number} is there twice"
            known[number] = text
            for part in needed:
                if not re.search("^" + re.escape(part), text, re.M): yield f"{book}:{line}: {number} lacks \"{part}\""
        for path in [*code(root, "Sources", "Tests"), *documents(root)]:
            for line, fault in check_citations(path, book, citation, known): yield f"{path.relative_to(root)}:{line}: {fault}"

END = "* *Evidence:* none.\n* *Code:* [A](../Sources/A.swift).\n* *Guarded by* ATests.\n"
SOUND = {
    "docs/core-data.md": "### B.4 Tables\n\n1. It is so.\n\n" + END, "docs/traps.md": "## Trap 7: Sleep\n\n" + END,
    "Sources/A.swift": "// (B.4; B.4, rule 1; traps 7 and 7)\n",
}
CASES = [
    ({"Sources/A.swift": "// (B.5)"}, "A.swift:1: B.5 has no heading"),
    ({"Sources/A.swift": "\n// traps 7 and 8"}, ":2: 8 has no"),
    ({"Sources/A.swift": "// (B.4, rule 2)"}, "B.4 has no rule 2"),
    ({"README.md": "trap 9"}, "README.md:1: 9 has no"),
    ({"docs/traps.md": "## Trap 7: Sleep\n"}, 'lacks "* *Code:*"'),
    ({"docs/core-data.md": SOUND["docs/core-data.md"] * 2}, "twice"),
]
