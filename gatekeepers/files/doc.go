// Package files is the gatekeeper for a folder of this machine, with reads from git where the folder lies in a work tree.
//
// A binding is file:///ROOT, or file:///ROOT#path=SUB for a part of it. The journal is shared by all bindings of a
// connection root (its device and inode); its targets are paths below that root, "/"-separated.
//
// Replay is native: the pending effects are laid over the folder as a tree of what they put in place, and every read
// walks that tree (tree.go, replay.go). Nothing is written before Apply.
//
// What holds for every access (disk.go): it starts at a descriptor of the root and goes down one component at a time;
// a symbolic link is listed, moved and deleted as what it is and never followed, also not one that is put there between
// a look and a use. A name that git, on any system, could take for ".git" does not exist here, in any folder; nor do
// the names of our own unfinished files.
//
// A write goes to a file of its own beside the old one and is renamed over it once it is on disk, so that a file is the
// old or the new one, never half of one. It keeps the mode of the file and, where the system lets it, its owner; it does
// not keep extended attributes, and a file with two names becomes two files.
//
// A revert (revert.go) deletes what was made, moves back, or restores from the undo data that the store keeps of what a
// write, an edit or a delete replaced (undo.go, kept.go, restore.go): content, mode and time, built beside its place and
// compared with the digest before it goes there.
//
// Versions (version.go): a file's is the hash of its content with its mode, a folder's is a hash over the names, kinds,
// sizes and times below it. Where pending effects put something into a folder that is moved or deleted later, the
// version expects exactly that, by content: one's own writes are no drift, anything else is.
package files
