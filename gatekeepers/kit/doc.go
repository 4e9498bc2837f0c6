// Package kit is what every gatekeeper stands on, so that a driver for a service that creates, reads, updates and
// deletes holds little more than its calls to the service (GK11).
//
// The words. A target names one object below a resource, as "/"-separated parts; a part that is a provisional id
// ("~N") stands for something that a queued action will create. An effect is a pending action as a driver sees it.
// A View holds the objects that one call looked at, first as the service gave them, then with effects projected.
//
// A driver comes in one of two forms (kernel R16). In the overlay form it implements Driver: fetch one object, list
// some, project one effect purely, send one action. Resource makes a core.Resource of it. In the native form it also
// implements Native and replays inside its own fetch. Drivers whose objects are not values (a folder, a database)
// implement core.Resource themselves and use the parts: Decode, ResolveJournal, Replay, Lineage, Cursor, Version, Redactor.
//
// What a call goes through in Resource:
//
//	arguments → bound provisional ids resolved → Driver.Parse → a Request
//	Request → selectors, in every spelling that earlier actions may have used → Intend, Extend
//	fetch → View → replay in id order, stopping at the first effect that cannot be projected (K57)
//	a read:  filter, sort, page, Show        a write: project it too, then fields, base, needs and after
//
// Not guaranteed: that an effect which a driver projects is what the service will do. The conformance suite measures it.
package kit
