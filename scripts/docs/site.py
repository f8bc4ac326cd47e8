"""The pages of the site, as MkDocs' configuration mkdocs.yml wants them: scripts/site lays them out in .site/pages.

Documents keep their paths in the repository, so that one link serves both readers. Code, folders and other files that documents link to get pages
that show them, outside the navigation and the search. A link to a DocC catalogue leads to the library's pages in api/, which scripts/site adds.
"""
import json, os, re, shutil, sys
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from docs.links import LINK
from docs.texts import documents, without_code

LANGUAGES = {".swift": "swift", ".yaml": "yaml", ".json": "json", ".py": "python", ".sql": "sql", ".sh": "bash", ".xml": "xml"}
AS_THEY_ARE = {".svg", ".png", ".css"}
UNLISTED = "---\nsearch:\n  exclude: true\nhide:\n  - navigation\n---\n\n"

def linked(path, text):
    """Links to files: where the target stands in the text, and the path that it leads to."""
    for link in re.finditer(LINK, without_code(text), re.M):
        group = 1 if link[1] else 2
        if link[group] and not re.match(r"[a-z][a-z+.-]*:|#", link[group]):
            yield link.span(group), (path.parent / link[group].partition("#")[0]).resolve()

def library_page(root, path):
    """Where DocC puts the page of a catalogue or of an article in one."""
    catalogue = path if path.suffix == ".docc" else path.parent
    if catalogue.suffix != ".docc": return None
    article = "" if path.stem == catalogue.stem else path.stem.lower() + "/"
    return root / f"api/documentation/{catalogue.stem.lower()}/{article}index.html"

def page_of(root, path, text):
    """A document for the site: links to what other pages show, and code in tables without the backslash that GitHub asks for before a bar."""
    parts, end = [], 0
    for (start, stop), target in linked(path, text):
        if library := library_page(root, target): new = os.path.relpath(library, path.parent)
        elif target.suffix in {".md", *AS_THEY_ARE}: continue
        else: new = text[start:stop].partition("#")[0].rstrip("/") + ".md"
        parts += [text[end:start], new]
        end = stop
    text = "".join(parts) + text[end:]
    return re.sub(r"^\|.*$", lambda row: re.sub(r"(`+)(.+?)\1", lambda code: code[0].replace(r"\|", "|"), row[0]), text, flags=re.M)

def inner(folder):
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))

def shown(root, path):
    """The text of the page that shows a file, or the names in a folder."""
    head = f"{UNLISTED}# {path.name}\n\n`{path.relative_to(root)}` in the repository.\n\n"
    if path.is_dir():
        return head + "".join(f"* [{one.name}]({quote(f'{path.name}/{one.name}')}{'' if one.suffix == '.md' else '.md'})\n" for one in inner(path))
    text = path.read_text()
    language = LANGUAGES.get(path.suffix) or ("bash" if "sh" in text.partition("\n")[0] else "python" if text.startswith("#!") else "text")
    return f"{head}`````{language} linenums=\"1\"\n{text.rstrip()}\n`````\n"

def lay_out(root, place):
    """Writes the documents, what they lead to, and what that leads to."""
    waiting = [path for path in documents(root) if path.parent.suffix != ".docc"] + [root / "docs/site.css"]
    seen = set()
    while waiting:
        path = waiting.pop()
        if path in seen or ".docc" in (path.suffix, path.parent.suffix): continue
        seen.add(path)
        page = place / path.relative_to(root)
        page.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in AS_THEY_ARE: shutil.copy(path, page)
        elif path.suffix == ".md":
            text = path.read_text()
            page.write_text(page_of(root, path, text))
            waiting += [target for _, target in linked(path, text)]
        else:
            page.with_name(page.name + ".md").write_text(shown(root, path))
            if path.is_dir(): waiting += inner(path)

def check(html, missing=None):
    """Whether every link of the finished pages leads to one, and nothing is loaded from elsewhere. Links to the folder `missing` are not followed."""
    pages = {str(path): path.read_text() for path in html.rglob("*.html") if "api" not in path.relative_to(html).parts[:1]}
    anchors = {path: set(re.findall(r"\b(?:id|name)=[\"']?([^\"'\s>]+)", text)) for path, text in pages.items()}
    exists = cache(os.path.exists)
    for path, text in pages.items():
        name = os.path.relpath(path, html)
        for loaded in re.findall(r"<(?:script|link|img)\b[^>]*?\b(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)", text):
            yield f"{name}: {loaded} is loaded from elsewhere"
        tags = "\n".join(re.findall(r"<\w[^<>]*>", text))
        for link in set(re.findall(r"\b(?:src|href)=[\"']?([^\"'\s>]+)", tags)) if name != "404.html" else []:
            target, _, anchor = unquote(unescape(link)).partition("#")
            if re.match(r"[a-z][a-z+.-]*:|/", target): continue
            file = os.path.normpath(os.path.join(os.path.dirname(path), target.partition("?")[0])) if target else path
            if missing and file.startswith(f"{html}/{missing}/"): continue
            if file not in pages and os.path.isdir(file): file += "/index.html"
            if not exists(file): yield f"{name}: {link} leads nowhere"
            elif anchor and anchor not in anchors.get(file, [anchor]): yield f"{name}: {link}: there is no such heading"

def check_topics(archive):
    """Whether each type of a library's archive is in a topic; DocC puts the others in groups by kind."""
    library = json.loads((archive / "index/index.json").read_text())["interfaceLanguages"]["swift"][0]
    group = ""
    for entry in library["children"]:
        if entry["type"] == "groupMarker": group = entry["title"]
        elif group in {"Classes", "Structures", "Enumerations", "Protocols", "Type Aliases", "Functions"}:
            yield f"{library['title']}: {entry['title']} is public and in no topic of its catalogue"

SOUND = {
    "index.html": '<h1 id=a></h1><a href="docs/b.html#c">x</a> <a href=#a>y</a> <a href=https://a/b>z</a> <img src="a%20b.svg">', "a b.svg": "",
    "docs/b.html": '<script src=../j.js></script><h2 id="c"></h2> <a href="..">up</a>', "j.js": "",
}
CASES = [
    ({"index.html": '<a href="docs/c.html">'}, "index.html: docs/c.html leads nowhere"), ({"index.html": "<a href=docs/b.html#d>"}, "docs/b.html#d: there is no"),
    ({"docs/b.html": "<script async src=https://a/j.js>"}, "docs/b.html: https://a/j.js is loaded"), ({"docs/b.html": "<img src=//a/b.png>"}, "//a/b.png is loaded"),
]

if __name__ == "__main__":
    command, place = sys.argv[1], Path(sys.argv[2]).resolve()
    if command == "lay-out": lay_out(Path.cwd(), place)
    elif faults := sorted(check_topics(place) if command == "topics" else check(place, *(sys.argv[3:] or [None]))): sys.exit("\n".join(faults))
