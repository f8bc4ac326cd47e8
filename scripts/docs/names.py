"""What documents name exists: tests, as `SuiteTests "name of a test"`, and paths of this repository."""
import re

from .texts import code, documents, line_of

SUITE = r"(?<![\w./])([A-Z]\w*Tests)\b((?:,?\s+(?:\"[^\"]+\"|`\w+`))*)(?!\.xc)"
PATH = r"(?<![\w./:-])(?:\.ci|Benchmarks|Examples|Packaging|Sources|Tests|docs|scripts)/[\w.+/-]*\w(?![\w*{<])"

def suites(root):
    """The text of each suite's files, by its name; folders of tests are names, too."""
    texts = {path.name: "" for path in root.glob("Tests/*")}
    for path in code(root, "Tests"):
        text = path.read_text()
        for name in re.findall(r"\b(?:struct|class|extension|enum|actor) (\w+Tests)\b", text): texts[name] = texts.get(name, "") + text
    return texts

def check_tests(text, tests):
    for found in re.finditer(SUITE, text):
        suite, line = found[1], line_of(text, found.start())
        if suite not in tests: yield line, f"{suite} does not exist"
        for name in re.findall(r"\"[^\"]+\"|`\w+`", found[2]):
            name = " ".join(name.split())
            declaration = f"func {name[1:-1]}(" if name[0] == "`" else name
            if declaration not in tests.get(suite, ""): yield line, f"{suite} {name} does not exist"

def check(root):
    tests = suites(root)
    files = {path.name for path in code(root, "Sources", "Tests", "Examples", "Benchmarks", "scripts")}
    for path in documents(root):
        text = path.read_text()
        faults = list(check_tests(text, tests))
        for found in re.finditer(PATH, text):
            if not (root / found[0]).exists(): faults.append((line_of(text, found.start()), f"{found[0]} does not exist"))
        for found in re.finditer(r"`(\w+\.swift)`", text):
            if found[1] not in files | {"Package.swift"}: faults.append((line_of(text, found.start()), f"no file is named {found[1]}"))
        for line, fault in faults: yield f"{path.relative_to(root)}:{line}: {fault}"

SOUND = {
    "docs/a.md": 'ATests "one\ntest", `two`; BatchTests; `scripts/run --fast`, `https://a/docs/b`, `Tests/BatchTests`, docs/*.md; `A.swift`',
    "scripts/run": "", "Tests/BatchTests/A.swift": 'struct ATests {\n  @Test("one test") func two() {} }\n',
}
CASES = [
    ({"docs/a.md": 'ATests "one"'}, 'a.md:1: ATests "one" does not'), ({"docs/a.md": "\nATests `one`"}, "a.md:2: ATests `one` does not"),
    ({"docs/a.md": "BTests"}, "BTests does not"), ({"Tests/BatchTests/A.swift": "struct ATests { func two() {} }"}, '"one test" does not'),
    ({"docs/a.md": "`scripts/walk --fast`"}, "scripts/walk does not"), ({"docs/a.md": "`B.swift`"}, "no file is named B.swift"),
    ({"docs/a.md": "`Sources/A/B.swift`"}, "Sources/A/B.swift does not"),
]
