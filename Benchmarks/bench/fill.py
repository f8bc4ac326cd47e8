"""fill.py STORE [BYTES]: gives the documents of a store of the model Large texts of 5 KB and its photos contents of BYTES,
1 MB without it, then puts the file in order."""
import random
import sqlite3
import sys

BLOB = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
WORDS = ["godwit", "curlew", "plover", "avocet", "dunlin", "knot", "ruff", "snipe", "whimbrel", "turnstone"]


def text(key):
    chooser = random.Random(key)
    length = chooser.randrange(4_500, 5_500)
    return " ".join(chooser.choices(WORDS, k=length // 6))[:length]


connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.create_function("longtext", 1, text, deterministic=True)
connection.create_function("content", 1, lambda key: random.Random(key).randbytes(BLOB), deterministic=True)
for pragma in ("synchronous = OFF", "journal_mode = OFF", "cache_size = -1048576", "secure_delete = OFF"):
    connection.execute(f"PRAGMA {pragma}").fetchall()
connection.execute("UPDATE ZDOCUMENT SET ZBODY = longtext(Z_PK)")
connection.execute("UPDATE ZPHOTO SET ZCONTENT = content(Z_PK)")
connection.execute("PRAGMA journal_mode = DELETE").fetchall()
connection.execute("VACUUM")
connection.close()
