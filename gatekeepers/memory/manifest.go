package memory

import (
	"slices"

	"gatehouse/core"
)

// The action kinds.
const (
	kindCreate      = "create"
	kindUpdate      = "update"
	kindAppend      = "append"
	kindAddLabel    = "add_label"
	kindRemoveLabel = "remove_label"
	kindMove        = "move"
	kindDelete      = "delete"
	kindPublish     = "publish"
	kindCharge      = "charge"
	kindRestore     = "restore" // made by reverts alone
)

// Kind is the gatekeeper's kind, and the Gatekeeper of its units.
const Kind = "memory"

func manifest() core.Manifest {
	return core.Manifest{
		Kind:  Kind,
		About: "Collections of items in memory or in a shared file, for tests.",
		Forms: []string{
			"memory://NAME", "memory://NAME/COLLECTION",
			"memory://NAME?fail=MODE[:WHERE[:N]],…&file=/PATH&latency=20ms&replay=native&seed=3",
		},
		Operations:    operations(),
		Kinds:         actionKinds(),
		Observers:     core.StrategyPublic,
		Unpredictable: []string{"id", "created_at", "updated_at", "next"},
		Local:         true,
	}
}

func param(name string, t core.ParamType, about string) core.Param {
	return core.Param{Name: name, Type: t, About: about}
}

func optional(name string, t core.ParamType, about string) core.Param {
	return core.Param{Name: name, Type: t, Optional: true, About: about}
}

func collectionParam() core.Param {
	return optional("collection", core.TypeString, "The collection; only where the binding is to the whole service.")
}

func idParam() core.Param {
	return param("id", core.TypeString, "The item's id, also a provisional one such as ~1.")
}

func operations() []core.Operation {
	return append(reads(), writes()...)
}

func reads() []core.Operation {
	order := optional("sort", core.TypeString, "created (the default) or title.")
	limit := optional("limit", core.TypeInteger, "Items a page, 100 at most.")
	cursor := optional("cursor", core.TypeString, "The next of the page before.")
	return []core.Operation{
		{
			Name: "list", About: "Lists the items of a collection.", Lanes: []core.Lane{core.LaneRead},
			Params: []core.Param{
				collectionParam(), optional("status", core.TypeString, "Only items of this status."),
				optional("label", core.TypeString, "Only items with this label."), order, limit, cursor,
			},
			Returns: "{items: [item], next?}", Depends: core.ReachPrefix, Observes: "the collection of every item listed",
		},
		{
			Name: "search", About: "Finds items whose title or body holds the words, whatever the case of letters.",
			Lanes: []core.Lane{core.LaneRead},
			Params: []core.Param{
				param("query", core.TypeString, "The words, as they stand."),
				optional("collection", core.TypeString, "The collection; every one where it is left out."), order, limit, cursor,
			},
			Returns: "{items: [item], next?}", Depends: core.ReachAll, Observes: "the collection of every item found",
		},
		{
			Name: "get", About: "Reads one item.", Lanes: []core.Lane{core.LaneRead},
			Params:  []core.Param{collectionParam(), idParam()},
			Returns: "{collection, id, title, body, labels, status, charged, created_at, updated_at}",
			Depends: core.ReachExact, Observes: "the item's collection",
		},
	}
}

func writes() []core.Operation {
	simulated := func(name, about string, params ...core.Param) core.Operation {
		if name != kindCreate {
			params = append([]core.Param{idParam()}, params...)
		}
		return core.Operation{
			Name: name, About: about, Lanes: []core.Lane{core.LaneSimulate},
			Params: append([]core.Param{collectionParam()}, params...), Returns: "the item", Kinds: []string{name},
		}
	}
	awaited := func(op core.Operation, reason string) core.Operation {
		op.Lanes, op.AwaitReason = []core.Lane{core.LaneAwait}, reason
		return op
	}
	label := param("label", core.TypeString, "One label.")
	return []core.Operation{
		simulated(
			kindCreate, "Creates an item; its id is provisional until it was approved.",
			param("title", core.TypeString, "One line."), optional("body", core.TypeString, "The text."),
			optional("labels", core.TypeArray, "Labels, as strings."),
		),
		simulated(
			kindUpdate, "Changes the parts that are given.",
			optional("title", core.TypeString, "One line."), optional("body", core.TypeString, "The text."),
			optional("status", core.TypeString, "open or closed."),
		),
		simulated(kindAppend, "Adds text at the end of the body.", param("text", core.TypeString, "The text.")),
		simulated(kindAddLabel, "Adds a label.", label),
		simulated(kindRemoveLabel, "Removes a label.", label),
		simulated(
			kindMove, "Gives an item another id, in another collection where one is named.",
			param("to", core.TypeString, "The new id."), optional("to_collection", core.TypeString, "The new collection."),
		),
		simulated(kindDelete, "Deletes an item."),
		awaited(simulated(kindPublish, "Publishes an item for good."), "nobody can take it back once others saw it"),
		awaited(
			simulated(kindCharge, "Charges an item's account.", param("amount", core.TypeInteger, "Cents, from 1 to 1000000.")),
			"it costs money",
		),
	}
}

func actionKinds() []core.ActionKind {
	fields := map[string][]core.FieldDef{
		kindCreate:      {{Name: "collection", Type: core.TypeString}, {Name: "title", Type: core.TypeString}, {Name: "body", Type: core.TypeString}, {Name: "labels", Type: core.TypeArray}},
		kindUpdate:      {{Name: "title", Type: core.TypeString}, {Name: "body", Type: core.TypeString}, {Name: "status", Type: core.TypeString}},
		kindAppend:      {{Name: "text", Type: core.TypeString}},
		kindAddLabel:    {{Name: "label", Type: core.TypeString}},
		kindRemoveLabel: {{Name: "label", Type: core.TypeString}},
		kindMove:        {{Name: "collection", Type: core.TypeString}, {Name: "id", Type: core.TypeString}},
		kindDelete:      {{Name: "title", Type: core.TypeString}, {Name: "body", Type: core.TypeString}},
		kindPublish:     {{Name: "status", Type: core.TypeString}},
		kindCharge:      {{Name: "amount", Type: core.TypeInteger}},
		kindRestore: {
			{Name: "title", Type: core.TypeString},
			{Name: "body", Type: core.TypeString},
			{Name: "labels", Type: core.TypeArray},
			{Name: "status", Type: core.TypeString},
			{Name: "charged", Type: core.TypeInteger},
			{Name: "created_at", Type: core.TypeString},
			{Name: "updated_at", Type: core.TypeString},
			{Name: "place", Type: core.TypeInteger},
		},
	}
	var kinds []core.ActionKind
	for _, name := range kindNames() {
		kinds = append(kinds, core.ActionKind{
			Name: name, Fields: fields[name], Revertible: []bool{revertible(name)},
			Reverts:      name == kindRestore,
			Irreversible: []bool{name == kindPublish}, CostsMoney: []bool{name == kindCharge},
		})
	}
	return kinds
}

// revertible kinds keep the items as they were as undo data.
func revertible(kind string) bool {
	switch kind {
	case kindUpdate, kindAppend, kindAddLabel, kindRemoveLabel, kindMove, kindDelete, kindRestore:
		return true
	default:
		return false
	}
}

func kindNames() []string {
	return []string{
		kindCreate, kindUpdate, kindAppend, kindAddLabel, kindRemoveLabel, kindMove, kindDelete, kindPublish, kindCharge,
		kindRestore,
	}
}

func isKind(name string) bool { return slices.Contains(kindNames(), name) }
