package library

import "gatehouse/core"

// Kind is the kind of this gatekeeper.
const Kind = "library"

// The operations.
const (
	opSearch  = "search"
	opList    = "list"
	opRead    = "read"
	opCatalog = "catalog"
	// OpExpand is what a slash command does once a person has seen what it becomes.
	OpExpand = "expand"
)

func manifest() core.Manifest {
	return core.Manifest{
		Kind: Kind, About: "the skill library: collections of documents that people publish",
		Forms:      []string{scheme, scheme + narrowing + "ID"},
		Operations: operations(), Observers: core.StrategyVisibility, Local: true,
	}
}

func operations() []core.Operation {
	param := func(name string, t core.ParamType, about string) core.Param {
		return core.Param{Name: name, Type: t, About: about}
	}
	option := func(name string, t core.ParamType, about string) core.Param {
		return core.Param{Name: name, Type: t, Optional: true, About: about}
	}
	read := func(name, about, returns, observes string, params ...core.Param) core.Operation {
		return core.Operation{
			Name: name, About: about, Lanes: []core.Lane{core.LaneRead}, Params: params, Returns: returns,
			Depends: core.ReachExact, Observes: observes,
		}
	}
	return []core.Operation{
		read(opSearch, "Finds documents that hold every word of the query.", "{hits: [{id, path, title, snippet}]}",
			"the collections of the hits",
			param("query", core.TypeString, "1 to 16 words; each must occur as a whole word."),
			option("limit", core.TypeInteger, "1 to 50 hits, 20 if left out.")),
		read(opList, "Lists the collections, or the documents of one.",
			"{collections: [{id, title, description, visibility}], next?} or {documents: [{id, path, title, description, type}], next?}",
			"the collections listed",
			option("collection", core.TypeString, "The id of a collection; all collections if left out."),
			option("limit", core.TypeInteger, "1 to 500 a page, 100 if left out."),
			option("cursor", core.TypeString, "The \"next\" of the page before.")),
		read(opRead, "Reads a document, 64 KiB at most at once.",
			"{id, type, sha256, size, offset, text | base64, next?}", "the collection",
			param("id", core.TypeString, "The id of a document, as search and list give it."),
			option("offset", core.TypeInteger, "The byte to begin at; the \"next\" of the window before."),
			option("limit", core.TypeInteger, "1 to 65536 bytes, 65536 if left out.")),
		read(opCatalog, "The catalog that the turn began with, made anew.",
			"{entries: [{id, description}], omitted: {collections, skills, unusable}, incomplete}",
			"the collections that a person pinned to the session"),
		read(OpExpand, "Gives the text of a skill with arguments in place, as a slash command does.",
			"{id, sha256, text}", "the collection",
			param("id", core.TypeString, "The id of the skill."),
			option("args", core.TypeString, "What stands for $ARGUMENTS.")),
	}
}
