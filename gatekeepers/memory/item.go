package memory

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

// Item is one object of the service.
type Item struct {
	Collection string    `json:"collection,omitempty"`
	ID         string    `json:"id,omitempty"`
	Title      string    `json:"title"`
	Body       string    `json:"body,omitempty"`
	Labels     []string  `json:"labels,omitempty"` // sorted
	Status     string    `json:"status,omitempty"` // "open" where empty
	Charged    int64     `json:"charged,omitempty"`
	CreatedAt  time.Time `json:"created_at,omitzero"`
	UpdatedAt  time.Time `json:"updated_at,omitzero"`
	Seq        int64     `json:"seq,omitempty"` // place in the order of creation
	Rev        int64     `json:"rev,omitempty"` // of the service at the last change
}

// target is how actions name an item.
func (i Item) target() string { return i.Collection + "/" + i.ID }

func (i Item) clone() Item {
	i.Labels = slices.Clone(i.Labels)
	return i
}

// version moves with every change, also one made by hand in the file.
func (i Item) version() string {
	raw, err := json.Marshal(i)
	if err != nil {
		panic("memory: an item that is not JSON: " + err.Error())
	}
	return kit.Version(i.Collection, i.ID, strconv.FormatInt(i.Rev, 10), string(raw))
}

// shown is an item as callers get it.
type shown struct {
	Collection string    `json:"collection"`
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	Body       string    `json:"body"`
	Labels     []string  `json:"labels"`
	Status     string    `json:"status"`
	Charged    int64     `json:"charged"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

func (i Item) show() shown {
	labels := i.Labels
	if labels == nil {
		labels = []string{}
	}
	return shown{
		Collection: i.Collection, ID: i.ID, Title: i.Title, Body: i.Body, Labels: labels, Status: i.status(),
		Charged: i.Charged, CreatedAt: i.CreatedAt.UTC(), UpdatedAt: i.UpdatedAt.UTC(),
	}
}

func (i Item) status() string {
	if i.Status == "" {
		return "open"
	}
	return i.Status
}

func (i Item) contains(words string) bool {
	return strings.Contains(strings.ToLower(i.Title+"\n"+i.Body), strings.ToLower(words))
}

// change is the payload of every action: what is to be done to one item, as deltas (GK5).
type change struct {
	Service      string   `json:"service"` // a payload of one service means nothing at another (K59)
	Collection   string   `json:"collection"`
	ID           string   `json:"id,omitempty"` // empty for a create
	Title        *string  `json:"title,omitempty"`
	Body         *string  `json:"body,omitempty"`
	Status       *string  `json:"status,omitempty"`
	Labels       []string `json:"labels,omitempty"`
	Text         string   `json:"text,omitempty"`
	Label        string   `json:"label,omitempty"`
	ToCollection string   `json:"to_collection,omitempty"`
	To           string   `json:"to,omitempty"`
	Amount       int64    `json:"amount,omitempty"`
	Whole        *Item    `json:"whole,omitempty"` // restore: the item as it was
}

func (c change) target() string { return c.Collection + "/" + c.ID }
func (c change) goal() string   { return c.ToCollection + "/" + c.To }

// table is where a change is carried out: the service's own state, or a view of it.
type table interface {
	item(target string) (Item, bool)
	put(target string, item Item)
	move(from, to string, item Item)
	remove(target string)
}

// carryOut makes one change, whole or not at all. A create is given its id and its place in the order.
func carryOut(t table, kind string, c change, id string, seq int64, at time.Time) error {
	if kind == kindCreate {
		item := Item{Collection: c.Collection, ID: id, Labels: sorted(c.Labels), Seq: seq, CreatedAt: at, UpdatedAt: at}
		item.Title, item.Body = text(c.Title), text(c.Body)
		t.put(item.target(), item)
		return nil
	}
	item, there := t.item(c.target())
	if kind == kindRestore && c.Whole != nil {
		t.put(c.target(), c.Whole.clone())
		return nil
	}
	if !there {
		return kit.NotFound(c.target())
	}
	item = item.clone()
	item.UpdatedAt = at
	switch kind {
	case kindUpdate:
		update(&item, c)
	case kindAppend:
		item.Body += c.Text
	case kindAddLabel:
		if !hasLabel(item, c.Label) {
			item.Labels = sorted(append(item.Labels, c.Label))
		}
	case kindRemoveLabel:
		item.Labels = slices.DeleteFunc(item.Labels, func(l string) bool { return strings.EqualFold(l, c.Label) })
	case kindPublish:
		item.Status = "published"
	case kindCharge:
		item.Charged += c.Amount
	case kindDelete:
		t.remove(c.target())
		return nil
	case kindMove:
		if _, taken := t.item(c.goal()); taken {
			return kit.Conflict("%s: exists already; choose another id", c.goal())
		}
		item.Collection, item.ID = c.ToCollection, c.To
		t.move(c.target(), c.goal(), item)
		return nil
	default:
		return core.Invalid("memory: no action kind %q", kind)
	}
	t.put(c.target(), item)
	return nil
}

func update(item *Item, c change) {
	if c.Title != nil {
		item.Title = *c.Title
	}
	if c.Body != nil {
		item.Body = *c.Body
	}
	if c.Status != nil {
		item.Status = *c.Status
	}
}

func hasLabel(item Item, label string) bool {
	return slices.ContainsFunc(item.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}

func sorted(labels []string) []string {
	labels = slices.Clone(labels)
	slices.Sort(labels)
	return slices.Compact(labels)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
