"""Small stores of an application with 90 versions: one command for one of them, and a list of a thousand, as servers have them."""
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from . import corpus
from .measure import Failed, contest, summary

BUNDLE = "wireapp+wire-ios-data-model/zmessaging.xcdatamodeld"
VERSION, OBJECTS, STORES, JOBS = "zmessaging2.3", 100, 1000, 2
ONE, LIST = "one command", f"a list, --jobs {JOBS}"


def race(bench):
    """A result, or None where there are no models."""
    bundle = os.path.join(corpus.folder(bench.root), BUNDLE)
    if not os.path.isdir(bundle):
        print(f"small: skipped, as there is no {bundle}: set GODWIT_CORPUS to a folder with models of applications", file=sys.stderr)
        return None
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else bench.folder
    folder = tempfile.mkdtemp(prefix="godwit-bench-", dir=memory)
    try:
        return _race(bench, bundle, folder, min(STORES, bench.rows // 10_000))
    finally:
        shutil.rmtree(folder)


def _race(bench, bundle, folder, count):
    tool, source, output = bench.programs["book-migration"], os.path.join(folder, "seed.sqlite"), os.path.join(folder, "out.sqlite")
    subprocess.run([tool, "sample", bundle, "--version", VERSION, "--rows", str(OBJECTS), "--seed", "3", "--output", source, "--quiet"], check=True)
    command = [tool, "migrate", source, "--models", bundle, "--output", output, "--quiet"]
    entries = {ONE: summary(contest("small", {ONE: command}, output, bench.rounds)[ONE])}
    many = [tool, "migrate", "--manifest", os.path.join(folder, "list"), "--jobs", str(JOBS), "--models", bundle, "--quiet"]
    samples = []
    for turn in range(bench.rounds + 1):
        _fill(folder, source, count)
        found = _measure(many)
        print(f"small, round {turn} of {bench.rounds}: {count} stores: {found['wall']:.2f} s", file=sys.stderr, flush=True)
        samples += [found] if turn else []
    entries[LIST] = summary(samples)
    synced = {ONE: _synced(command, output, 1)}
    _fill(folder, source, 20)
    synced[LIST] = _synced(many, None, 20)
    return {"title": f"stores of {OBJECTS} objects under {VERSION}, the bundle of 90 versions, to the newest, with proof; the list in place, with backups",
            "bytes": os.path.getsize(source), "rows": OBJECTS, "rounds": bench.rounds, "equal": [], "entries": entries, "stores": count, "synced": synced}


def _measure(command):
    """The same as of other works, with the processes that outlive the command: those of a list end when nobody asks them any longer."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall, cpu, rss = time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with {process.returncode}")
    while True:
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return {"wall": wall, "cpu": cpu, "rss": rss * 1024}
        cpu, rss = cpu + usage.ru_utime + usage.ru_stime, max(rss, usage.ru_maxrss)


def _fill(folder, source, count):
    """A list of so many copies of the store."""
    stores = os.path.join(folder, "stores")
    shutil.rmtree(stores, ignore_errors=True)
    os.makedirs(stores)
    paths = [os.path.join(stores, f"{number}.sqlite") for number in range(count)]
    for path in paths:
        shutil.copyfile(source, path)
    with open(os.path.join(folder, "list"), "w") as file:
        file.write("\n".join(paths) + "\n")


def _synced(command, output, stores):
    """Calls of a command that wait for the disk, a store; None where nothing can count them."""
    if not shutil.which("strace"):
        return None
    if output and os.path.exists(output):
        os.remove(output)
    log = tempfile.NamedTemporaryFile()
    calls = "fsync,fdatasync,sync,syncfs,msync"
    subprocess.run(["strace", "-f", "-o", log.name, "-e", f"trace={calls}", *command], check=True, capture_output=True)
    with open(log.name) as file:
        return sum(1 for line in file if re.search(r"\b(fsync|fdatasync|sync|syncfs|msync)\(", line)) / stores
