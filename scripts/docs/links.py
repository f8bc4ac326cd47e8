"""Every relative link of a document leads to a file of this repository, and every #anchor to a heading, by GitHub's rules.

So do headings that documents and comments cite, as FORMAT.md, section 8.9, or FORMAT.md, "Record spool".
"""
import re

from .texts import code, documents, line_of, without_blocks, without_code

LINK = r"\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s+(\S+)|(<doc:[^>]+)>"
CITED = r"\b([A-Z]+\.md)(?:\]\([^)]*\))?,\s+(?:///? )?(?:section (\d+(?:\.\d+)*)|\"([^\"]+)\")"

def anchors(text):
    """The anchors of headings: lower case, punctuation gone, blanks as hyphens; the second of a name ends in -1."""
    names, seen = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text)), {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", without_blocks(text), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen[name] = seen.get(name, -1) + 1
        names.add(f"{name}-{count}" if count else name)
    return names

def fault_of(root, path, target):
    if target.startswith("<doc:"):
        article = target[5:].partition("#")[0]
        return None if (path.parent / (article + ".md")).exists() else f"the article {article} does not exist"
    if re.match(r"[a-z][a-z+.-]*:", target): return None
    name, _, anchor = target.partition("#")
    file = (path.parent / name).resolve() if name else path.resolve()
    if not file.exists() or not file.is_relative_to(root.resolve()): return f"{name} does not exist"
    if anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()): return f"{target}: there is no such heading"
    return None

def check_headings(root, text):
    for found in re.finditer(CITED, text):
        path, wanted = root / found[1], " ".join(re.sub(r"\n\s*(?:///? )?", " ", found[3] or found[2]).split())
        headings = re.findall(r"^#+ (.*)$", without_blocks(path.read_text()), re.M) if path.exists() else []
        if not any(re.match(re.escape(wanted) + r"[. ]", heading) if found[2] else wanted in heading for heading in headings):
            yield line_of(text, found.start()), f"{found[1]} has no heading {wanted}"

def check(root):
    for path in [*documents(root), *code(root, "Sources", "Tests")]:
        for line, fault in check_headings(root, path.read_text()): yield f"{path.relative_to(root)}:{line}: {fault}"
    for path in documents(root):
        text = without_code(path.read_text())
        for link in re.finditer(LINK, text, re.M):
            if fault := fault_of(root, path, next(filter(None, link.groups()))):
                yield f"{path.relative_to(root)}:{line_of(text, link.start())}: {fault}"

SOUND = {
    "README.md": "# A `b`: c, d!\n\n## Two\n\n## Two\n\n[x](#a-b-c-d) [y](docs/a.md#the-end) [z](#two-1) [w](https://a/b) `[n](no.md)`\n\n"
    "```\n[no](no.md)\n# No\n```\n\n[docs](docs)\n",
    "FORMAT.md": "## 8. Files\n### 8.9 Record spool\n", "Tests/A.swift": "// [FORMAT.md](x), section 8, FORMAT.md,\n/// \"Record\n/// spool\"",
    "docs/a.md": "# The [end](../README.md)\n", "Sources/A/A.docc/A.md": "<doc:B>", "Sources/A/A.docc/B.md": "<doc:A>",
}
CASES = [
    ({"README.md": "\n[x](docs/b.md)"}, "README.md:2: docs/b.md does not exist"), ({"README.md": "![x](a.svg)"}, "a.svg does not"),
    ({"README.md": "[x](docs/a.md#end)"}, "docs/a.md#end: there is no"), ({"README.md": "# A\n[x](#b)"}, "README.md:2: #b: there is no"),
    ({"README.md": "```\n# A\n```\n[x](#a)"}, ":4: #a: there is no"), ({"docs/a.md": "[two\nlines](README.md)"}, "README.md does not"),
    ({"Sources/A/A.docc/A.md": "<doc:C>"}, "the article C"), ({"docs/a.md": "[x](../../tmp)"}, "../../tmp does not"),
    ({"docs/a.md": "[x]: b.md"}, "b.md does not"), ({"docs/a.md": "\nFORMAT.md, section 8.1"}, "a.md:2: FORMAT.md has no heading 8.1"),
    ({"Tests/A.swift": "/// FORMAT.md, \"Spool\""}, "A.swift:1: FORMAT.md has no heading Spool"),
]
