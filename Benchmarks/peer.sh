#!/bin/sh
# Migrates a store of Library 1 to Library 3 with SQL alone: Benchmarks/peer.sh SOURCE DESTINATION
# The source is opened read-only; the destination must not exist yet, and is on disk when the script returns.
set -eu

if [ $# -ne 2 ]; then
  echo "usage: Benchmarks/peer.sh SOURCE DESTINATION" >&2
  exit 64
fi
if [ ! -f "$1" ] || [ -e "$2" ]; then
  echo "Benchmarks/peer.sh: $1 must be a file, and $2 must not exist" >&2
  exit 64
fi

# A path becomes a part of a URI, and that a text in SQL.
uri=$(printf '%s' "$1" | sed -e 's/%/%25/g' -e 's/?/%3f/g' -e 's/#/%23/g' -e "s/'/''/g")
sql=$(dirname "$0")/peer.sql

{
  printf "ATTACH 'file:%s?mode=ro' AS source;\n" "$uri"
  cat "$sql"
} | sqlite3 -batch -bail "$2" > /dev/null
# Nothing was synced on the way; Godwit's store is durable when it is there, so this one has to be as well.
sync "$2"
