"""Making the stores that are migrated. Each is the same in every run."""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Stores:
    """Makes stores in a folder when they are first asked for."""

    def __init__(self, root, folder, tool):
        self.root, self.folder, self.tool = root, folder, tool

    def models(self, name):
        if name == "Library":
            return os.path.join(self.root, "Examples/BookMigration/Library.xcdatamodeld")
        return os.path.join(self.root, f"Benchmarks/Models/{name}.xcdatamodeld")

    def _path(self, name, make):
        path = os.path.join(self.folder, name + ".sqlite")
        if not os.path.exists(path):
            print(f"making {name}", file=sys.stderr, flush=True)
            make(path)
        return path

    def _sample(self, model, version, rows, path, *more):
        subprocess.run([self.tool, "sample", model, "--version", version, "--rows", str(rows), "--output", path, "--quiet", *more],
                       check=True)

    def _script(self, name, *arguments):
        # A process of its own: a child's peak memory begins with that of its parent.
        subprocess.run([sys.executable, os.path.join(HERE, name), *map(str, arguments)], check=True)

    def sample(self, model, rows):
        return self._path(f"{model}-{rows}", lambda path: self._sample(self.models(model), f"{model} 1", rows, path))

    def chain(self, versions):
        """Two bundles with the same first and last version: all of that many, and these two alone."""
        with open(os.path.join(self.models("Plain"), "Plain 1.xcdatamodel/contents")) as file:
            first = file.read()
        bundles = [os.path.join(self.folder, f"chain-{count}", "Chain.xcdatamodeld") for count in (versions, 2)]
        for number in range(1, versions + 1):
            text = _version(first, number, versions)
            for bundle in bundles[:1] if 1 < number < versions else bundles:
                folder = os.path.join(bundle, f"Chain {number}.xcdatamodel")
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, "contents"), "w") as file:
                    file.write(text)
        return bundles

    def chained(self, bundle, rows):
        """W1's rows under the first version of a chain."""
        return self._path(f"Chain-{rows}", lambda path: self._sample(bundle, "Chain 1", rows, path))

    def pair(self, name, bundle, first, last):
        """A bundle with two versions of another one."""
        pair = os.path.join(self.folder, f"pair-{name}", os.path.basename(bundle))
        for version in (first, last):
            shutil.copytree(*(os.path.join(place, f"{version}.xcdatamodel") for place in (bundle, pair)), dirs_exist_ok=True)
        return pair

    def of_version(self, name, bundle, version, rows):
        return self._path(f"{name}-{rows}", lambda path: self._sample(bundle, version, rows, path))

    def in_log(self, rows):
        """W1's rows, all in the -wal file."""
        return self._path(f"Log-{rows}", lambda path: self._sample(self.models("Plain"), "Plain 1", rows, path, "--wal"))

    def aged(self, rows):
        """W1's rows after a long life."""
        def make(path):
            shutil.copyfile(self.sample("Plain", rows), path)
            self._script("age.py", path)
        return self._path(f"Aged-{rows}", make)

    def large(self, rows):
        """A document of 5 KB for 50 rows that are asked for, a photo of 1 MB for 10,000."""
        def make(path):
            self._sample(self.models("Large"), "Large 1", rows // 50, path)
            self._script("fill.py", path)
        return self._path(f"Large-{rows}", make)

    def blob(self):
        """One photo of 200 MB."""
        def make(path):
            self._sample(self.models("Large"), "Large 1", 201, path)
            self._script("fill.py", path, 200_000_000)
        return self._path("Blob", make)

    def library(self, rows, names):
        """Books by that many authors: the model says how many, so a copy of it is made."""
        def make(path):
            model = os.path.join(self.folder, f"{names}", "Library.xcdatamodeld")
            shutil.copytree(self.models("Library"), model, dirs_exist_ok=True)
            contents = os.path.join(model, "Library 1.xcdatamodel/contents")
            with open(contents) as file:
                text = file.read()
            with open(contents, "w") as file:
                file.write(re.sub(r'(godwit.sample.distinct" value=)"\d+"', rf'\1"{names}"', text))
            self._sample(model, "Library 1", rows, path)
        return self._path(f"Library-{rows}-{names}", make)


def _version(first, number, versions):
    """A version: one attribute has another name in each, one a wider type from the middle on, one comes and goes, one stays."""
    text = first.replace('<attribute name="name" ', f'<attribute name="name{number}" elementID="name" ')
    if number > versions // 2:
        text = text.replace('name="amount" attributeType="Integer 32"', 'name="amount" attributeType="Double"')
    extra = f'<attribute name="extra{number}" optional="YES" attributeType="String"/>'
    if number == versions:
        extra = '<attribute name="source" attributeType="Integer 16" defaultValueString="7" usesScalarValueType="YES"/>'
    return text.replace("    </entity>", f"        {extra}\n    </entity>")


def size(path):
    return sum(os.path.getsize(name) for name in (path, path + "-wal") if os.path.exists(name))


def digest(path, queries):
    """A digest of what queries give, as SQLite prints it."""
    command = f"sqlite3 -batch -bail -cmd '.mode quote' \"$0\" \"$1\" | sha256sum"
    run = subprocess.run(["sh", "-c", command, path, ";".join(queries)], check=True, capture_output=True, text=True)
    return run.stdout.split()[0]
