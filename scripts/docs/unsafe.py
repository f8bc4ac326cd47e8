"""What the compiler does not guard lies in a few places, named here: decision 0008.

Everywhere else bytes are lent (`withUnsafeBytes`, an UnsafeRawBufferPointer that a closure or a function gets) and nothing owns raw memory, goes
without counted references or turns checks off.
"""
import re

from .texts import code, line_of

UNGUARDED = (r"\bUnmanaged\b|\b_withUnsafeGuaranteedRef\b|\bexclusivity\(unchecked\)|\bunsafelyUnwrapped\b|\bunsafeBitCast\b|\bnonisolated\(unsafe\)"
    r"|\bUnsafe(?:Mutable)?(?:Raw)?(?:Buffer)?Pointer(?:<[^>\n]*>)?\.allocate\b|\bUnsafeMutable(?:Raw)?(?:Buffer)?Pointer<|\bUnsafePointer<|\.allocate\(")
# Pages, rows and records; libpq's results.
FOLDERS = ("Sources/Streams/", "Sources/Batch/Migrations/Engine/", "Sources/Batch/Migrations/Policies/", "Sources/Batch/PostgresLoads/")
FILES = {
    "Sources/Batch/Codecs/SHA256.swift": "blocks for the processor's instructions",
    "Sources/Batch/CoreDataModel/EntityTexts.swift": "large model files, looked through without copies",
    "Sources/Batch/CoreDataStore/SourceFingerprint.swift": "one page of a store after the other",
    "Sources/Batch/MigrationJobs/Job/Backup/StoreCopy.swift": "a buffer for all of a copy",
    "Sources/Batch/RunSupport/ProcessMemory.swift": "a function of libc that is looked for",
    "Sources/Batch/MigrationJobs/Job/JobRegistry.swift": "getpwuid_r",
    "Sources/Batch/MigrationJobs/Job/ProcessHandle.swift": "functions of libc that are looked for",
    "Sources/Batch/Migrations/Planning/TableTally.swift": "counts for each row",
    "Sources/Batch/StoreExports/ExportText.swift": "text for each row",
    "Sources/Batch/StoreImports/ImportPiece.swift": "rows of each line",
    "Sources/Batch/StoreImports/ImportRow.swift": "values of each line",
    "Sources/Batch/StoreImports/ImportShape.swift": "the shape and the key of each line",
    "Sources/Batch/StoreVerification/StoreConnection.swift": "sqlite3_interrupt from another thread",
    "Sources/BatchCommand/OperatingOptions.swift": "functions of libc that are looked for",
    "Sources/BatchCommand/ProcessSignals.swift": "the handler of a signal",
}

def check(root):
    for path in code(root, "Sources"):
        name = str(path.relative_to(root))
        if name.startswith(FOLDERS): continue
        text = re.sub(r"//.*", "", path.read_text())
        found = [(line_of(text, each.start()), each[0]) for each in re.finditer(UNGUARDED, text)]
        if name in FILES:
            if not found: yield f"{name}:1: has nothing unguarded any more: take it off the list in scripts/docs/unsafe.py"
        else:
            for line, word in found: yield f"{name}:{line}: {word}: only the places of decision 0008 go without the compiler's guard"

SOUND = {
    "Sources/Streams/A.swift": "let page = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)", "Sources/Batch/CoreDataModel/A.swift":
    "bytes.withUnsafeBytes { (lent: UnsafeRawBufferPointer) in }  // no Unmanaged", "Sources/BatchCommand/ProcessSignals.swift": "unsafeBitCast(a, to: B.self)",
}
CASES = [
    ({"Sources/Batch/CoreDataModel/A.swift": "\nlet held = Unmanaged.passUnretained(a)"}, "A.swift:2: Unmanaged"),
    ({"Sources/Batch/CoreDataModel/A.swift": "@exclusivity(unchecked) var a = 1"}, "A.swift:1: exclusivity(unchecked)"),
    ({"Sources/Batch/CoreDataModel/A.swift": "let a = UnsafeMutablePointer<Int>.allocate(capacity: 1)"}, "A.swift:1: UnsafeMutablePointer<Int>.allocate"),
    ({"Sources/BatchCommand/ProcessSignals.swift": "let a = 1"}, "ProcessSignals.swift:1: has nothing unguarded"),
]
