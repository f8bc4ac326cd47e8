"""The manual has the program's commands, options and exit codes, and no others.

A command's options are on a page that names the command; what a table of options gives to a command, the command takes. Exit codes are held
against Sources/BatchCommand/ExitCodes.swift. TOOL is the program; without it a build is taken that is no older than the commands' code.
"""
import json, os, re, subprocess, sys

from .texts import code, line_of, without_blocks

def program(root):
    if tool := os.environ.get("TOOL"): return tool
    newest = max((path.stat().st_mtime for path in code(root, "Sources/BatchCommand")), default=0)
    builds = [root / ".build" / kind / "godwit" for kind in ("debug", "release")]
    return next((build for build in builds if build.exists() and build.stat().st_mtime >= newest), None)

def commands(tool):
    """The options of each command, as "fleet plan"; "" is the program itself."""
    def walk(command, path):
        shown = [argument.get("names", []) for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)]
        names = {("--" if entry["kind"] == "long" else "-") + entry["name"] for group in shown for entry in group}
        # Of two names, the one that changes something is documented.
        yield " ".join(path), {name for name in names if "--no-" + name[2:] not in names} - {"-h", "--help"}
        for inner in command.get("subcommands", []):
            if inner["commandName"] != "help": yield from walk(inner, path + [inner["commandName"]])
    try: output = subprocess.run([tool, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error: sys.exit(f"scripts/check-docs: {tool} does not print its help: {error}")
    return dict(walk(json.loads(output)["command"], []))

def rows(text):
    """The rows of tables of options, as (line, options, commands, heading); without a column for it the command is migrate."""
    for table in re.finditer(r"^\| Option \|(.*)\n\|.*\n((?:\|.*\n)+)", text, re.M):
        heading = re.findall(r"^#+ (.*)$", text[: table.start()], re.M)[-1]
        for number, row in enumerate(table[2].splitlines()):
            cells = re.split(r"(?<!\\)\|", row)
            names = re.findall(r"`([a-z ]+)`", cells[2]) if "| Command |" in "|" + table[1] else ["migrate"]
            yield line_of(text, table.start(2)) + number, re.findall(r"`(--[\w-]+)", cells[1]), names, heading

def check_page(text, known):
    everything = set().union(*known.values())
    for line, options, names, heading in rows(text):
        for name in names:
            inner = f"fleet {name}" if "fleet" in heading else name
            if inner not in known: yield line, f"there is no command {inner}"
            # "`export`; the others": which of the options are whose is not said there.
            owned = everything if "the others" in text.splitlines()[line - 1] else known.get(inner, everything)
            for option in options:
                if option not in owned: yield line, f"{inner} has no option {option}"
    for found in re.finditer(r"`(--[a-z][\w-]*)", without_blocks(text)):
        if found[1] not in everything | {"--help"}: yield line_of(text, found.start()), f"no command has an option {found[1]}"

def check_commands(root, known):
    pages = {path: path.read_text() for path in sorted(root.glob("docs/manual/*.md"))}
    for path, text in pages.items():
        for line, fault in check_page(text, known): yield f"{path.relative_to(root)}:{line}: {fault}"
    for name, options in known.items():
        naming = pages_naming(name, pages)
        if not naming: yield f"docs/manual: the command {name} is on no page"
        else:
            for option in sorted(options - set(re.findall(r"(?<![\w-])--?[\w-]+", "\n".join(naming)))):
                yield f"docs/manual: the option {option} of {name or 'godwit'} is on no page that names the command"

def pages_naming(name, pages):
    """The texts that name a command, as `plan`, godwit plan, or godwit ctl pause\\|stop; with the page on migrate where they send readers there."""
    call = name.replace(" ", r" (?:\w+\\?\|)*")
    texts = [text for text in pages.values() if re.search(rf"`{call}[ `]|\bgodwit {call}\b", text)]
    migrate = [text for path, text in pages.items() if path.name == "migrate.md"]
    return texts + (migrate if any("(migrate.md#options)" in text for text in texts) else [])

def check_codes(root):
    source, page = root / "Sources/BatchCommand/ExitCodes.swift", root / "docs/manual/troubleshooting.md"
    table = re.search(r"static let table = \"\"\"(.*?)\"\"\"", source.read_text(), re.S)
    wanted = dict(re.findall(r"^ +(\d+) +(.*)$", table[1], re.M))
    found = {code: meaning.replace("`", "") for code, meaning in re.findall(r"^\| (\d+) \| (.*) \|$", page.read_text(), re.M)}
    for code in sorted(wanted.keys() | found.keys(), key=int):
        if not found.get(code, "").startswith(wanted.get(code, "\0")):
            yield f"{page.relative_to(root)}:1: exit code {code} is \"{found.get(code)}\" here, and \"{wanted.get(code)}\" in {source.name}"

def check(root):
    yield from check_codes(root)
    if tool := program(root): yield from check_commands(root, commands(tool))
    else: print("scripts/check-docs: options are not checked: TOOL is not set, and no build is as new as its code", file=sys.stderr)

def dumped(*options):
    """A program that has the commands migrate and fleet plan."""
    names = [{"names": [{"kind": "long", "name": option}]} for option in options]
    inner = {"commandName": "fleet", "subcommands": [{"commandName": "plan", "arguments": names}]}
    dump = {"command": {"commandName": "godwit", "subcommands": [{"commandName": "migrate", "arguments": names}, inner]}}
    return f"#!/bin/sh\ncat <<'END'\n{json.dumps(dump)}\nEND\n"

TABLE = "`godwit fleet`\n\n# Options of fleets\n\n| Option | Command | Meaning |\n|---|---|---|\n| `--to V\\|W`, `--json` | `plan` | x |\n"
SOUND = {
    "Sources/BatchCommand/ExitCodes.swift": 'static let table = """\n    Exit codes:\n      0    done\n      3    nothing (plan --check)\n    """\n',
    "docs/manual/troubleshooting.md": "| 0 | done; also so |\n| 3 | nothing (`plan --check`) |\n",
    "docs/manual/migrate.md": "# `migrate`\n\n| Option | Meaning |\n|---|---|\n| `--to V`, `--json` | x |\n",
    "docs/manual/fleet.md": TABLE + "\n`fleet plan`\n", ".build/debug/godwit": dumped("to", "json"),
}
CASES = [
    ({"docs/manual/migrate.md": SOUND["docs/manual/migrate.md"].replace("--to", "--two")}, "migrate.md:5: migrate has no option --two"),
    ({"docs/manual/migrate.md": "`migrate` `--to`"}, "the option --json of migrate"), ({"docs/manual/migrate.md": "x"}, "command migrate is on no"),
    ({".build/debug/godwit": dumped("to")}, "fleet.md:7: fleet plan has no option --json"),
    ({".build/debug/godwit": dumped("to", "json", "new")}, "the option --new of fleet plan"),
    ({"docs/manual/fleet.md": TABLE.replace("`plan`", "`run`") + "`fleet plan`"}, "no command fleet run"),
    ({"docs/manual/fleet.md": TABLE + "`fleet plan` `--old`"}, "no command has an option --old"),
    ({"docs/manual/troubleshooting.md": "| 0 | done |\n"}, "exit code 3"),
    ({"docs/manual/troubleshooting.md": SOUND["docs/manual/troubleshooting.md"] + "| 9 | x |\n"}, "exit code 9"),
    ({"docs/manual/troubleshooting.md": "| 0 | did |\n| 3 | nothing (`plan --check`) |\n"}, "exit code 0"),
]
