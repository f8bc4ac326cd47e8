"""What is to be reached, and whether it is."""
from . import imports, postgres, scaling, small
from .measure import ratio
from .sources import CHECK, HASH
from .works import ALL_STEPS, CLASSES, COPY, FULL, NONE, ONE_STEP, PROVED, ROOMY, SQL

MIB = 1 << 20
SLOW_DISK = 700e6
CHAINS = ("chain", "wire", "woocommerce")


def _times(entries, slower, faster):
    return ratio(entries[slower], entries[faster])["median"]


def _at_least(work, text, figure, wanted, unit="×"):
    return {"work": work, "text": text, "wanted": f"≥ {wanted:g} {unit}", "figure": f"{figure:.2f} {unit}", "reached": figure >= wanted}


def _at_most(work, text, figure, wanted, unit="×"):
    return {"work": work, "text": text, "wanted": f"≤ {wanted:g} {unit}", "figure": f"{figure:.2f} {unit}", "reached": figure <= wanted}


def _plain(entries, result):
    rows = []
    if result["disk"] < SLOW_DISK:
        rows.append(_at_most("W1", "time against cp + sync (the disk writes under 700 MB/s)", _times(entries, NONE, COPY), 2.0))
    else:
        floor = entries[NONE]["wall"]["median"] / result["floor"]["median"]
        rows.append(_at_most("W1", "time against the CPU time of decode + transform + encode (a fast disk)", floor, 1.3))
    rows.append(_at_least("W1", "faster than INSERT…SELECT", _times(entries, SQL, NONE), 4))
    once = entries["godwit, --verify none, one checkpoint"]["wall"]["median"]
    cost = (entries[NONE]["wall"]["median"] - once) / once * 100
    rows.append(_at_most("W1", "cost of checkpoints at the default interval", cost, 2, "%"))
    rows.append(_at_least("W1", "copied and proved (Spirit copies 2,200 on 32 cores)", scaling.per_hour(result["bytes"], entries[PROVED]), 2200, "GiB/h"))
    return rows


def _scale(entries, result):
    small, whole = (entries[f"{rows:,} rows"] for rows in result["sizes"])
    growth = whole["wall"]["median"] / small["wall"]["median"]
    memory = (max(small["rss"], whole["rss"]) / min(small["rss"], whole["rss"]) - 1) * 100
    return [
        _at_most("scale", "time of ten times the rows", growth, 10.5),
        _at_most("scale", "peak RSS differs by", memory, 10, "%"),
    ]


def _policy(entries, result):
    rate = result["rows"] / entries[NONE]["cpu"] / 1e6
    rows = [_at_least("W7", "rows per second and core", rate, 1, "million")]
    if CLASSES in entries:
        rows.append(_at_most("W7", "time of the policy as a class of Core Data", _times(entries, CLASSES, NONE), 3))
    return rows


def _proof(work, entries):
    """What the proofs cost beside the run without one."""
    none = entries[NONE]["wall"]["median"]
    rows = [_at_most(work, "cost of the default proof", (entries[PROVED]["wall"]["median"] / none - 1) * 100, 15, "%")]
    if FULL in entries:
        full = (entries[FULL]["wall"]["median"] - none) / entries[SQL]["wall"]["median"]
        rows.append(_at_most(work, "time of --verify full against hand-written SQL", full, 0.5))
    return rows


def _postgres(entries, result):
    rows = []
    if postgres.PGLOADER in entries:
        rows.append(_at_least("postgres", "faster than pgloader", _times(entries, postgres.PGLOADER, postgres.LOAD), 10))
    for name in (postgres.LOAD, postgres.MIGRATED):
        rate = result["rows"] / entries[name]["wall"]["median"] / 1e6
        rows.append(_at_least("postgres", f"rows per second, {name}", rate, 0.4, "million"))
    peaks = [entries[name]["rss"] for name in (postgres.LOAD, postgres.MIGRATED)]
    return rows + [_at_most("postgres", "peak RSS", max(peaks) / MIB, 64, "MiB")]


def _imports(entries):
    rows = [_at_least("import", f"faster than {imports.SHELL[form]}", _times(entries, imports.SHELL[form], imports.own(form)), 6)
            for form in imports.FORMS if imports.SHELL[form] in entries]
    return rows + [_at_most("import", "peak RSS", max(entries[imports.own(form)]["rss"] for form in imports.FORMS) / MIB, 64, "MiB")]


def _corpus(work, result):
    mean, least = (6, 4) if work == "corpus" else (4, 2)
    ratios = [line["ratio"]["median"] for line in result["races"]]
    peak = max(line["entries"]["godwit"]["rss"] for line in result["races"])
    return [_at_least(work, "faster than SQL that writes the same rows, geometric mean", result["mean"], mean),
            _at_least(work, "the same, least of all bundles", min(ratios), least),
            *_second_worker(work, result), _at_most(work, "peak RSS of all bundles", peak / MIB, 64, "MiB")]


def _second_worker(work, result):
    """A run with few objects is the same with one. Results of before have none with one."""
    return [_at_least(work, "two workers against one, geometric mean", result["workers"], 1.8)] if work == "corpus" and "workers" in result else []


def _scaling(work, entries, result):
    if work == "texts":
        return [_at_least(work, "faster than SQL with indexes after", _times(entries, SQL, scaling.SMALL), 4),
                _at_least(work, "the same with --memory 512M", _times(entries, SQL, scaling.LARGE), 8),
                _at_most(work, "peak RSS", entries[scaling.SMALL]["rss"] / MIB, 64, "MiB")]
    if work == "cores":
        return [_at_least(work, f"{name}, two workers against one", scaling.speedup(entries, name), 1.8) for name in ("W1", "W2")]
    made, proof = entries[scaling.SAMPLE], entries[scaling.VERIFY]
    return [_at_least(work, "objects a second (public figure of others: 3.0)", result["rows"] / made["wall"]["median"] / 1e6, 3, "million"),
            _at_least(work, "proved (Spirit proves 247 on 32 cores)", scaling.per_hour(result["bytes"], proof), 247, "GiB/h"),
            _at_most(work, "peak RSS", max(made["rss"], proof["rss"]) / MIB, 64, "MiB")]


def _small(work, entries, result):
    many = entries[small.LIST]
    rows = [_at_most(work, "one command", entries[small.ONE]["wall"]["median"], 0.12, "s"),
            _at_least(work, "stores a second and core, in a list", result["stores"] / many["cpu"], 100, "stores")]
    if result["synced"][small.LIST] is not None:
        rows.append(_at_most(work, "synced calls a store", result["synced"][small.LIST], 12, "calls"))
    return rows + [_at_most(work, "peak RSS of a process", max(entry["rss"] for entry in entries.values()) / MIB, 64, "MiB")]


def of(work, result):
    """The targets of one work."""
    entries = result["entries"]
    if "races" in result:
        return _corpus(work, result)
    if work in ("texts", "cores", "rows"):
        return _scaling(work, entries, result)
    if work == "postgres":
        return _postgres(entries, result)
    if work == "import":
        return _imports(entries)
    if work == "swift":
        return [_at_most(work, f"seconds of {name}", entries[name]["wall"]["median"], most, "s") for name, most in ((HASH, 0.15), (CHECK, 3))]
    if "stores" in result:
        return _small(work, entries, result)
    rows = []
    if work == "W1":
        rows = _plain(entries, result)
    elif work == "W2":
        rows = [_at_least(work, "faster than SQL with indexes after", _times(entries, SQL, NONE), 6)]
    elif work in ("W3", "W3b"):
        rows = [_at_least(work, "faster than hand-written SQL", _times(entries, SQL, NONE), 6)]
        if ROOMY in entries:
            rows.append(_at_least(work, "faster than hand-written SQL, with memory for the names as that has", _times(entries, SQL, ROOMY), 6))
    elif work == "W4":
        rows = [_at_most(work, "time against cp + sync", _times(entries, NONE, COPY), 1.5)]
    elif work in ("W5", "W6"):
        rows = [_at_most(work, "time against W1", _times(entries, NONE, "W1: godwit, --verify none"), 1.5)]
    elif work == "W7":
        rows = _policy(entries, result)
    elif work in CHAINS:
        cpu = entries[ALL_STEPS]["cpu"] / entries[ONE_STEP]["cpu"]
        rows = [_at_most(work, "time against a single step", _times(entries, ALL_STEPS, ONE_STEP), 1.2),
                _at_most(work, "CPU time against a single step", cpu, 1.2)]
    elif work == "scale":
        rows = _scale(entries, result)
    elif work == "plan":
        errors = result["forecasts"]["errors"]
        rows = [
            _at_most(work, f"median error of the foreseen {what}", errors[what] * 100, most, "%")
            for what, most in (("time", 15), ("disk", 5), ("memory", 10))]
        if result["forecasts"]["eta"] is not None:
            rows.append(_at_most(work, "the end that progress foretells, once a tenth is done, is off by", result["forecasts"]["eta"] * 100, 15, "%"))
    if PROVED in entries:
        rows += _proof(work, entries)
    peaks = [entry["rss"] for name, entry in entries.items() if name.startswith(NONE) or name in (PROVED,) or work in ("scale", *CHAINS)]
    if peaks:
        rows.append(_at_most(work, "peak RSS", max(peaks) / MIB, 64, "MiB"))
    elif "failure" in result:
        rows.append({"work": work, "text": "peak RSS", "wanted": "≤ 64 MiB", "figure": "refused", "reached": False})
    return rows
