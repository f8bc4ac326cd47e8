"""Makes a store of text, against SQL's INSERT of the same lines."""
import os
import subprocess

from . import stores as data
from .measure import Failed, contest, summary

FORMS = ("jsonl", "csv")
QUERY = ["SELECT * FROM ZITEM ORDER BY Z_PK"]
SCHEMA = "CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAMOUNT INTEGER, ZFLAG INTEGER, ZPOSITION INTEGER, ZPRICE FLOAT )"
# Before the first table, as Core Data's files are.
FILE = "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; "
FAST = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -524288; PRAGMA temp_store = MEMORY; "


def own(form):
    return f"godwit, {form}"


def program(form):
    return f"prepared INSERT in C, {form}"


# As a person would write it for the sqlite3 command line.
SHELL = {"jsonl": "SQL by JSON functions, jsonl", "csv": "SQL behind .import, csv"}
TAKEN = {"jsonl": "line->>'$.key', 1, 1, line->>'$.attributes.amount', line->>'$.attributes.flag', line->>'$.attributes.position', line->>'$.attributes.price'",
         "csv": "key, 1, 1, amount, flag = 'true', position, price"}


def build(bench):
    """The peer, which makes the lines as well."""
    path = os.path.join(bench.folder, "lines")
    subprocess.run(["cc", "-O2", "-o", path, bench.file("Programs/Lines/lines.c"), "-lsqlite3"], check=True)
    return path


def inserting(bench, lines, source):
    """SQL from the file, in one transaction, and a sync of the result."""
    schema = f"{FILE}PRAGMA journal_mode = OFF; {SCHEMA}"
    return ["sh", "-c", f"sqlite3 '{bench.output}' '{schema}' > /dev/null && '{lines}' insert '{source}' '{bench.output}' && sync '{bench.output}'"]


def by_shell(bench, form, source):
    """The shell reads lines into a table in memory, as many as there are, and one statement makes rows of them."""
    columns, reading = (("key, amount, flag, position, price", f".import --csv --skip 1 '{source}' lines --schema temp\n") if form == "csv" else
                        ("line TEXT", f".mode ascii\n.separator \"\\037\" \"\\n\"\n.import '{source}' lines --schema temp\n"))
    script = (f".bail on\n{FILE}{FAST}\n{SCHEMA};\nCREATE TEMP TABLE lines ({columns});\n{reading}"
              f"BEGIN;\nINSERT INTO ZITEM SELECT {TAKEN[form]} FROM temp.lines;\nCOMMIT;\n")
    path = os.path.join(bench.folder, f"{form}.sql")
    with open(path, "w") as file:
        file.write(script)
    return ["sh", "-c", f"sqlite3 -batch '{bench.output}' < '{path}' > /dev/null && sync '{bench.output}'"]


# SQLite's shell has all lines in memory: more of them would measure that.
MOST_LINES = 10_000_000


def race(bench):
    lines, contestants, sizes = build(bench), {}, {}
    for form in FORMS:
        source = os.path.join(bench.folder, f"Item-{bench.rows}", f"Item.{form}")
        os.makedirs(os.path.dirname(source), exist_ok=True)
        if not os.path.exists(source):
            subprocess.run([lines, "make", str(bench.rows), source], check=True)
        sizes[form] = os.path.getsize(source)
        contestants[own(form)] = [bench.programs["book-migration"], "import", bench.stores.models("Small"), source, "--output", bench.output, "--quiet"]
        contestants[program(form)] = inserting(bench, lines, source)
        if bench.rows <= MOST_LINES:
            contestants[SHELL[form]] = by_shell(bench, form, source)
    digests = {}
    samples = contest("import", contestants, bench.output, bench.rounds, lambda name, path: digests.update({name: data.digest(path, QUERY)}))
    if len(set(digests.values())) > 1:
        raise Failed(f"import: the tables differ: {digests}")
    return {"title": "objects of four small columns, from text", "bytes": sum(sizes.values()), "rows": bench.rows, "rounds": bench.rounds,
            "equal": sorted(digests), "forms": sizes, "entries": {name: summary(found) for name, found in samples.items()}}
