"""The site's navigation in mkdocs.yml has each document once, and nothing else. Catalogues of DocC have an order of their own."""
import re

from .texts import documents, line_of

BOOK = "mkdocs.yml"

def check(root):
    text = (root / BOOK).read_text()
    wanted = {str(path.relative_to(root)) for path in documents(root) if path.parent.suffix != ".docc"}
    found = {}
    for entry in re.finditer(r"^ +- (?:.*: )?(\S+\.md)$", text[text.index("\nnav:") :], re.M):
        name, line = entry[1], line_of(text, text.index("\nnav:") + entry.start())
        if name in found: yield f"{BOOK}:{line}: {name} is in the navigation twice"
        elif name not in wanted: yield f"{BOOK}:{line}: {name} is no document"
        found[name] = line
    for name in sorted(wanted - found.keys()): yield f"{BOOK}: {name} is not in the navigation"

SOUND = {"mkdocs.yml": "site_name: A\nnav:\n  - A: README.md\n  - Manual:\n      - docs/a.md\n", "README.md": "", "docs/a.md": "", "Sources/A/A.docc/A.md": ""}
CASES = [
    ({"docs/b.md": ""}, "docs/b.md is not in"), ({"mkdocs.yml": SOUND["mkdocs.yml"] + "      - docs/a.md\n"}, "mkdocs.yml:6: docs/a.md is in the navigation twice"),
    ({"mkdocs.yml": SOUND["mkdocs.yml"] + "      - B: docs/c.md\n"}, "docs/c.md is no document"),
]
