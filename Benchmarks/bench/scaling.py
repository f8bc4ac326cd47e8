"""How far memory, processors and rows carry: indexes of texts, one worker against several, a hundred million rows."""
import os
import shlex
import shutil
import tempfile

from . import corpus
from . import stores as data
from .measure import COPY, contest, measure, ratio, remove, summary

SQL, SMALL, LARGE = "SQL", "godwit", "godwit with --memory 512M"
WORKERS = (1, 2, 16)
SAMPLE, VERIFY = "sample", "verify"
GIB = 1 << 30


def texts(bench):
    """Five indexes, four of them of texts and UUIDs: their entries do not fit into words, nor all of them into memory."""
    source = bench.stores.sample("Texts", bench.rows * 3 // 10)
    result, script = os.path.join(bench.folder, "texts-result.sqlite"), os.path.join(bench.folder, "texts.sql")
    remove(bench.output)
    measure(bench.godwit(source, "Texts"))
    os.rename(bench.output, result)
    corpus.write_script(script, result)
    contestants = {COPY: bench.copy(result), SQL: ["sqlite3", bench.output, f".read {script}"], SMALL: bench.godwit(source, "Texts"),
                   LARGE: bench.godwit(source, "Texts", "--memory", "512M"), **corpus.limit(bench, corpus.build(bench), result, source)}
    samples = contest("texts", contestants, bench.output, bench.rounds)
    found = {"title": "five indexes, of a UUID, a URL, two strings and a date; an attribute is added", "bytes": data.size(source),
             "rows": bench.rows * 3 // 10, "rounds": bench.rounds, "equal": [], "entries": {who: summary(s) for who, s in samples.items()}}
    for used in (result, script):
        remove(used)
    return found


def cores(bench):
    """The same stores with one worker and with more, the default proof included: in memory, as a disk has a time of its own."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else bench.folder
    entries, folder = {}, tempfile.mkdtemp(prefix="godwit-bench-", dir=memory)
    output, other = (os.path.join(folder, f"{name}.sqlite") for name in ("output", "other"))
    try:
        for work, model, rows in (("W1", "Plain", bench.rows // 2), ("W2", "Keyed", bench.rows * 3 // 10)):
            source = shutil.copy(bench.stores.sample(model, rows), folder)
            # A run waits for another one from the same store.
            sources = [source, shutil.copy(source, os.path.join(folder, "twin.sqlite"))]
            commands = [[bench.programs["book-migration"], "migrate", place, "--models", bench.stores.models(model), "--quiet", "--output", to, "--workers"]
                        for place, to in zip(sources, (output, other))]
            contestants = {_name(work, count): [*commands[0], str(count)] for count in WORKERS}
            first, second = (shlex.join([*command, "1"]) for command in commands)
            contestants[_twice(work)] = ["sh", "-c", f"{first} & first=$!; {second} && wait $first"]
            entries |= {who: summary(s) for who, s in contest(work, contestants, output, bench.rounds, others=[other]).items()}
    finally:
        shutil.rmtree(folder)
    return {"title": "W1 and W2 with one worker and with more, the default proof included", "bytes": 0, "rows": bench.rows // 2, "rounds": bench.rounds,
            "equal": [], "entries": entries}


def _name(work, workers):
    return f"{work}, godwit with {workers} worker{'' if workers == 1 else 's'}"


def _twice(work):
    return f"{work}, two runs at once with 1 worker each"


def most(entries, work):
    """What two runs that share nothing get done while one alone gets one done: more than that two workers cannot be
    worth. Results of before have no such run."""
    return 2 * ratio(entries[_name(work, 1)], entries[_twice(work)])["median"] if _twice(work) in entries else None


def speedup(entries, work):
    """How many times as long one worker takes as two."""
    return ratio(entries[_name(work, 1)], entries[_name(work, 2)])["median"]


def rows(bench):
    """A new store of very many rows, and its proof."""
    count, model = bench.rows * 10, bench.stores.models("Small")
    tool = bench.programs["book-migration"]
    commands = {SAMPLE: [tool, "sample", model, "--rows", str(count), "--output", bench.output, "--quiet"],
                VERIFY: [tool, "verify", bench.output, "--models", model]}
    samples = {who: [] for who in commands}
    for _ in range(bench.rounds):
        remove(bench.output)
        for who, command in commands.items():
            # The proof ends with an error where the store is not sound.
            samples[who].append(measure(command))
    size = data.size(bench.output)
    remove(bench.output)
    return {"title": f"a new store of {count:,} objects of four small columns, and the proof of it", "bytes": size, "rows": count, "rounds": bench.rounds,
            "equal": [], "entries": {who: summary(s) for who, s in samples.items()}}


def per_hour(size, entry):
    """GiB an hour."""
    return size / GIB / entry["wall"]["median"] * 3600
