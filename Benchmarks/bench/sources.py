"""Sources of SwiftData as an application has them: how soon a check of them answers."""
import os
import shutil
import subprocess

from .measure import contest, summary

CLASSES, FILES, TAGS = 50, 40, 20
HASH, CHECK = f"hash, {CLASSES} classes in {FILES} files", f"check, {TAGS} tags"
TYPES = [("String", '""'), ("Int", "0"), ("Double", "0"), ("Bool", "false"), ("Date", "Date()"), ("UUID", "UUID()"), ("Data?", "nil"), ("String?", "nil"),
         ("[String]", "[]"), ("Kind", "Kind.plain")]


def _class(number, extra):
    """Attributes of ten types, a to-many and a to-one relationship, and the code that such classes have."""
    name, following = f"Model{number}", f"Model{(number + 1) % CLASSES}"
    values = [f"  var value{place}: {kind} = {value}" for place, (kind, value) in enumerate(TYPES + [TYPES[1]] * extra)]
    links = [f"  @Relationship(deleteRule: .cascade, inverse: \\{following}.owner{number}) var parts: [{following}] = []",
             f"  var owner{(number - 1) % CLASSES}: Model{(number - 1) % CLASSES}?"]
    code = ["  init(value0: String) { self.value0 = value0 }", "  var isEmpty: Bool { value0.isEmpty && parts.allSatisfy { $0.value1 == 0 } }",
            "  func add(_ count: Int) throws -> Double {", "    guard count > 0 else { throw CocoaError(.validationNumberTooSmall) }",
            "    return (0..<count).map { Double($0) * value2 }.reduce(0, +)", "  }"]
    return "\n".join(["@Model final class " + name + " {", "  #Index<" + name + ">([\\.value0])", *values, *links, *code, "}", ""])


def _write(folder, tag):
    """At each tag two more classes have an attribute more than before."""
    os.makedirs(folder, exist_ok=True)
    for number in range(FILES):
        own = [_class(place, extra=int(place < 2 * tag)) for place in range(number, CLASSES, FILES)]
        with open(os.path.join(folder, f"Models{number}.swift"), "w") as file:
            file.write("import Foundation\nimport SwiftData\n\n" + "\n".join(own))
    with open(os.path.join(folder, "Schema.swift"), "w") as file:
        names = ", ".join(f"Model{number}.self" for number in range(CLASSES))
        file.write(f"enum Kind: String, Codable {{ case plain, other }}\nlet schema = Schema([{names}], version: Schema.Version(1, {tag}, 0))\n")


def _repository(place):
    def git(*words):
        subprocess.run(["git", "-C", place, "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false", *words], check=True, capture_output=True)
    os.makedirs(place)
    git("init", "-q", ".")
    for tag in range(1, TAGS + 1):
        _write(os.path.join(place, "App"), tag)
        git("add", "-A")
        git("commit", "-qm", "change")
        git("tag", f"v{tag}")


def check(bench):
    place = os.path.join(bench.folder, "sources")
    shutil.rmtree(place, ignore_errors=True)
    _repository(place)
    models, lock = os.path.join(place, "App"), os.path.join(place, "schema.lock")
    tags = [f"{models}@v{tag}" for tag in range(1, TAGS + 1)]
    program = bench.programs["godwit"]
    subprocess.run([program, "lock", *tags, "--lock", lock], check=True, capture_output=True)
    contestants = {HASH: [program, "hash", models], CHECK: [program, "check", *tags, "--lock", lock]}
    samples = contest("swift", contestants, bench.output, bench.rounds)
    files = [os.path.join(models, name) for name in os.listdir(models)]
    return {"title": f"sources of SwiftData: {CLASSES} classes in {FILES} files, and {TAGS} tags of them against a lock", "rows": 0,
            "bytes": sum(map(os.path.getsize, files)), "rounds": bench.rounds, "equal": [],
            "entries": {name: summary(of) for name, of in samples.items()}}
