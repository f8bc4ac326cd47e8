-- How a fast SQL migration opens its files. The destination is `main`, the source is attached as `source`.
-- The form of the file is Core Data's, and the source's: pages of 4096 bytes and pointer maps. It must be set before the first table.
PRAGMA main.page_size = 4096;
PRAGMA main.auto_vacuum = INCREMENTAL;
-- The destination is thrown away when anything fails, so it needs neither a journal nor a sync until it is complete.
PRAGMA main.journal_mode = OFF;
PRAGMA main.synchronous = OFF;
PRAGMA main.locking_mode = EXCLUSIVE;
PRAGMA main.secure_delete = OFF;
-- Memory is not limited here: caches and sorting stay in memory, and sorting may use the second core.
PRAGMA main.cache_size = -524288;
PRAGMA source.cache_size = -16384;
PRAGMA source.mmap_size = 2147418112;
PRAGMA temp_store = MEMORY;
PRAGMA threads = 2;
