"""Rules of CONTRIBUTING.md that one can see in the text of a file.

Names: no Utils, no Helpers, no Manager but Core Data's. At most two parameters without a label. Tests: none is disabled. Files: Streams and Batch change none but through FileSystem.
Decisions: numbered, with five headings. CHANGELOG: every line has a label. Formats: those of the code are in FORMAT.md's history.
"""
import re

from .texts import code, line_of

NAME = r"\b(?:class|struct|enum|protocol|actor|typealias) (\w*(?:Utils?|Helpers|Manager))\b"
OURS = {"MigrationManager", "NSMigrationManager"}
# The trial of a trace is in a folder of its own under the system's temporary one, which nobody resumes; the package of policies is made again.
TEMPORARY = {"Sources/Batch/MigrationJobs/Trace/MigrationTrace.swift", "Sources/Batch/PolicyPrograms/Package/PolicyPackage.swift"}
DISABLED = r"\.disabled\(|\bwithKnownIssue\b|#if false\b|\bXCTSkip\b"
CHANGES = (r"FileManager\.default\.(?:create|remove|move|copy|set|replace)\w*\(|\bfopen\(|\.write\(to(?:File: |: URL)"
    r"|\b(?:Glibc|Musl)\.(?:open|write|rename|unlink|mkdir)\(")
HEADINGS = ["Question", "Decision", "Reasons", "Price", "When to decide again"]
# Streams is about SQLite's file format and durable files alone.
STREAMS_IMPORTS = {"Glibc", "Musl", "CLZ4", "CProcessor", "Synchronization", "Dispatch"}
CORE_DATA = r"\b(?:ManagedObject\w*|EntityDescription|AttributeDescription|RelationshipDescription|MappingModel|EntityMapping\w*|PropertyMapping|EntityMigrationPolicy|NS[A-Z]\w+|Z_[A-Z]+)\b"
LABELS = "New|Changed|Fixed|Removed|Format|Security"

def matches(root, pattern, *places):
    for path in code(root, *places):
        text = path.read_text()
        for found in re.finditer(pattern, text): yield f"{path.relative_to(root)}:{line_of(text, found.start())}", found[found.lastindex or 0]

TYPE = r"^(?:@[\w()]+ )*(?:public |package |private |fileprivate )?(?:final |indirect )*(?:struct|class|enum|protocol|actor|typealias) (\w+)"

def check_files(root):
    for path in code(root, "Sources"):
        types = re.findall(TYPE, path.read_text(), re.M)
        if types and path.stem not in types: yield f"{path.relative_to(root)}:1: a file that declares types is named for one of them: {', '.join(types)}"

PARAMETERS = r"\b(?:func\s+\w+|init[?!]?)\s*(?:<[^(]*>)?\(((?:[^()]|\([^()]*\))*)\)"

def check_labels(root):
    for path in code(root, "Sources"):
        text = path.read_text()
        for found in re.finditer(PARAMETERS, text):
            if len(re.findall(r"(?:^|,)\s*_ \w+:", re.sub(r"\([^()]*\)", "", found[1]))) > 2: yield f"{path.relative_to(root)}:{line_of(text, found.start())}: of three parameters at least one has a label"

def check_code(root):
    for path in code(root, "Sources", "Tests"):
        if re.search(r"Utils?|Helpers", path.stem): yield f"{path.relative_to(root)}:1: a file is named for what it has, not Utils or Helpers"
    for place, name in matches(root, NAME, "Sources", "Tests"):
        if name not in OURS: yield f"{place}: {name}: a type is named for what it is"
    for place, found in matches(root, DISABLED, "Tests"): yield f"{place}: {found}: a failing test is repaired, or its promise is given up openly"
    for place, found in matches(root, CHANGES, "Sources/Streams", "Sources/Batch"):
        if "Sources/Streams/Files/" not in place and place.partition(":")[0] not in TEMPORARY: yield f"{place}: {found}: files are changed through FileSystem"

def check_streams(root):
    for path in code(root, "Sources/Streams"):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            line, place = re.sub(r'"(?:[^"\\]|\\.)*"|//.*', "", line), f"{path.relative_to(root)}:{number}"
            imported = re.match(r"(?:@\w+ )?import (\w+)", line)
            if imported and imported[1] not in STREAMS_IMPORTS: yield f"{place}: Streams does without {imported[1]}"
            for found in re.findall(CORE_DATA, line): yield f"{place}: {found}: Streams does not know Core Data"

def check_decisions(root):
    for number, path in enumerate(sorted(root.glob("docs/decisions/*.md")), 1):
        name, text = path.relative_to(root), path.read_text()
        if not path.name.startswith(f"{number:04}-") or not text.startswith(f"# {number:04} – "): yield f"{name}:1: this is decision {number:04}"
        found = re.findall(r"^## (.*)$", text, re.M)
        if [heading.partition(" and ")[0] for heading in found] != HEADINGS: yield f"{name}:1: the headings are {', '.join(HEADINGS)}"

def check_changes(root):
    text = (root / "CHANGELOG.md").read_text()
    for entry in re.finditer(r"^[*-] .*$", text, re.M):
        if not re.match(rf"\* (?:{LABELS}): ", entry[0]): yield f"CHANGELOG.md:{line_of(text, entry.start())}: a line begins with {LABELS.replace('|', ', ')}"

def check_formats(root):
    job, text = root / "Sources/Batch/MigrationJobs/Job", (root / "FORMAT.md").read_text()
    plan, fingerprint = (job / "JobPlan.swift").read_text(), (job / "PlanFingerprint.swift").read_text()
    number, layout = re.search(r"currentFormat = (\d+)", plan)[1], re.search(r"writeString\(\"(layout \d+)\"\)", fingerprint)[1]
    for what, row in [(f"plan format {number}", rf"^\| {number} \| \d"), (f"plan format {number}", rf"^\| `format` \| {number}\b"), (layout, rf"^\| `{layout}` \| \d")]:
        if not re.search(row, text, re.M): yield f"FORMAT.md:1: {what} of Sources/Batch/MigrationJobs/Job is not in its tables"
    if not (root / f"Tests/CommandTests/Golden/plan-{number}.tar.gz").exists(): yield f"Tests/CommandTests/Golden: there is no run of plan format {number}; scripts/golden-run makes one"

def check(root):
    for part in (check_code, check_labels, check_files, check_streams, check_decisions, check_changes, check_formats): yield from part(root)

PLAN, LAYOUT = "let currentFormat = 3\n", 'writer.writeString("layout 2")\n'
SOUND = {
    "Sources/Batch/MigrationJobs/Job/JobPlan.swift": PLAN, "Sources/Batch/MigrationJobs/Job/PlanFingerprint.swift": LAYOUT, "FORMAT.md": "| `format` | 3. |\n\n| 3 | 2026 | x |\n| `layout 2` | 2026 | x |\n", "Tests/CommandTests/Golden/plan-3.tar.gz": "",
    "CHANGELOG.md": "* New: a\n  - b\n* Fixed: c\n", "docs/decisions/0001-a.md": "# 0001 – A\n" + "".join(f"## {heading}\n" for heading in HEADINGS),
    "Sources/Batch/MigrationManager.swift": "final class MigrationManager {}\nlet file = fileSystem.open(path)\nvalue.write(to: base)", "Sources/Streams/Files/A.swift": "import Glibc\nfunc a(_ a: Int, b: (_ c: Int, _ d: Int) -> Int) {}\nGlibc.open(path) // for Z_PK\nlet name = \"Z_ENT\"",
}
CASES = [
    ({"Sources/Batch/A.swift": "func add(\n  _ a: Int, _ b: [(Int) -> Int],\n  _ c: Int\n) {}\n"}, "A.swift:1: of three parameters"),
    ({"Sources/Batch/Rows.swift": "struct Row {}\n"}, "Rows.swift:1: a file that declares types"),
    ({"Sources/Batch/StringUtils.swift": ""}, "StringUtils.swift:1: a file is"), ({"Tests/A.swift": "\nstruct RowHelpers {}"}, "A.swift:2: RowHelpers: a type"),
    ({"Sources/Batch/A.swift": "enum FileManagers {}\nclass StoreManager {}"}, "A.swift:2: StoreManager"), ({"Tests/A.swift": "@Test(.disabled(\"later\"))"}, "A.swift:1: .disabled("),
    ({"Sources/Batch/A.swift": "\nFileManager.default.removeItem(a)"}, "A.swift:2: FileManager.default.removeItem("), ({"Sources/Streams/A.swift": "Glibc.open(path)"}, "A.swift:1: Glibc.open("),
    ({"Sources/Streams/A.swift": "import Foundation"}, "A.swift:1: Streams does without Foundation"), ({"Sources/Streams/A.swift": "\nlet key = Z_PK // Z_ENT"}, "A.swift:2: Z_PK"),
    ({"docs/decisions/0003-b.md": "# 0003 – B\n"}, "0003-b.md:1: this is decision 0002"), ({"docs/decisions/0001-a.md": "# 0001 – A\n"}, "the headings are"),
    ({"CHANGELOG.md": "* New: a\n* it is new\n"}, "CHANGELOG.md:2: a line"), ({"Sources/Batch/MigrationJobs/Job/JobPlan.swift": PLAN.replace("3", "4")}, "plan format 4"),
    ({"Sources/Batch/MigrationJobs/Job/PlanFingerprint.swift": LAYOUT.replace("layout 2", "layout 3")}, "layout 3 of"), ({"FORMAT.md": SOUND["FORMAT.md"].replace("| 3 | 2026", "| 2 | 2026")}, "plan format 3"),
]
