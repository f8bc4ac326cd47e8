#!/bin/sh
# Migrates a store with SQL alone: Benchmarks/peer.sh SOURCE DESTINATION [SQL-FILE…]
# Without files it is Library 1 to Library 3, by peer.sql. The source is opened read-only; the destination must not exist yet,
# and is on disk when the script returns.
set -eu

if [ $# -lt 2 ]; then
  echo "usage: Benchmarks/peer.sh SOURCE DESTINATION [SQL-FILE...]" >&2
  exit 64
fi
source=$1
destination=$2
shift 2
if [ ! -f "$source" ] || [ -e "$destination" ]; then
  echo "Benchmarks/peer.sh: $source must be a file, and $destination must not exist" >&2
  exit 64
fi
if [ $# -eq 0 ]; then set -- "$(dirname "$0")/peer.sql"; fi

# A path becomes a part of a URI, and that a text in SQL.
uri=$(printf '%s' "$source" | sed -e 's/%/%25/g' -e 's/?/%3f/g' -e 's/#/%23/g' -e "s/'/''/g")

{
  printf "ATTACH 'file:%s?mode=ro' AS source;\n" "$uri"
  cat "$@"
} | sqlite3 -batch -bail "$destination" > /dev/null
# Nothing was synced on the way; Godwit's store is durable when it is there, so this one has to be as well.
sync "$destination"
