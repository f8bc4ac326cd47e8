"""What plans foresee against what runs then take: time, disk and memory of varied stores."""
import json
import os
import statistics
import sys
import threading
import time

from .measure import Failed, measure, remove


class DiskPeak:
    """The most bytes that a new store and its job directory have while a command runs."""

    def __init__(self, output):
        folder, name = os.path.split(output)
        self.paths = [output, os.path.join(folder, f".{name}.godwit")]
        self.most, self.ends = 0, False

    def _look(self, path, found):
        """Bytes by inode: at the cut-over a file has two names."""
        try:
            if os.path.isdir(path):
                for entry in os.scandir(path):
                    self._look(entry.path, found)
            else:
                status = os.stat(path)
                found[status.st_ino] = status.st_blocks * 512
        except FileNotFoundError:
            pass

    def _bytes(self):
        found = {}
        for path in self.paths:
            self._look(path, found)
        return sum(found.values())

    def _watch(self):
        while not self.ends:
            self.most = max(self.most, self._bytes())
            time.sleep(0.005)

    def of(self, body):
        thread = threading.Thread(target=self._watch)
        thread.start()
        try:
            return body()
        finally:
            self.ends = True
            thread.join()


def cases(bench):
    """Varied stores: name, store, arguments of plan and migrate."""
    stores, root = bench.stores, bench.root
    rules = os.path.join(root, "Examples/Mappings/Library")
    policies = os.path.join(root, "Examples/BookMigration/Mappings")

    def of(model, mappings=None):
        return ["--models", stores.models(model)] + (["--mappings", mappings] if mappings else [])
    found = []
    for rows in (50_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000):
        found.append((f"Plain {rows:,}", stores.sample("Plain", rows), of("Plain")))
    for rows in (100_000, 250_000, 500_000, 1_000_000, 3_000_000):
        found.append((f"Keyed {rows:,}, two indexes", stores.sample("Keyed", rows), of("Keyed")))
    for rows, names in ((41_000, 500), (205_000, 5_000), (307_500, 30_000), (512_500, 50_000), (1_025_000, 1_000), (1_025_000, 200_000)):
        store = stores.library(rows, names)
        found.append((f"Library {rows:,}, {names:,} names, rules", store, of("Library", rules)))
        if rows > 100_000:
            found.append((f"Library {rows:,}, {names:,} names, policies", store, of("Library", policies)))
    for rows in (500_000, 2_000_000):
        found.append((f"Aged {rows:,}", stores.aged(rows), of("Plain")))
        found.append((f"Log {rows:,}", stores.in_log(rows), of("Plain")))
    for rows in (200_000, 1_000_000):
        found.append((f"Large {rows:,}", stores.large(rows), of("Large")))
    # Long enough for progress to say something, too.
    store = stores.library(bench.rows * 41 // 40, bench.rows // 2)
    found.append((f"Library {bench.rows * 41 // 40:,}, {bench.rows // 2:,} names, rules", store, of("Library", rules)))
    found.append((f"Library {bench.rows * 41 // 40:,}, {bench.rows // 2:,} names, policies", store, of("Library", policies)))
    whole, _ = stores.chain(90)
    for rows in (300_000, 1_500_000):
        store = stores.chained(whole, rows)
        found.append((f"Chain {rows:,}, 90 versions", store, ["--models", whole]))
    return found


def eta(run):
    """How far, at most, the end that progress foretold lay from the real one, as a share of the whole time, once a tenth was done; None
    for a run that was too short to say more than a few times."""
    lines = [json.loads(line) for line in run["messages"].splitlines() if line.startswith("{")]
    lines = [line for line in lines if line.get("event") == "progress" and line["fraction"] >= 0.1 and "secondsLeft" in line]
    if len(lines) < 3:
        return None
    return max(abs(line["seconds"] + line["secondsLeft"] - run["wall"]) / run["wall"] for line in lines)


def one(bench, name, store, arguments):
    """Foresees and runs one case. Returns what was foreseen and what was, a pair each."""
    tool = bench.programs["book-migration"]
    plan = json.loads(measure([tool, "plan", store, "--json", *arguments, "--output", bench.output])["output"])
    if "forecast" not in plan:
        raise Failed(f"{name}: nothing is foreseen: {'; '.join(plan['notes'])}")
    plan = plan["forecast"]
    remove(bench.output)
    disk = DiskPeak(bench.output)
    run = disk.of(lambda: measure([tool, "migrate", store, "--progress", "json", *arguments, "--output", bench.output]))
    remove(bench.output)
    found = {"time": (plan["seconds"], run["wall"]), "disk": (plan["peakDisk"], disk.most),
             "memory": (plan["peakMemory"], run["rss"])}
    text = ", ".join(f"{what} {a:.4g} for {b:.4g} ({a / b - 1:+.0%})" for what, (a, b) in found.items())
    found["eta"] = eta(run)
    print(f"{name}: {text}" + (f", ETA off by at most {found['eta']:.0%}" if found["eta"] is not None else ""), file=sys.stderr, flush=True)
    return found


def run(bench):
    """All cases: names with what was foreseen and what was, and the medians of the relative errors."""
    rows = [{"name": name, **one(bench, name, store, arguments)} for name, store, arguments in cases(bench)]
    errors = {
        what: statistics.median(abs(row[what][0] / row[what][1] - 1) for row in rows) for what in ("time", "disk", "memory")}
    etas = [row["eta"] for row in rows if row["eta"] is not None]
    return {"cases": rows, "errors": errors, "eta": statistics.median(etas) if etas else None}
