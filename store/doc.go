// Package store is the kernel's memory: one SQLite file, its migrations and its queries. DB implements core.Store.
//
// Every write, and every migration, runs under an exclusive lock on a side file (PATH.lock), in one immediate
// transaction on the one connection that may write; several processes share a store so and none of them gets to see a
// busy database. Reads run on connections of their own, which cannot write, over one snapshot each. Reads never wait.
//
// The live file and SQLite's own side files are opened by SQLite alone: closing any other descriptor of them would drop
// the locks of the whole process. They are looked at with stat and copied with VACUUM INTO.
//
// Files: open.go and migrate.go bring a store up or refuse it, lock.go is the side lock, link.go a connection with its
// prepared statements, db.go the two kinds of transaction. The other files are the ports of core, one subject each;
// their methods hang on view (what can be asked) and tx (what can be changed). Processes tells who is alive, Watch
// whether something changed, Backup and Fsck are what their names say.
//
// Not guaranteed: anything against a person who edits the file with other tools. The record shows that it was changed
// (Fsck, core.Verifier), and actions are bound to their digests.
package store
