"""age.py STORE: lets a store of the model Plain age. A fifth of the rows is deleted and put back in another order, in several
goes; notes grow in a tenth and vanish in another. The rows are as many as before, their pages no longer in order and full of
free blocks."""
import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for pragma in ("synchronous = OFF", "journal_mode = OFF", "cache_size = -1048576", "temp_store = MEMORY", "secure_delete = OFF"):
    connection.execute(f"PRAGMA {pragma}").fetchall()
connection.execute("BEGIN")
# A multiplicative hash of the key chooses the rows: scattered, and the same in every run.
chosen = "(Z_PK * 2654435761 >> 7) % 100"
for low in range(0, 20, 5):
    connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM ZROW WHERE {chosen} BETWEEN {low} AND {low + 4}")
    connection.execute(f"DELETE FROM ZROW WHERE {chosen} BETWEEN {low} AND {low + 4}")
    connection.execute(f"UPDATE ZROW SET ZNOTE = ZNOTE || ' ' || ZNAME || ' ' || ZNOTE WHERE {chosen} BETWEEN {50 + low // 2} AND {51 + low // 2}")
    connection.execute(f"UPDATE ZROW SET ZNOTE = NULL WHERE {chosen} BETWEEN {70 + low // 2} AND {71 + low // 2}")
    connection.execute("INSERT INTO ZROW SELECT * FROM kept ORDER BY (Z_PK * 40503 >> 3) % 65536, Z_PK")
    connection.execute("DROP TABLE kept")
connection.execute("COMMIT")
connection.execute("PRAGMA journal_mode = DELETE").fetchall()
connection.close()
