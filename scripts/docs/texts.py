"""What the checks of scripts/check-docs read: the documents of this repository, and its code."""
import re

def documents(root):
    places = ["*.md", "docs/**/*.md", "Benchmarks/*.md", "Sources/*/*.docc/*.md"]
    return sorted(path for place in places for path in root.glob(place))

def code(root, *places):
    return sorted(path for place in places for path in root.glob(place + "/**/*.swift") if ".build" not in path.parts)

def line_of(text, position):
    return text.count("\n", 0, position) + 1

def blanked(text, pattern):
    """The text with blanks for what matches; its lines stay where they are."""
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.M | re.S)

def without_blocks(text):
    return blanked(text, r"^ *```.*?^ *```$")

def without_code(text):
    return blanked(without_blocks(text), r"(`+)(?!`).+?(?<!`)\1(?!`)")
