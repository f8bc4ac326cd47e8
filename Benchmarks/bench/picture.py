"""results.svg: a bar for each contestant of each work, in seconds, each work on a scale of its own."""
from html import escape

from .works import NONE

STYLE = """
text { font: 13px -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-weight: 600 } .note { fill: #59636e } .bar { fill: #9aa4af } .own { fill: #0969da } .ground { fill: #ffffff }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .note { fill: #9198a1 } .bar { fill: #59636e } .own { fill: #4493f8 } .ground { fill: #0d1117 } }
"""
WIDTH, LEFT, LENGTH, LINE = 900, 280, 450, 22


def _bars(work, result, top):
    entries = result["entries"]
    longest = max(entry["wall"]["median"] for entry in entries.values())
    lines = [f'<text class="title" x="16" y="{top + 16}">{escape(work)}</text>',
             f'<text class="note" x="56" y="{top + 16}">{escape(result["title"])}</text>']
    top += LINE + 4
    for name, entry in entries.items():
        seconds = entry["wall"]["median"]
        length = max(1.0, seconds / longest * LENGTH)
        label = f"{seconds:.2f} s"
        if NONE in entries and name != NONE:
            label += f", {seconds / entries[NONE]['wall']['median']:.2f} ×"
        kind = "own" if "godwit" in name else "bar"
        lines += [
            f'<text x="{LEFT - 10}" y="{top + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="{kind}" x="{LEFT}" y="{top + 3}" width="{length:.1f}" height="{LINE - 8}" rx="2"/>',
            f'<text class="note" x="{LEFT + length + 8:.1f}" y="{top + 14}">{label}</text>',
        ]
        top += LINE
    return lines, top + 14


def draw(results):
    machine = results["machine"]
    lines, top = [], 44
    for work, result in results["works"].items():
        if result["entries"]:
            bars, top = _bars(work, result, top)
            lines += bars
    head = f"Seconds, median; × as long as {NONE}. {results['date']}, {machine['cores']} × {machine['cpu']}, SQLite {machine['sqlite']}"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" viewBox="0 0 {WIDTH} {top}" role="img">',
        f"<title>{escape(head)}</title><style>{STYLE}</style>", f'<rect class="ground" width="{WIDTH}" height="{top}"/>',
        f'<text class="note" x="16" y="24">{escape(head)}</text>', *lines, "</svg>", ""])
