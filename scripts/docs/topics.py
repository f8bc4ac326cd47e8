"""Each public type of a library stands in a topic of its catalogue: DocC puts the others in groups by kind, where nobody looks for them."""
import re

TYPE = re.compile(r"^public (?:final |indirect )*(?:struct|enum|class|protocol|actor|typealias) (\w+)", re.M)
LISTED = re.compile(r"^- ``(\w+)``", re.M)

def check(root):
    for catalogue in sorted(root.glob("Sources/*/*.docc")):
        module = catalogue.parent
        listed = {name for page in catalogue.rglob("*.md") for name in LISTED.findall(page.read_text())}
        for file in sorted(module.rglob("*.swift")):
            text = file.read_text()
            for found in TYPE.finditer(text):
                if found[1] not in listed:
                    line = text.count("\n", 0, found.start()) + 1
                    yield f"{file.relative_to(root)}:{line}: {found[1]} is public and in no topic of {catalogue.relative_to(root)}"

SOUND = {"Sources/A/A.docc/A.md": "## Topics\n\n- ``Known``\n", "Sources/A/Known.swift": "public struct Known {\n  public enum Inner {}\n}\nstruct Other {}\n"}
CASES = [
    ({"Sources/A/New.swift": "// x\npublic final class New {}\n"}, "Sources/A/New.swift:2: New is public and in no topic of Sources/A/A.docc"),
    ({"Sources/A/New.swift": "public indirect enum New {}\n"}, "New is public"),
    ({"Sources/A/A.docc/A.md": "Known\n"}, "Known is public"),
]
