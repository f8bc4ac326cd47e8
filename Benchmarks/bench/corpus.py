"""The models of real applications against SQL that writes the same rows: every bundle below a folder that is not part of this repository."""
import filecmp
import json
import math
import os
import sqlite3
import subprocess
import sys

from .measure import COPY, Failed, contest, ratio, remove, summary

# Of versions whose path is not inferred, so many are tried.
TRIED = 6

# What SQLite's file format alone forces on anybody: the rows and indexes of the result, and their proof.
BARE = "C, no checks"
# The same with what a migration with a bound of memory cannot leave out: it reads the source's rows, and sorts within that bound.
BOUNDED = "C, no checks, bounded"
# What godwit sorts in where it has 64 MiB for all.
SORTING = (64 - 32) * (1 << 20) // 3
# Its limit is for so many cores, all of them always busy: it runs on one.
CORES = 2
# What a run takes whatever it migrates: the same path with next to no objects.
FEW = "godwit, 100 objects"
# The second worker is worth what this takes longer.
ALONE = "godwit, --workers 1"
# It ends with this where it does not know what a store has.
REFUSED = 2


def folder(root):
    """Where the models are: GODWIT_CORPUS, or ../shared/corpus."""
    return os.path.join(os.environ.get("GODWIT_CORPUS") or os.path.join(root, "..", "shared", "corpus"), "models")


def bundles(place):
    found = []
    for path, folders, _ in os.walk(place):
        found += [os.path.join(path, name) for name in folders if name.endswith(".xcdatamodeld")]
    return sorted(found)


def race(bench, rows):
    """A result with a line for each bundle, or None where there are no models."""
    place = folder(bench.root)
    paths = bundles(place)
    if not paths:
        print(f"no models in {place}: set GODWIT_CORPUS to a folder with models of applications", file=sys.stderr)
        return None
    bare = build(bench)
    races = [line for path in paths for line in [_bundle(bench, path, rows, bare)] if line]
    means = {key: _mean([line[key]["median"] for line in races]) for key in ("ratio", "copy")}
    fixed = {"seconds": _mean([line["entries"][FEW]["wall"]["median"] for line in races]), "mean": _mean([_beyond(line) for line in races])}
    workers = _mean([ratio(line["entries"][ALONE], line["entries"]["godwit"])["median"] for line in races])
    bound = {**_bound(races, "bare", BARE, "floor"), **_bound(races, "bounded", BOUNDED, "bounded")}
    return {"title": f"{len(races)} bundles of applications, from the oldest version that has an inferred path to the newest", "rows": rows,
            "bytes": sum(line["bytes"] for line in races), "rounds": bench.rounds, "equal": [], "entries": {}, "races": races,
            "mean": means["ratio"], "copy": means["copy"], "fixed": fixed, "workers": workers, **bound}


def _beyond(line):
    """How many times as long as SQL takes what objects cost, beyond a run with few of them."""
    own, few, sql = (line["entries"][who]["wall"]["median"] for who in ("godwit", FEW, "SQL"))
    return sql / max(0.001, own - few)


def _bound(races, name, who, key):
    """What the program takes for all bundles that it knows, and how many times as long SQL takes, or nothing."""
    found = [line for line in races if key in line]
    ratios = [line[key] for line in found]
    return {name: {"cpu": sum(line["entries"][who]["cpu"] for line in found), "bundles": len(found), "mean": _mean(ratios),
                   "least": min(ratios)}} if found else {}


def _mean(values):
    """Geometric, as the values are ratios."""
    return math.exp(sum(math.log(value) for value in values) / len(values))


def build(bench):
    """The program that writes the same pages, for this machine: a limit is as fast as it can be."""
    path = os.path.join(bench.folder, "bare")
    subprocess.run(["cc", "-O2", "-march=native", "-Wall", "-Wextra", "-Werror", "-o", path, bench.file("Programs/Bare/bare.c"), "-lsqlite3"], check=True)
    return path


def _call(bench, *words):
    return subprocess.run([bench.programs["book-migration"], *words], capture_output=True, text=True)


def _bundle(bench, path, rows, bare):
    listed = _call(bench, "models", path, "--json")
    if listed.returncode:
        return None
    steps = json.loads(listed.stdout)["models"][0]["steps"]
    versions = [step["from"] for step in steps] + [step["to"] for step in steps[-1:]]
    source, few = (os.path.join(bench.folder, f"corpus{name}.sqlite") for name in ("", "-few"))
    for old in versions[:-1][:TRIED]:
        remove(source)
        remove(bench.output)
        remove(few)
        if any(_call(bench, "sample", path, "--version", old, "--rows", str(count), "--seed", "9", "--output", place).returncode
               for place, count in ((source, rows), (few, 100))):
            continue
        commands = {who: [bench.programs["book-migration"], "migrate", place, "--models", path, "--to", versions[-1], "--output", bench.output,
                          "--quiet"] for who, place in (("godwit", source), (FEW, few))}
        # A target that the store fits already needs no migration.
        if subprocess.run(commands["godwit"], capture_output=True).returncode == 0 and os.path.exists(bench.output):
            return _contest(bench, path, commands, [old, versions[-1]], len(versions), (source, few), bare)
    remove(source)
    remove(few)
    return None


def _contest(bench, path, commands, between, count, sources, bare):
    """SQL reads a copy of the result: what a hand-written migration has to write at least. A plain copy of it is as fast as a disk and a
    file system are. None if nothing of the source is left in it."""
    result, script = os.path.join(bench.folder, "corpus-result.sqlite"), os.path.join(bench.folder, "corpus.sql")
    remove(result)
    os.rename(bench.output, result)
    if not _has_objects(result):
        print(f"{path}: {between[1]} keeps nothing of {between[0]}, so there is nothing to race for", file=sys.stderr)
        for used in (*sources, result):
            remove(used)
        return None
    indexes = write_script(script, result)
    application = os.path.relpath(path, folder(bench.root)).split(os.sep)[0]
    name = f"{application}, {os.path.basename(path).removesuffix('.xcdatamodeld')}"
    sql = ["sqlite3", bench.output, f".read {script}"]
    contestants = {**commands, ALONE: [*commands["godwit"], "--workers", "1"], "SQL": sql, COPY: bench.copy(result),
                   **limit(bench, bare, result, sources[0])}
    samples = contest(f"{name} {' to '.join(between)}", contestants, bench.output, bench.rounds)
    entries = {who: summary(of) for who, of in samples.items()}
    line = {"name": name, "from": between[0], "to": between[1], "versions": count, "indexes": indexes, "bytes": os.path.getsize(result),
            "entries": entries, "ratio": ratio(entries["SQL"], entries["godwit"]), "copy": ratio(entries["SQL"], entries[COPY])}
    if BARE in entries:
        line["floor"] = entries["SQL"]["wall"]["median"] / (entries[BARE]["cpu"] / CORES)
    if BOUNDED in entries:
        line["bounded"] = entries["SQL"]["wall"]["median"] / (entries[FEW]["wall"]["median"] + entries[BOUNDED]["cpu"] / CORES)
    for used in (*sources, result, script):
        remove(used)
    return line


def limit(bench, bare, result, source):
    """The program's commands, without those with which it refuses the store. Both must write the same bytes."""
    commands = {BARE: [bare, "--proof", result, bench.output],
                BOUNDED: [bare, "--source", source, "--memory", str(SORTING), "--proof", result, bench.output]}
    kept, found = os.path.join(bench.folder, "bare.sqlite"), {}
    for who, command in commands.items():
        if not _writes(bench, who, command):
            break
        if found and not filecmp.cmp(kept, bench.output, shallow=False):
            raise Failed(f"{who}: the store is another one than that of {BARE}")
        found[who] = command
        os.replace(bench.output, kept)
    remove(kept)
    return found


def _writes(bench, who, command):
    """Whether the program does not refuse the store. Its output is read here by SQLite: a limit must be of a sound store."""
    remove(bench.output)
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode == REFUSED:
        print(f"{who}: {ended.stderr.strip()}", file=sys.stderr)
        remove(bench.output)
        return False
    if ended.returncode:
        raise Failed(f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr.strip()}")
    store = sqlite3.connect(bench.output)
    found = store.execute("PRAGMA integrity_check").fetchone()[0]
    store.close()
    if found != "ok":
        raise Failed(f"{who}: the store is not sound: {found}")
    return True


def _has_objects(path):
    store = sqlite3.connect(path)
    tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z[^_]*'")]
    found = any(store.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() for name in tables)
    store.close()
    return found


def write_script(script, result):
    """Copies every table, with one computed column, and makes the indexes after. Gives their number."""
    store = sqlite3.connect(result)
    lines = ["PRAGMA page_size=4096; PRAGMA auto_vacuum=2; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;", f"ATTACH '{result}' AS s;"]
    for name, text in store.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
        columns = [row[1] for row in store.execute(f'PRAGMA table_info("{name}")')]
        values = [f'abs("{column}")' if column in ("Z_OPT", "Z_MAX") else f'"{column}"' for column in columns]
        lines += [text + ";", f'INSERT INTO "{name}" SELECT {", ".join(values)} FROM s."{name}";']
    indexes = [text for (text,) in store.execute("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")]
    store.close()
    with open(script, "w") as file:
        file.write("\n".join(lines + [text + ";" for text in indexes]))
    return len(indexes)
