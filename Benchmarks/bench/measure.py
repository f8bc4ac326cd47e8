"""Running commands side by side and summing up what they cost."""
import os
import shutil
import statistics
import subprocess
import sys
import time

# What no migration can do without: writing its result, without a thought.
COPY = "cp + sync"


class Failed(Exception):
    """A command ended with an error."""


def measure(command):
    """Wall seconds, CPU seconds and peak resident bytes of one command with its children, and what it printed, also on standard error."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # Nothing here prints more than a pipe holds.
    output, error = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with {process.returncode}: {error.decode(errors='replace').strip()}")
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss * 1024, "output": output.decode(),
            "messages": error.decode(errors="replace")}


def remove(path):
    """Removes a store with all that may be beside it."""
    for name in (path, path + "-wal", path + "-shm", path + "-journal"):
        if os.path.exists(name):
            os.remove(name)
    # What a run that failed left behind.
    for suffix in ("godwit", "godwit-import"):
        shutil.rmtree(os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{suffix}"), ignore_errors=True)


def contest(name, contestants, output, rounds, check=None, others=()):
    """Runs commands in turns, so that all have the same share of the machine's moods. The first turn warms up and is not
    counted; in it `check` looks at each output. `contestants`: name to command. `others` are outputs that some write
    besides. Returns name to samples."""
    def clear():
        for path in (output, *others):
            remove(path)

    samples = {contestant: [] for contestant in contestants}
    clear()
    for turn in range(rounds + 1):
        for contestant, command in contestants.items():
            result = measure(command)
            if turn > 0:
                samples[contestant].append(result)
            elif check is not None:
                check(contestant, output)
            print(f"{name}, round {turn} of {rounds}: {contestant}: {result['wall']:.2f} s", file=sys.stderr, flush=True)
            clear()
    return samples


def spread(values):
    """Median, least and greatest of some numbers."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def summary(samples):
    """What the report needs of one contestant."""
    return {
        "wall": spread([s["wall"] for s in samples]), "cpu": statistics.median(s["cpu"] for s in samples),
        "rss": max(s["rss"] for s in samples), "walls": [round(s["wall"], 6) for s in samples],
    }


def ratio(slower, faster):
    """How many times as long one contestant took as the other: the ratio of the medians, the least and the greatest of the
    ratios of single rounds."""
    pairs = [a / b for a, b in zip(slower["walls"], faster["walls"])]
    return {"median": slower["wall"]["median"] / faster["wall"]["median"], "min": min(pairs), "max": max(pairs)}
