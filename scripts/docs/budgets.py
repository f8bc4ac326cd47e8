"""No Swift file is longer than 250 lines, no function than 30, but for those in scripts/docs-exceptions.txt, which may shrink and not grow.

A function's lines are those between its braces; a file's are all but its imports. A line of the list is `path size` or `path:function size`.
"""
import re

from .texts import line_of

FILE, FUNCTION = 250, 30
LIST = "scripts/docs-exceptions.txt"
PLACES = ["Sources", "Tests", "Examples", "Benchmarks", "scripts"]
WORDS = r"\bfunc\s+(?P<name>`[^`]+`|[^\s(<]+)|(?<![.\w`])(?P<word>init|subscript)[?!]?\s*[(<]|\bdeinit\b"
IMPORT = r"^ *(?:@\w+ )*(?:public |package |internal )?import "
REGEX = r"#/.*?/#|(?:(?<=[(\[])|(?<=[,:=] ))/(?![ *])(?:\\.|[^\\\n/])+/"
CODE = re.compile(REGEX + r"|//[^\n]*|/\*|#*\"\"\"|#*\"|[{}()]|" + WORDS)

def tokens(text):
    """Braces, parentheses and heads of functions, outside comments and strings but within what strings interpolate."""
    position, inside = 0, []  # inside: delimiters of strings, and "(" for each parenthesis within what one interpolates
    while position < len(text):
        if inside and inside[-1] != "(":
            hashes = inside[-1].count("#")
            end = re.compile(r"\\" + "#" * hashes + r"(\(|.)|" + re.escape(inside[-1].lstrip("#") + "#" * hashes), re.S).search(text, position)
            if not end: return
            position = end.end()
            if end[1] == "(": inside.append("(")
            elif not end[1]: inside.pop()
            continue
        found = CODE.search(text, position)
        if not found: return
        position = found.end()
        if found[0] == "/*": position = text.index("*/", position) + 2
        elif found[0][-1] == '"': inside.append(found[0])
        elif found[0][0] != "/" and found[0][-2:] != "/#":
            if inside and found[0][-1] == "(": inside.append("(")
            elif inside and found[0] == ")" and inside.pop() and inside[-1] != "(": continue
            yield found

def functions(text):
    """Each function's name, the number of lines between its braces, and the line of the first one."""
    depth, heads, bodies, braces = 0, [], [], 0
    for token in tokens(text):
        kind = token[0]
        if kind == "{":
            braces += 1
            if heads and heads[-1][1] == depth: bodies.append((heads.pop()[0], braces, token.start()))
        elif kind == "}":
            heads = [head for head in heads if head[2] < braces]
            if bodies and bodies[-1][1] == braces:
                name, _, start = bodies.pop()
                yield name, max(0, text.count("\n", start, token.start()) - 1), line_of(text, start)
            braces -= 1
        elif kind == ")": depth -= 1
        elif kind == "(": depth += 1
        else:
            heads = [head for head in heads if head[1] != depth]
            heads.append((token["name"] or token["word"] or kind, depth, braces))
            depth += kind[-1] == "("
    if braces or depth: yield "braces that do not match", 10**6, 1

def sizes(root):
    """What is over its budget: path or path:function, the number of lines, and the line where it begins."""
    for path in sorted(path for place in PLACES for path in root.glob(place + "/**/*.swift") if ".build" not in path.parts):
        text, name, longest = path.read_text(), path.relative_to(root), {}
        if (lines := text.count("\n") - len(re.findall(IMPORT, text, re.M))) > FILE: yield str(name), lines, 1
        for function, lines, line in functions(text): longest[function] = max((lines, line), longest.get(function, (0, 0)))
        for function, (lines, line) in longest.items():
            if lines > FUNCTION: yield f"{name}:{function}", lines, line

def check(root):
    found = {name: (lines, line) for name, lines, line in sizes(root)}
    listed = {}
    for number, line in enumerate((root / LIST).read_text().splitlines(), 1):
        if line.startswith("#") or not line: continue
        name, _, size = line.rpartition(" ")
        listed[name] = int(size)
        if name not in found: yield f"{LIST}:{number}: {name} is within its budget: remove the line"
    for name, (lines, line) in found.items():
        path, _, function = name.partition(":")
        budget = listed.get(name, FUNCTION if function else FILE)
        if lines > budget: yield f"{path}:{line}: {function or 'the file'} has {lines} lines, {budget} at most"

def body(lines, head="func long(a: () -> Void = {}) -> String"):
    return f"struct A {{\n  {head} {{\n" + "    work(\"}\\(a(\"{\"))\") // }\n" * lines + "  }\n}\n"

PATTERNS = r"""let a = #/"{/#, b = c(/\/"{[(]/), d = e / f{}, g = [/"\(/, /}/]""" + "\n"
SOUND = {
    "Sources/A.swift": body(30) + "protocol P {\n  func short()\n}\n" + PATTERNS
    + "/* { */ let a = #\"\"\"\n \" { \\#(b) \"\"\" { \"\"\"#\n" + body(30, "init?(a: Int)"),
    "Tests/B.swift": "import A\n@testable import B\n" + "\n" * 250, "Tests/C.swift": body(40) + "\n" * 230, LIST: "# Reasons\nTests/C.swift 280\nTests/C.swift:long 41\n",
}
CASES = [
    ({"Sources/A.swift": body(31)}, "A.swift:2: long has 31 lines, 30"), ({"Sources/A.swift": body(31, "init(a: Int)")}, "init has 31"),
    ({"Sources/A.swift": "\n" * 251}, "A.swift:1: the file has 251 lines, 250"), ({"Tests/C.swift": body(42) + "\n" * 230}, "long has 42 lines, 41"),
    ({"Tests/C.swift": body(30) + "\n" * 230}, "docs-exceptions.txt:3: Tests/C.swift:long is within"),
    ({"Tests/C.swift": body(40)}, "txt:2: Tests/C.swift is"),
    ({"Sources/A.swift": "func a() { {\n"}, "do not match"), ({"Sources/A.swift": body(31, "subscript(a: Int) -> Int")}, "subscript has 31"),
]
