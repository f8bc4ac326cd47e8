"""Loads into PostgreSQL, against pgloader and psql's \\copy of an export."""
import os
import shutil
import subprocess
import sys

from .measure import Failed, measure, summary

LOAD, MIGRATED, UNPROVED = "godwit", "godwit, migrated first", "godwit, --verify none"
PGLOADER, PSQL = "pgloader", "sqlite3 .export, psql \\copy"

# pgloader takes Core Data's seconds for a year, and whole numbers of more than 62 bits for an error; so it needs these casts.
PGLOADER_COMMANDS = """load database from sqlite://{source} into {url}?sslmode=disable
  with include no drop, create tables, create indexes, reset no sequences
  cast type timestamp to "double precision" using float-to-string,
       type integer to bigint using (lambda (n) (when n (format nil "~a" n)))
  including only table names like 'ZROW'
  after load do
  $$ alter table zrow alter zcreated type timestamptz using to_timestamp(zcreated + 978307200), alter zflag type boolean using zflag = 1,
     alter zidentifier type uuid using encode(zidentifier, 'hex')::uuid, alter zamount type integer, alter zposition type smallint $$,
  $$ alter table zrow add primary key (z_pk) $$;
"""
EXPORT = """SELECT Z_PK, ZAMOUNT, ZFLAG, ZPOSITION, ZSERIAL, strftime('%Y-%m-%d %H:%M:%S', CAST(ZCREATED AS INTEGER) + 978307200, 'unixepoch')
 || substr(printf('%.6f', ZCREATED - CAST(ZCREATED AS INTEGER)), 2) || 'Z', printf('%!.17g', ZPRICE), ZCATEGORY, ZNAME, ZNOTE,
 hex(ZIDENTIFIER) FROM ZROW"""
TABLE = """CREATE TABLE zrow (z_pk bigint, zamount integer, zflag boolean, zposition smallint, zserial bigint, zcreated timestamptz,
 zprice double precision, zcategory text, zname text, znote text, zidentifier uuid)"""
# What all must have loaded alike. pgloader's doubles lose the last of a time's microseconds, and sqlite3's text the last digit of
# the greatest doubles: so times count by seconds, and doubles by twelve characters.
SUM = """SELECT count(*), sum(hashtextextended(concat_ws('|', {key}, {p}amount::bigint, {p}flag, {p}position, {p}serial,
 floor(extract(epoch FROM {p}created) + 0.2371), left({p}price::text, 12), {p}category, {p}name, {p}note, {p}identifier), 0)) FROM {table}"""


class Server:
    """A server of its own, with the settings of the system's package."""

    def __init__(self, root, folder):
        self.script, self.folder = os.path.join(root, "scripts/postgres-up"), os.path.join(folder, "postgres")
        if os.getuid() == 0:
            os.chmod(folder, 0o711)
        self.url = subprocess.run([self.script, self.folder], check=True, capture_output=True, text=True).stdout.strip()

    def sql(self, *statements):
        words = [word for statement in statements for word in ("-c", statement)]
        done = subprocess.run(["psql", self.url, "-qtAX", *words], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def clear(self):
        self.sql("SET client_min_messages = error", "DROP SCHEMA IF EXISTS bench CASCADE", "DROP TABLE IF EXISTS zrow", "CHECKPOINT")

    def stop(self):
        subprocess.run([self.script, "stop", self.folder], check=True)


def contestants(bench, source, server):
    commands = os.path.join(bench.folder, "pgloader.load")
    with open(commands, "w") as file:
        file.write(PGLOADER_COMMANDS.format(source=source, url=server.url))
    export, table = os.path.join(bench.folder, "export.csv"), os.path.join(bench.folder, "table.sql")
    with open(table, "w") as file:
        file.write(f"{TABLE};\n\\copy zrow FROM '{export}' (FORMAT csv)\nALTER TABLE zrow ADD PRIMARY KEY (z_pk);\n")
    godwit = [bench.programs["book-migration"], "migrate", source, "--models", bench.stores.models("Plain"), "--quiet", "--to-postgres",
              server.url, "--schema", "bench"]
    found = {LOAD: [*godwit, "--identity"], UNPROVED: [*godwit, "--identity", "--verify", "none"], MIGRATED: godwit,
             PSQL: ["sh", "-c", f"sqlite3 -readonly -csv -newline '\n' '{source}' \"$0\" > '{export}' && psql '{server.url}' -qX -v ON_ERROR_STOP=1 -f '{table}'; "
                    f"code=$?; rm -f '{export}'; exit $code", EXPORT]}
    if shutil.which("pgloader"):
        found[PGLOADER] = ["pgloader", "--quiet", commands]
    return found


def load(bench):
    """None where there is no server."""
    try:
        server = Server(bench.root, bench.folder)
    except (OSError, subprocess.CalledProcessError) as failure:
        print(f"postgres: skipped, as no server can be started: {failure}", file=sys.stderr)
        return None
    source = bench.stores.sample("Plain", bench.rows)
    sums, samples = {}, {}
    try:
        for turn in range(bench.rounds + 1):
            for name, command in contestants(bench, source, server).items():
                server.clear()
                result = measure(command)
                print(f"postgres, round {turn} of {bench.rounds}: {name}: {result['wall']:.2f} s", file=sys.stderr, flush=True)
                if turn > 0:
                    samples.setdefault(name, []).append(result)
                elif name != MIGRATED:
                    godwit = name in (LOAD, UNPROVED)
                    sums[name] = server.sql(
                        SUM.format(key="id" if godwit else "z_pk", p="" if godwit else "z", table="bench.row" if godwit else "zrow"))
        server.clear()
    finally:
        server.stop()
    if len(set(sums.values())) > 1:
        raise Failed(f"postgres: the tables differ: {sums}")
    result = {"title": "W1's rows into PostgreSQL, with its primary key", "bytes": os.path.getsize(source), "rows": bench.rows,
              "rounds": bench.rounds, "equal": sorted(sums), "entries": {name: summary(s) for name, s in samples.items()}}
    if PGLOADER not in samples:
        result["missing"] = "pgloader is not installed, so it is not measured."
    return result
