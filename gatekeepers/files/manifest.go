package files

import "gatehouse/core"

// Kind is the gatekeeper kind.
const Kind = "files"

// The reads.
const (
	opRead   = "read"
	opList   = "list"
	opSearch = "search"
	opStat   = "stat"
	opStatus = "status"
	opDiff   = "diff"
	opLog    = "log"
)

// Manifest says what the driver can do.
func (d *Driver) Manifest() core.Manifest {
	return core.Manifest{
		Kind:          Kind,
		About:         "a folder of this machine, or a part of one; with reads from git where it lies in a work tree",
		Forms:         []string{"file:///srv/site", "file:///srv/site#path=docs"},
		Operations:    append(reads(), writes()...),
		Kinds:         actionKinds(),
		Observers:     core.StrategyACL,
		Unpredictable: []string{"modified"},
		Local:         true,
	}
}

func param(name string, about string) core.Param {
	return core.Param{Name: name, Type: core.TypeString, About: about}
}

func optional(name string, kind core.ParamType, about string) core.Param {
	return core.Param{Name: name, Type: kind, Optional: true, About: about}
}

func reads() []core.Operation {
	const observes = "the folder or sub-path that the binding names, as one unit"
	read := func(name string, depends core.Reach, about, returns string, params ...core.Param) core.Operation {
		return core.Operation{
			Name: name, About: about, Lanes: []core.Lane{core.LaneRead}, Params: params,
			Returns: returns, Depends: depends, Observes: observes,
		}
	}
	folder := optional("path", core.TypeString, "folder, relative to the binding; the binding's own when left out")
	cursor := optional("cursor", core.TypeString, "next of the page before, to go on behind it")
	within := optional("path", core.TypeString, "file or folder to look at; all of the binding when left out")
	log := read(opLog, core.ReachExact, "The newest 200 commits that touch a path. Commits only: pending changes are in none.",
		"{branch, head, commits: [{id, author, at, subject}], more}", within)
	log.Unsimulated = "commits are not made through this gatekeeper, so no pending change becomes one"
	return []core.Operation{
		read(opRead, core.ReachExact, "Read a file, or a window of one in bytes.",
			"{path, text or base64, version, size, next}: next is the offset to go on at, absent at the end",
			param("path", "file, relative to the binding, with / between names"),
			optional("offset", core.TypeInteger, "byte to begin at, 0 when left out"),
			optional("limit", core.TypeInteger, "bytes to read at most: 65536 when left out, 1048576 at most")),
		read(opList, core.ReachPrefix, "List a folder, sorted by name.",
			"{entries: [{name, kind, size}], next}: kind is file, folder, link or other", folder, cursor),
		read(opSearch, core.ReachPrefix, "Find the lines of text files that contain a text exactly as given.",
			"{hits: [{path, line, text}], next, skipped}: files that are not text or cannot be read are skipped",
			param("query", "text to find, within one line, case counts"), within, cursor),
		read(opStat, core.ReachExact, "Look at a file or folder without reading it.",
			"{path, kind, size, mode, modified}",
			optional("path", core.TypeString, "file or folder, relative to the binding; the binding's own folder when left out")),
		read(opStatus, core.ReachPrefix, "What git says has changed, and what is pending on top of it.",
			"{branch, head, entries: [{path, index, worktree}], pending: [{path, change, actions}]}", within),
		read(opDiff, core.ReachPrefix, "Changes as diffs: staged, not staged, and pending on top of both.",
			"{staged, unstaged, pending}: three diffs", within),
		log,
	}
}

func writes() []core.Operation {
	write := func(name, about, returns string, params ...core.Param) core.Operation {
		return core.Operation{
			Name: name, About: about, Lanes: []core.Lane{core.LaneSimulate}, Params: params,
			Returns: returns, Kinds: []string{name},
		}
	}
	return []core.Operation{
		write(opWrite, "Write a whole file of at most 1 MiB; folders that are missing on the way are made.",
			"{path, version, size, parents}",
			param("path", "file, relative to the binding"),
			optional("text", core.TypeString, "the whole content; this or base64"),
			optional("base64", core.TypeBytes, "the whole content of a file that is not text; this or text")),
		write(opEdit, "Replace a text that occurs exactly once in a file of at most 1 MiB.",
			"{path, version, size}",
			param("path", "file, relative to the binding"),
			param("old", "text to replace; it must occur exactly once, so give enough of what surrounds it"),
			param("new", "text to put in its place")),
		write(opMove, "Move or rename a file or folder; nothing may stand where it goes.",
			"{from, to, parents}",
			param("from", "what to move, relative to the binding"), param("to", "its new path")),
		write(opDelete, "Delete a file, or a folder with all that it holds.",
			"{path, entries}", param("path", "what to delete, relative to the binding")),
		write(opMkdir, "Make a folder; folders that are missing on the way are made too.",
			"{path, parents}", param("path", "folder to make, relative to the binding")),
	}
}

func actionKinds() []core.ActionKind {
	field := func(name string, kind core.ParamType) core.FieldDef { return core.FieldDef{Name: name, Type: kind} }
	var (
		yes     = []bool{true}
		no      = []bool{false}
		either  = []bool{true, false}
		path    = field("path", core.TypeString)
		body    = []core.FieldDef{field("text", core.TypeString), field("base64", core.TypeBytes)}
		facts   = []core.FieldDef{field("size", core.TypeInteger), field("mode", core.TypeString)}
		parents = field("parents", core.TypeArray)
	)
	kind := func(name string, revertible, irreversible []bool, fields ...core.FieldDef) core.ActionKind {
		return core.ActionKind{Name: name, Fields: fields, Revertible: revertible, Irreversible: irreversible, CostsMoney: no}
	}
	reverting := func(k core.ActionKind) core.ActionKind {
		k.Reverts = true
		return k
	}
	content := append(append([]core.FieldDef{path}, body...), facts...)
	return []core.ActionKind{
		kind(opWrite, either, either, append(content, parents)...),
		kind(opEdit, yes, no, content...),
		kind(opMove, yes, no, path, field("kind", core.TypeString), parents),
		kind(opDelete, either, either, append(content, field("kind", core.TypeString), field("entries", core.TypeArray))...),
		reverting(kind(opRestore, either, either, append(content, field("kind", core.TypeString), field("entries", core.TypeArray),
			field("sha256", core.TypeString), field("link", core.TypeString), field("modified", core.TypeString), parents)...)),
		kind(opMkdir, yes, no, path, field("mode", core.TypeString), parents),
	}
}
