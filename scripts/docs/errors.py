"""Errors are data, and every public function says which ones it throws.

Throws: the comment of a public declaration that throws has a line `- Throws:`; those that Codable asks for are not looked at. Texts: no code of
Sources decides anything by the text of an error. Two files may read one: LibpqText, since what libpq says of a connection has no code, and
FleetStatusCommand, which does not name a store twice.
"""
import re

from .texts import code, line_of

DECLARATION = r"^ *(?:@\w+(?:\([^)\n]*\))? )*public (?:[a-z]+ )*(?:func|init|subscript)\b"
CODABLE = r"\binit\(from \w+: any Decoder\)|\bfunc encode\(to \w+: any Encoder\)"
READ = r"(?:contains|hasPrefix|hasSuffix|range|replacing|firstMatch|wholeMatch|firstRange|lowercased|uppercased|split)\b"
TEXT = (r"(?:\b(?:message|hint|reason|aftermath|localizedDescription)\??|\"\\\((?:\w*[eE]rror|failure|cause|refusal)\)\"|"
    r"\b(?:\w*[eE]rror|failure|cause|refusal)\.description)\??\." + READ)
READERS = {"Sources/Batch/PostgresLoads/LibpqText.swift", "Sources/BatchCommand/Fleet/FleetStatusCommand.swift"}

def head(text, start, end):
    """A declaration up to its body, without what is in parentheses."""
    depth, kept = 0, ""
    for position in range(end, len(text)):
        letter = text[position]
        if letter in "([": depth += 1
        if depth == 0: kept += letter
        if letter in ")]": depth -= 1
        elif depth == 0 and letter == "{": break
        elif depth == 0 and letter == "\n" and not re.match(r"\s*(?:throws|async|->|where|\{)", text[position + 1 : position + 80]): break
    return text[start:position], kept

def comment(text, start):
    lines = text[:start].splitlines()
    found = []
    while lines and re.match(r"\s*(?:///|@)", lines[-1]): found.append(lines.pop())
    return "\n".join(found)

def check_throws(text):
    for found in re.finditer(DECLARATION, text, re.M):
        whole, kept = head(text, found.start(), found.end())
        if re.search(r"\bthrows\b", kept) and not re.search(CODABLE, whole) and "- Throws:" not in comment(text, found.start()):
            yield line_of(text, found.start()), "a public function that throws says what, in a line `- Throws:` of its comment"

def check_texts(text):
    without_comments = re.sub(r"^( *)//.*$", r"\1", text, flags=re.M)
    for found in re.finditer(TEXT, without_comments):
        yield line_of(without_comments, found.start()), f"{found[0]}: code asks an error for its code, effect or state, and not for its text"

def check(root):
    for path in code(root, "Sources"):
        name, text = str(path.relative_to(root)), path.read_text()
        for line, fault in check_throws(text): yield f"{name}:{line}: {fault}"
        if name not in READERS:
            for line, fault in check_texts(text): yield f"{name}:{line}: {fault}"

SOUND = {
    "Sources/Batch/A.swift": "/// Reads.\n///\n/// - Throws: ``BatchError``.\n@discardableResult\npublic func read(\n  _ a: Int\n) throws -> Int {}\n"
    "/// Asks.\npublic func ask(_ body: () throws -> Int) -> Int { 1 }\npublic init(from decoder: any Decoder) throws {}\nfunc inner() throws {}\n"
    "// error.message.contains\nif error.code == .refused {}\n",
    "Sources/Batch/PostgresLoads/LibpqText.swift": 'message.contains("away")',
}
CASES = [
    ({"Sources/Batch/A.swift": "/// Reads.\npublic func read() throws {}\n"}, "A.swift:2: a public function"),
    ({"Sources/Batch/A.swift": "/// Reads.\npublic init(\n  a: Int\n) throws {}\n"}, "A.swift:2: a public function"),
    ({"Sources/Batch/A.swift": "/// Throws what it likes.\n  public static func read()\n    async throws -> Int {}\n"}, "A.swift:2: a public"),
    ({"Sources/Batch/A.swift": 'if !error.message.contains("no") {}'}, "A.swift:1: message.contains"),
    ({"Sources/Batch/A.swift": 'error.hint?.replacing("a", with: "")'}, "A.swift:1: hint?.replacing"),
    ({"Sources/Batch/A.swift": '\nlet own = "\\(error)".lowercased()'}, "A.swift:2: \"\\(error)\".lowercased"),
    ({"Sources/Batch/A.swift": 'failure.description.hasPrefix("a")'}, "A.swift:1: failure.description.hasPrefix"),
]
