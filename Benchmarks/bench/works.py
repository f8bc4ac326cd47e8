"""The works and who does them. A work is a function that gives a result: what was done, by whom, and how long it took."""
import json
import os
import subprocess
import sys

from . import corpus, forecasts, imports, postgres, scaling, small, sources
from . import stores as data
from .measure import COPY, Failed, contest, measure, remove, spread, summary

NONE, PROVED, FULL = "godwit, --verify none", "godwit", "godwit, --verify full"
SQLITE = "godwit, --verify sqlite"
SQL = "SQL"
SWIFT = "godwit, --verify none, policies in Swift"
CLASSES = "godwit, --verify none, the policy as a class of Core Data"
ROOMY = "godwit with --memory 2G, --verify none"

PLAIN = ["SELECT * FROM ZROW ORDER BY Z_PK", "SELECT * FROM Z_PRIMARYKEY"]
KEYED = PLAIN + ["SELECT * FROM ZGROUP ORDER BY Z_PK", "SELECT * FROM ZOWNER ORDER BY Z_PK"]
LARGE = ["SELECT * FROM ZDOCUMENT ORDER BY Z_PK", "SELECT * FROM ZPHOTO ORDER BY Z_PK", "SELECT * FROM Z_PRIMARYKEY"]
LIBRARY = ["SELECT * FROM ZAUTHOR ORDER BY Z_PK", "SELECT * FROM ZBOOK ORDER BY Z_PK", "SELECT * FROM ZFILE ORDER BY Z_PK",
           "SELECT * FROM ZUSER ORDER BY Z_PK", "SELECT * FROM Z_1BOOKS ORDER BY 1, 2", "SELECT * FROM Z_PRIMARYKEY"]


class Bench:
    """What all works need: the programs, the stores, where output goes."""

    def __init__(self, root, folder, programs, stores, options):
        self.root, self.folder, self.programs, self.stores = root, folder, programs, stores
        self.rows, self.rounds = options.rows, options.rounds
        self.output = os.path.join(folder, "output.sqlite")
        self.duckdb = None

    def file(self, name):
        return os.path.join(self.root, "Benchmarks", name)

    def copy(self, source):
        command = f"cp '{source}' '{self.output}'"
        names = f"'{self.output}'"
        if os.path.exists(source + "-wal"):
            command += f" && cp '{source}-wal' '{self.output}-wal'"
            names += f" '{self.output}-wal'"
        return ["sh", "-c", f"{command} && sync {names}"]

    def sql(self, source, *files):
        return [self.file("peer.sh"), source, self.output, *(self.file(name) for name in files)]

    def godwit(self, source, model, *more, tool=None, mappings=None):
        command = [tool or self.programs["book-migration"], "migrate", source, "--models", self.stores.models(model)]
        if mappings:
            command += ["--mappings", mappings]
        return [*command, "--output", self.output, "--quiet", *more]

    def both(self, source, model, **more):
        return {NONE: self.godwit(source, model, "--verify", "none", **more), PROVED: self.godwit(source, model, **more)}

    def proofs(self, source, model, **more):
        return self.both(source, model, **more) | {FULL: self.godwit(source, model, "--verify", "full", **more)}

    def run(self, name, contestants, source, queries=None):
        """Has the contestants compete; the stores of all that are asked to give the same tables are compared once."""
        digests = {}

        def check(contestant, path):
            if queries and contestant in (NONE, SQL, SWIFT):
                digests[contestant] = data.digest(path, queries)
        samples = contest(name, contestants, self.output, self.rounds, check)
        if len(set(digests.values())) > 1:
            raise Failed(f"{name}: the tables that {' and '.join(digests)} made differ")
        return {
            "bytes": data.size(source), "rows": self.rows, "rounds": self.rounds, "equal": sorted(digests) if len(digests) > 1 else [],
            "entries": {contestant: summary(s) for contestant, s in samples.items()},
        }, samples


def plain(bench):
    source = bench.stores.sample("Plain", bench.rows)
    schema = bench.file("sql/plain-schema.sql")
    insert = f"sqlite3 '{bench.output}' < '{schema}' > /dev/null && '{bench.programs['insert']}' '{source}' '{bench.output}'"
    contestants = {
        COPY: bench.copy(source), SQL: bench.sql(source, "sql/pragmas.sql", "sql/plain.sql"),
        "Swift loop over GRDB": ["sh", "-c", f"{insert} && sync '{bench.output}'"],
    }
    if bench.duckdb:
        floats = f"sed 's/ZCREATED TIMESTAMP/ZCREATED FLOAT/' '{schema}' | sqlite3 '{bench.output}' > /dev/null"
        script = bench.file("bench/duckdb_peer.py")
        contestants["DuckDB"] = [
            "sh", "-c", f"{floats} && '{bench.duckdb}' '{script}' '{source}' '{bench.output}' && sync '{bench.output}'"]
    contestants |= bench.proofs(source, "Plain")
    contestants["godwit, --verify none, one checkpoint"] = bench.godwit(
        source, "Plain", "--verify", "none", "--checkpoint-every", "1000min")
    contestants["decode, transform, encode"] = [bench.programs["floor"], source]
    result, samples = bench.run("W1", contestants, source, PLAIN)
    floor = [json.loads(s["output"])["seconds"] for s in samples["decode, transform, encode"]]
    del result["entries"]["decode, transform, encode"]
    result["floor"] = spread(floor)
    result["title"] = "10 attributes, one changes its type, one is added, no index"
    return result


def keyed(bench):
    source = bench.stores.sample("Keyed", bench.rows)
    schema, rows, indexes, commit = (f"sql/{name}.sql" for name in ("keyed-schema", "keyed", "keyed-indexes", "commit"))
    contestants = {
        COPY: bench.copy(source),
        SQL: bench.sql(source, "sql/pragmas.sql", schema, rows, indexes, commit),
        "SQL, indexes first": bench.sql(source, "sql/pragmas.sql", schema, indexes, rows, commit),
        **bench.proofs(source, "Keyed"), SQLITE: bench.godwit(source, "Keyed", "--verify", "sqlite"),
    }
    result, _ = bench.run("W2", contestants, source, KEYED)
    result["title"] = "W1 with two indexes on foreign keys"
    return result


def library(bench, names, work):
    source = bench.stores.library(bench.rows * 41 // 40, names)
    mappings = os.path.join(bench.root, "Examples/Mappings/Library")
    policies = os.path.join(bench.root, "Examples/BookMigration/Mappings")
    contestants = {
        COPY: bench.copy(source), SQL: bench.sql(source), **bench.proofs(source, "Library", mappings=mappings),
        SWIFT: bench.godwit(source, "Library", "--verify", "none", mappings=policies)}
    if work == "W3b":
        # SQL keeps all names in memory: with as much, and with the 64 MiB that are the default.
        contestants[ROOMY] = bench.godwit(source, "Library", "--verify", "none", "--memory", "2G", mappings=mappings)
    result, _ = bench.run(work, contestants, source, LIBRARY)
    result["title"] = f"author names become objects, many-to-many, {names:,} names; file URLs become objects; two steps"
    return result


def large(bench):
    source = bench.stores.large(bench.rows)
    contestants = {
        COPY: bench.copy(source), SQL: bench.sql(source, "sql/pragmas.sql", "sql/large.sql"), **bench.both(source, "Large")}
    result, _ = bench.run("W4", contestants, source, LARGE)
    result["title"] = "rows of 5 KB text, and of 1 MB blobs; an attribute is added"
    return result


def like_plain(bench, work, source, title):
    fresh = bench.stores.sample("Plain", bench.rows)
    contestants = {
        COPY: bench.copy(source), SQL: bench.sql(source, "sql/pragmas.sql", "sql/plain.sql"), **bench.both(source, "Plain"),
        "W1: godwit, --verify none": bench.godwit(fresh, "Plain", "--verify", "none"),
    }
    result, _ = bench.run(work, contestants, source, PLAIN)
    result["title"] = title
    return result


def policy(bench):
    source = bench.stores.sample("Policy", bench.rows)
    contestants = bench.both(
        source, "Policy", tool=bench.programs["policy-migration"], mappings=bench.file("Mappings"))
    contestants[CLASSES] = bench.godwit(
        source, "Policy", "--verify", "none", tool=bench.programs["core-data-policy-migration"], mappings=bench.file("Mappings"))
    result, _ = bench.run("W7", contestants, source)
    result["title"] = "a Swift policy on every row: seven hooks, and the row's group is read"
    return result


VERSIONS = 90
ONE_STEP, ALL_STEPS = "one step, --verify none", "all versions, --verify none"


def chain(bench):
    """Does the number of versions on the way cost time?"""
    chain, pair = bench.stores.chain(VERSIONS)
    source = bench.stores.chained(pair, bench.rows)
    return versions(bench, "chain", source, bench.rows, ["--models", pair], ["--models", chain]) | {
        "title": f"W1's rows over {VERSIONS} versions, all inferred"}


def versions(bench, name, source, rows, one, every):
    """One step against all versions, each with its models and mapping models."""
    contestants = {
        contestant: [bench.programs["book-migration"], "migrate", source, *options, "--output", bench.output, "--quiet",
                     "--verify", "none"] for contestant, options in ((ONE_STEP, one), (ALL_STEPS, every))}
    result, _ = bench.run(name, contestants, source)
    return result | {"rows": rows}


class Application:
    """A real application's versions, from one to another that can be reached in a single step as well."""

    def __init__(self, bundle, first, last, title):
        self.bundle, self.first, self.last, self.title = bundle, first, last, title


WIRE = Application(
    "models/wireapp+wire-ios-data-model/zmessaging.xcdatamodeld", "zmessaging", "zmessaging2.101.0",
    "the 82 of wire's 90 versions that lead to 2.101.0, all inferred")
# Versions before need a mapping model, and the first is too far from the last for a single step.
WOOCOMMERCE = Application(
    "models/woocommerce+woocommerce-ios/WooCommerce.xcdatamodeld", "Model 10", "Model 117",
    "WooCommerce's versions 10 to 117, all inferred")


def application(bench, name, app):
    """The same over models of real applications; None where they are not at hand."""
    corpus = os.environ.get("GODWIT_CORPUS")
    if not corpus:
        print(f"{name}: skipped, as GODWIT_CORPUS names no folder of real models", file=sys.stderr)
        return None
    rows, bundle = bench.rows, os.path.join(corpus, app.bundle)
    pair = bench.stores.pair(name, bundle, app.first, app.last)
    source = bench.stores.of_version(name, pair, app.first, rows)
    one, every = (["--models", models, "--to", app.last] for models in (pair, bundle))
    return versions(bench, name, source, rows, one, every) | {"title": app.title}


def scale(bench):
    """Does memory know the store's size, does time grow faster than it? A tenth of the rows and all of them."""
    sizes = [bench.rows // 10, bench.rows]
    sources = {f"{rows:,} rows": bench.stores.sample("Plain", rows) for rows in sizes}
    contestants = {name: bench.godwit(source, "Plain", "--verify", "none") for name, source in sources.items()}
    result, _ = bench.run("scale", contestants, list(sources.values())[-1])
    return result | {"title": "W1 with a tenth of the rows and with all of them", "sizes": sizes}


def blob(bench):
    """Is a large blob streamed?"""
    source = bench.stores.blob()
    result = {"title": "one row with a blob of 200 MB", "bytes": data.size(source), "rows": 201, "rounds": 1, "equal": [], "entries": {}}
    try:
        result["entries"][NONE] = summary([measure(bench.godwit(source, "Large", "--verify", "none"))])
    except Failed as failure:
        result["failure"] = str(failure).split(": ", 1)[1].replace(bench.folder + "/", "")
        print(f"blob: {result['failure']}", file=sys.stderr)
    remove(bench.output)
    return result


def plans(bench):
    """Does a plan foresee what a run takes?"""
    found = forecasts.run(bench)
    return {"title": "what a plan foresees against what the run then takes", "bytes": 0, "rows": bench.rows, "rounds": 1, "equal": [],
            "entries": {}, "forecasts": found}


# Programs of the nested package that works need: they take minutes to build.
PROGRAMS = {"W1": ["insert", "floor"], "W7": ["policy-migration", "core-data-policy-migration"]}

WORKS = {
    "W1": plain,
    "W2": keyed,
    "W3": lambda bench: library(bench, 50_000, "W3"),
    "W3b": lambda bench: library(bench, bench.rows // 2, "W3b"),
    "W4": large,
    "W5": lambda bench: like_plain(bench, "W5", bench.stores.aged(bench.rows), "W1 from an aged, fragmented source"),
    "W6": lambda bench: like_plain(bench, "W6", bench.stores.in_log(bench.rows), "W1 from a source whose rows sit in the WAL"),
    "W7": policy,
    "chain": chain,
    "wire": lambda bench: application(bench, "wire", WIRE),
    "woocommerce": lambda bench: application(bench, "woocommerce", WOOCOMMERCE),
    "corpus": lambda bench: corpus.race(bench, bench.rows // 5),
    "corpus-small": lambda bench: corpus.race(bench, bench.rows // 50),
    "small": small.race,
    "texts": scaling.texts,
    "cores": scaling.cores,
    "rows": scaling.rows,
    "scale": scale,
    "blob": blob,
    "plan": plans,
    "postgres": postgres.load,
    "import": imports.race,
    "swift": sources.check,
}


def duckdb(root):
    """Python with DuckDB and its sqlite extension, in an environment of its own; None where it cannot be installed."""
    folder = os.path.join(root, "Benchmarks/.build/duckdb")
    python = os.path.join(folder, "bin/python")
    try:
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "duckdb==1.4.4", "duckdb-ext-sqlite==1.4.4.20260205"],
                       check=True, capture_output=True)
        return python
    except (OSError, subprocess.CalledProcessError):
        return None
