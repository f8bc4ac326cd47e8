"""RESULTS.md."""
import statistics

from . import corpus, imports, scaling, targets
from .measure import COPY, ratio
from .postgres import PGLOADER
from .small import LIST
from .works import NONE, SQL

MIB = 1 << 20
KEPT = "\n## Campaigns\n"


def _relative(entries, name, to, is_slower):
    if to not in entries or name == to:
        return "1" if name == to else ""
    found = ratio(entries[to], entries[name]) if is_slower else ratio(entries[name], entries[to])
    return f"{found['median']:.2f} ({found['min']:.2f}–{found['max']:.2f})"


def _table(result):
    entries = result["entries"]
    lines = ["| | median s | min | max | CPU s | × cp | SQL takes × as long | peak RSS |", "|---|---|---|---|---|---|---|---|"]
    for name, entry in entries.items():
        wall = entry["wall"]
        lines.append(
            f"| {name} | {wall['median']:.2f} | {wall['min']:.2f} | {wall['max']:.2f} | {entry['cpu']:.2f} "
            f"| {_relative(entries, name, COPY, False)} | {_relative(entries, name, SQL, True)} | {entry['rss'] / MIB:.1f} MiB |")
    return lines


def _loads(result):
    """Rates, and what the client takes: a server's time and memory are its own."""
    entries = result["entries"]
    lines = ["| | median s | min | max | rows a second | CPU s | × pgloader | peak RSS |", "|---|---|---|---|---|---|---|---|"]
    for name, entry in entries.items():
        wall = entry["wall"]
        lines.append(
            f"| {name} | {wall['median']:.2f} | {wall['min']:.2f} | {wall['max']:.2f} | {result['rows'] / wall['median']:,.0f} "
            f"| {entry['cpu']:.2f} | {_relative(entries, name, PGLOADER, True)} | {entry['rss'] / MIB:.1f} MiB |")
    return lines


def _imports(result):
    """Rates, beside the prepared INSERT of the same form."""
    entries = result["entries"]
    lines = ["| | median s | min | max | rows a second | CPU s | × INSERT | peak RSS |", "|---|---|---|---|---|---|---|---|"]
    for name, entry in entries.items():
        wall, peer = entry["wall"], next(imports.program(form) for form in imports.FORMS if name.endswith(form))
        lines.append(
            f"| {name} | {wall['median']:.2f} | {wall['min']:.2f} | {wall['max']:.2f} | {result['rows'] / wall['median']:,.0f} "
            f"| {entry['cpu']:.2f} | {_relative(entries, name, peer, True)} | {entry['rss'] / MIB:.1f} MiB |")
    return lines


def _forecasts(result):
    """Foreseen and found, a store a line."""
    def of(row, what, unit):
        foreseen, found = row[what]
        return f"{foreseen / unit:.2f} | {found / unit:.2f} | {foreseen / found - 1:+.0%}"
    def eta(row):
        return "" if row["eta"] is None else f"{row['eta']:.0%}"
    cases, errors = result["forecasts"]["cases"], result["forecasts"]["errors"]
    lines = [
        f"{len(cases)} stores, {result['date']}, {result['commit']}. Medians of the relative errors: time {errors['time']:.1%}, "
        f"disk {errors['disk']:.1%}, memory {errors['memory']:.1%}.", "",
        "| Store | foreseen s | took s | | foreseen MiB of disk | took | | foreseen MiB of memory | took | | ETA off by, at most |",
        "|---|---|---|---|---|---|---|---|---|---|---|"]
    return lines + [f"| {row['name']} | {of(row, 'time', 1)} | {of(row, 'disk', MIB)} | {of(row, 'memory', MIB)} | {eta(row)} |" for row in cases]


def _stores(result):
    """One store a command, and a list of them."""
    lines = ["| | stores | median s | min | max | CPU s | stores a second and core | synced calls a store | peak RSS of a process |",
             "|---|---|---|---|---|---|---|---|---|"]
    for name, entry in result["entries"].items():
        wall, count, synced = entry["wall"], result["stores"] if name == LIST else 1, result["synced"][name]
        lines.append(
            f"| {name} | {count:,} | {wall['median']:.3f} | {wall['min']:.3f} | {wall['max']:.3f} | {entry['cpu']:.2f} | {count / entry['cpu']:.1f} "
            f"| {'' if synced is None else f'{synced:.1f}'} | {entry['rss'] / MIB:.1f} MiB |")
    return lines


def _races(result):
    """A bundle a line."""
    lines = ["| Bundle | from | to | versions | MiB | indexes | godwit s | with 1 worker | with 100 objects | SQL s | SQL takes × as long "
             "| cp + sync s | SQL ÷ cp | C s of CPU | bounded C s of CPU | peak RSS |", "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for race in result["races"]:
        own, sql, times = race["entries"]["godwit"], race["entries"]["SQL"], race["ratio"]
        lines.append(
            f"| {race['name']} | {race['from']} | {race['to']} | {race['versions']} | {race['bytes'] / MIB:,.0f} | {race['indexes']} "
            f"| {own['wall']['median']:.2f} | {_other(race, corpus.ALONE, 2)} | {_other(race, corpus.FEW, 3)} | {sql['wall']['median']:.2f} | {times['median']:.2f} ({times['min']:.2f}–{times['max']:.2f}) "
            f"| {_copy(race)} | {_cpu(race, corpus.BARE)} | {_cpu(race, corpus.BOUNDED)} | {own['rss'] / MIB:.1f} MiB |")
    if "copy" in result:
        lines += ["", f"SQL took {result['copy']:.2f} × as long as cp and sync of the same result, geometric mean: no migration can be faster than that."]
    if "fixed" in result:
        fixed = result["fixed"]
        lines += ["", f"With 100 objects a run takes {fixed['seconds']:.3f} s, geometric mean: the process, its options, the plan, all checks, and what makes the result "
                  f"durable and takes its name. SQL took {fixed['mean']:.2f} × as long as what a run takes beyond that."]
    if "bare" in result:
        bare = result["bare"]
        lines += ["", f"[A C program](Programs/Bare/bare.c) that writes the same pages and proves them, with no plan, check, resume or bound of memory, takes "
                  f"{bare['cpu']:.1f} s of CPU time for {bare['bundles']} of the {len(result['races'])} bundles; on {corpus.CORES} cores, both always busy, SQL would "
                  f"take {bare['mean']:.2f} × as long, geometric mean (least {bare['least']:.2f})."]
    if "bounded" in result:
        bounded = result["bounded"]
        lines += ["", f"The same program takes {bounded['cpu']:.1f} s of CPU time for {bounded['bundles']} of the {len(result['races'])} bundles where it also reads all rows of the "
                  f"source and sorts entries in {corpus.SORTING / MIB:.1f} MiB, as no migration with a bound of memory can do without. On {corpus.CORES} cores, both always busy, "
                  f"and with the time that a run takes with 100 objects, SQL would take {bounded['mean']:.2f} × as long, geometric mean (least {bounded['least']:.2f})."]
        limits = [_limit(race) for race in result["races"] if "bounded" in race]
        lines += ["", f"Where cp and sync take longer than that, a migration does, too. With both limits SQL would take {statistics.geometric_mean(limits):.2f} × as "
                  f"long, geometric mean (least {min(limits):.2f})."]
    return lines


def _limit(race):
    """How many times as long SQL takes as the C program on all cores, or as a copy where that takes longer."""
    copy = race["entries"].get(COPY)
    return min(race["bounded"], race["entries"]["SQL"]["wall"]["median"] / copy["wall"]["median"]) if copy else race["bounded"]


def _copy(race):
    """What a copy of the result took; results of before have none."""
    return f"{race['entries'][COPY]['wall']['median']:.2f} | {race['copy']['median']:.2f}" if "copy" in race else "– | –"


def _other(race, who, digits):
    """The seconds of another run than the contest's; results of before have none."""
    return f"{race['entries'][who]['wall']['median']:.{digits}f}" if who in race["entries"] else "–"


def _cpu(race, who):
    """The processor's seconds of the C program, where it knows the store; results of before have none."""
    return f"{race['entries'][who]['cpu']:.2f}" if who in race["entries"] else "–"


def _work(work, result):
    if "forecasts" in result:
        return ["", f"### {work}: {result['title']}", "", *_forecasts(result)]
    asked = f"{result['rows']:,} rows asked for, {result['bytes'] / MIB:,.0f} MiB" if result["rows"] else f"{result['bytes']:,} bytes of sources"
    head = f"{asked}; {result['rounds']} rounds; {result['date']}, {result['commit']}."
    lines = ["", f"### {work}: {result['title']}", "", head]
    if result["equal"]:
        lines[-1] += f" The tables of {' and '.join(result['equal'])} were compared and are equal."
    if "floor" in result:
        lines[-1] += f" Decode, transform and encode alone: {result['floor']['median']:.2f} s of CPU time."
    if result.get("load", 0) > 0.5:
        lines[-1] += f" **The machine was busy: load {result['load']:.1f} at the beginning.**"
    if work == "W7":
        rate = result["rows"] / result["entries"][NONE]["cpu"]
        lines[-1] += f" {rate:,.0f} rows a second and core."
    if "failure" in result:
        lines += ["", f"Refused: {result['failure']}"]
    if "missing" in result:
        lines += ["", result["missing"]]
    if "races" in result:
        lines += ["", *_races(result)]
    elif work == "postgres":
        lines += ["", *_loads(result)]
    elif work == "import":
        lines += ["", *_imports(result)]
    elif "stores" in result:
        lines += ["", *_stores(result)]
    elif result["entries"]:
        lines += ["", *_table(result)]
    if work == "cores" and scaling.most(result["entries"], "W1"):
        most = " and ".join(f"{scaling.most(result['entries'], name):.2f} times ({name})" for name in ("W1", "W2"))
        lines += ["", f"Two runs at once with one worker each, which share nothing but the machine, get {most} as much done as one alone: two workers cannot be worth more."]
    if work == "texts" and corpus.BARE in result["entries"]:
        entries = result["entries"]
        bound = entries[SQL]["wall"]["median"] / (entries[corpus.BARE]["cpu"] / corpus.CORES)
        lines += ["", f"As long as [the C program](Programs/Bare/bare.c) would take on {corpus.CORES} cores, both always busy, SQL takes {bound:.2f} ×."]
        if corpus.BOUNDED in entries:
            bound = entries[SQL]["wall"]["median"] / (entries[corpus.BOUNDED]["cpu"] / corpus.CORES)
            lines[-1] += f" Where it also reads all rows of the source and sorts entries in {corpus.SORTING / MIB:.1f} MiB, SQL takes {bound:.2f} ×."
    return lines


def text(results):
    machine = results["machine"]
    lines = [
        "# Results", "",
        f"{results['date']}, {machine['cores']} × {machine['cpu']}, {machine['memory'] / (1 << 30):.0f} GiB, {machine['system']}; "
        f"the disk writes {machine['disk'] / 1e6:,.0f} MB/s; SQLite {machine['sqlite']}. Written by `scripts/bench`; ratios matter, seconds "
        "depend on the machine. What the works and the peers are: [README.md](README.md).", "",
        "![Seconds by work and peer](results.svg)", "", "## To reach", "", "| Work | | Wanted | Measured | |", "|---|---|---|---|---|",
    ]
    for work, result in results["works"].items():
        for row in targets.of(work, result):
            lines.append(f"| {row['work']} | {row['text']} | {row['wanted']} | {row['figure']} | {'reached' if row['reached'] else '**missed**'} |")
    lines += ["", "## Works", "", "Ratios are those of the medians, in brackets the least and the greatest of a single round."]
    for work, result in results["works"].items():
        lines += _work(work, result)
    return "\n".join(lines) + "\n"


def write(path, results):
    """Writes the page; what was measured by hand stays."""
    kept = ""
    try:
        with open(path) as file:
            _, mark, rest = file.read().partition(KEPT)
            kept = mark + rest
    except FileNotFoundError:
        pass
    with open(path, "w") as file:
        file.write(text(results) + kept)
