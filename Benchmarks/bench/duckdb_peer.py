"""duckdb_peer.py SOURCE DESTINATION: W1 by DuckDB's sqlite extension. The destination has its schema already.

Core Data's dates are numbers in columns called TIMESTAMP, which DuckDB takes for seconds since 1970; so they are turned back into
numbers, for which the destination declares its column as FLOAT. What is below a microsecond is lost on that way.
"""
import glob
import os
import sys

import duckdb

packages = os.path.dirname(os.path.dirname(duckdb.__file__))
extension = glob.glob(os.path.join(packages, "duckdb_ext/**/sqlite_scanner.duckdb_extension"), recursive=True)[0]
connection = duckdb.connect()
connection.execute("SET threads = 2")
connection.execute(f"LOAD '{extension}'")
connection.execute(f"ATTACH '{sys.argv[1]}' AS source (TYPE sqlite, READ_ONLY)")
connection.execute(f"ATTACH '{sys.argv[2]}' AS destination (TYPE sqlite, JOURNAL_MODE 'OFF')")
connection.execute("""
INSERT INTO destination.ZROW SELECT Z_PK, Z_ENT, Z_OPT, ZFLAG, ZPOSITION, ZSERIAL, 7, CAST(ZAMOUNT AS DOUBLE), epoch(ZCREATED),
  ZPRICE, ZCATEGORY, ZNAME, ZNOTE, ZIDENTIFIER FROM source.ZROW
""")
connection.close()
