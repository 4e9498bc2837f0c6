package files

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"gatehouse/core"
	"gatehouse/core/text"
)

// draft is a write while it is prepared.
type draft struct {
	r       *resource
	ctx     context.Context
	op      string
	args    args
	tree    *tree
	journal core.Journal
	payload payload
	out     core.Draft
	value   writeValue
	back    bool     // a revert: names that were there before may be there again
	unmade  []string // folders that go, as they are shown
	undo    int64    // bytes that an undo would keep
}

type writeValue struct {
	Path    string   `json:"path,omitempty"`
	From    string   `json:"from,omitempty"`
	To      string   `json:"to,omitempty"`
	Version string   `json:"version,omitempty"`
	Size    *int64   `json:"size,omitempty"`
	Entries *int     `json:"entries,omitempty"`
	Parents []string `json:"parents,omitempty"`
}

// Prepare turns a write into a draft against the folder as it looks with everything pending.
func (r *resource) Prepare(ctx context.Context, call core.Call, j core.Journal) (core.Draft, error) {
	a, err := decodeArgs(call)
	if err != nil {
		return core.Draft{}, err
	}
	if err := ctx.Err(); err != nil {
		return core.Draft{}, err
	}
	d := &draft{r: r, ctx: ctx, op: call.Method, args: a, tree: r.simulate(j), journal: j}
	d.out = core.Draft{Kind: call.Method, Lane: core.LaneSimulate, Revertible: true, AutoApprovable: true}
	main := a.Path
	if call.Method == opMove {
		main = a.From
	}
	full, err := r.target(main)
	if err != nil {
		return core.Draft{}, err
	}
	switch call.Method {
	case opWrite:
		err = d.write(full)
	case opEdit:
		err = d.edit(full)
	case opMove:
		err = d.move(full)
	case opDelete:
		err = d.delete(full)
	case opMkdir:
		err = d.mkdir(full)
	default:
		return core.Draft{}, core.Invalid("files has no write %q", call.Method)
	}
	if err != nil {
		return core.Draft{}, r.fault(full, err)
	}
	return d.finish()
}

// target is a path that a write may act on: anything below the binding's own folder.
// Its refusals say why: they tell of the spelling, not of what exists.
func (r *resource) target(p string) (string, error) {
	if _, why := relative(p); why != "" {
		return "", core.Invalid("path %s: %s", quote(p), why)
	}
	full, err := r.full(p)
	if err == nil && full == r.sub {
		err = core.Invalid("path %s: is the binding's own folder; name something in it", quote(p))
	}
	return full, err
}

func (d *draft) write(full string) error {
	data, err := d.args.content()
	if err != nil {
		return err
	}
	old, err := d.tree.at(full)
	if err != nil {
		return err
	}
	d.payload = payload{Path: full, Content: data, Mode: old.perm()}
	switch old.kind {
	case kindFile:
	case kindAbsent:
		d.provide(full)
		folder, err := d.makeWay(full)
		if err != nil {
			return err
		}
		d.payload.Mode = folder.perm() & 0o644
	case kindLink:
		return errLink
	default:
		return core.Invalid("%s: is not a file; delete or move it first", quote(d.r.show(full)))
	}
	return d.replaceFile(full, old, data)
}

func (d *draft) edit(full string) error {
	if d.args.Old == "" {
		return core.Invalid("edit: old is empty; give the text to replace")
	}
	old, err := d.present(full)
	if err != nil {
		return err
	}
	data, err := d.tree.read(old, maxWrite)
	if err != nil {
		return err
	}
	edited, count := replaceOnce(string(data), d.args.Old, d.args.New)
	switch {
	case count == 0:
		return d.misplaced(full, data, "does not occur; read the file again and give it exactly")
	case count > 1:
		return d.misplaced(full, data, "occurs more than once; give more of what surrounds it")
	case len(edited) > maxWrite:
		return errTooLarge
	}
	d.payload = payload{Path: full, Old: d.args.Old, New: d.args.New, Mode: old.perm()}
	d.need(full)
	return d.replaceFile(full, old, []byte(edited))
}

func (d *draft) misplaced(full string, data []byte, why string) error {
	refused := &core.CallError{Code: core.CodeConflict, Text: fmt.Sprintf("%s: the old text %s", quote(d.r.show(full)), why)}
	if isText(data) {
		refused.Now = []core.Field{{Name: "text", Before: encode(string(data))}}
	}
	return refused
}

// replaceFile describes what a write and an edit have in common.
func (d *draft) replaceFile(full string, old item, data []byte) error {
	if err := d.base(full, old, false); err != nil {
		return err
	}
	d.after(full, false)
	if err := d.body(old, data); err != nil {
		return err
	}
	if old.exists() {
		d.undo = old.size()
	}
	size := int64(len(data))
	d.value.Path, d.value.Version, d.value.Size = d.r.show(full), sumOf(data), &size
	d.out.Projected = old.acts
	d.out.Title = d.title(d.op + " " + d.r.show(full))
	return nil
}

func (d *draft) move(from string) error {
	to, err := d.r.target(d.args.To)
	if err != nil {
		return err
	}
	return d.moveTo(from, to)
}

func (d *draft) moveTo(from, to string) error {
	if _, inside := below(to, from); inside {
		return core.Invalid("to %s: lies in what is moved", quote(d.r.show(to)))
	}
	old, err := d.present(from)
	if err != nil {
		return err
	}
	taken, err := d.tree.at(to)
	if err != nil {
		return d.r.fault(to, err)
	}
	if taken.exists() {
		return &core.CallError{Code: core.CodeConflict, Text: quote(d.r.show(to)) + ": is there already; delete it first"}
	}
	d.payload = payload{From: from, To: to, Folder: old.kind == kindFolder}
	d.provide(to)
	if _, err := d.makeWay(to); err != nil {
		return err
	}
	if err := d.base(from, old, true); err != nil {
		return err
	}
	if err := d.base(to, taken, false); err != nil {
		return err
	}
	d.need(from)
	d.after(from, true)
	d.after(to, false)
	d.field("path", d.r.show(from), d.r.show(to))
	d.field("kind", old.kind, old.kind)
	d.value.From, d.value.To = d.r.show(from), d.r.show(to)
	d.out.Projected = merge(old.acts, taken.acts)
	d.out.Title = d.title(fmt.Sprintf("move %s to %s", d.r.show(from), d.r.show(to)))
	return nil
}

func (d *draft) delete(full string) error {
	old, err := d.present(full)
	if err != nil {
		return err
	}
	d.payload = payload{Path: full, Folder: old.kind == kindFolder}
	if err := d.base(full, old, true); err != nil {
		return err
	}
	d.need(full)
	d.after(full, true)
	d.field("path", d.r.show(full), nil)
	d.field("kind", old.kind, nil)
	if old.kind == kindFile {
		d.undo = old.size()
		if err := d.body(old, nil); err != nil {
			return err
		}
	}
	d.value.Path = d.r.show(full)
	d.out.Projected = old.acts
	d.out.Title = d.title("delete " + d.r.show(full))
	return nil
}

func (d *draft) mkdir(full string) error {
	old, err := d.tree.at(full)
	if err != nil {
		return err
	}
	if old.exists() {
		return &core.CallError{Code: core.CodeConflict, Text: quote(d.r.show(full)) + ": is there already"}
	}
	d.payload = payload{Path: full}
	d.provide(full)
	folder, err := d.makeWay(full)
	if err != nil {
		return err
	}
	d.payload.Mode = folder.perm() & 0o755
	if err := d.base(full, old, false); err != nil {
		return err
	}
	d.after(full, false)
	d.field("path", nil, d.r.show(full))
	d.field("mode", nil, modeText(d.payload.Mode))
	d.value.Path = d.r.show(full)
	d.out.Projected = old.acts
	d.out.Title = d.title("mkdir " + d.r.show(full))
	return nil
}

// present is what stands at a path, which has to be there.
func (d *draft) present(full string) (item, error) {
	it, err := d.tree.at(full)
	if err == nil && !it.exists() {
		err = errAbsent
	}
	return it, err
}

// field adds what is sent; nil is absent.
func (d *draft) field(name string, before, after any) {
	d.out.Fields = append(d.out.Fields, core.Field{Name: name, Before: encode(before), After: encode(after)})
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("files: a field that is not JSON: " + err.Error())
	}
	return raw
}

func modeText(mode fs.FileMode) string { return fmt.Sprintf("%04o", unixMode(mode)) }

// body adds the fields of a file's content: whole, before and after, for a file that is small enough to be shown, and
// its size and mode always. data is nil for a delete.
func (d *draft) body(old item, data []byte) error {
	var before []byte
	if old.exists() && old.size() <= maxWrite {
		var err error
		if before, err = d.tree.read(old, maxWrite); err != nil {
			return err
		}
	}
	var shown struct{ path, size, mode, content [2]any }
	shown.path[0], shown.size[0], shown.mode[0] = nil, nil, nil
	path := d.r.show(d.payload.Path)
	if old.exists() {
		shown.path[0], shown.size[0], shown.mode[0] = path, old.size(), modeText(old.perm())
	}
	if d.op != opDelete {
		shown.path[1], shown.size[1], shown.mode[1] = path, len(data), modeText(d.payload.Mode)
		d.field("path", shown.path[0], shown.path[1])
	}
	name, asField := "text", func(b []byte) any { return string(b) }
	if !isText(before) || !isText(data) {
		name, asField = "base64", func(b []byte) any { return base64.StdEncoding.EncodeToString(b) }
	}
	if old.exists() && old.size() <= maxWrite {
		shown.content[0] = asField(before)
	}
	if d.op != opDelete {
		shown.content[1] = asField(data)
	}
	d.field(name, shown.content[0], shown.content[1])
	d.field("size", shown.size[0], shown.size[1])
	d.field("mode", shown.mode[0], shown.mode[1])
	return nil
}

func (d *draft) title(s string) string {
	line, _ := text.CleanLine(s, 200)
	return strings.TrimSpace(line)
}

// finish puts together what all kinds have.
func (d *draft) finish() (core.Draft, error) {
	if len(d.payload.Parents) > 0 || len(d.unmade) > 0 {
		shown := make([]string, len(d.payload.Parents))
		for i, p := range d.payload.Parents {
			shown[i] = d.r.show(p)
		}
		d.field("parents", d.unmade, shown)
		d.value.Parents = shown
	}
	if d.undo > core.UndoLimit {
		d.out.Revertible, d.out.Irreversible = false, true
	}
	if d.out.WidensTrust = d.trusted(); d.out.WidensTrust || d.out.Irreversible {
		d.out.AutoApprovable = false
	}
	d.payload.Resource = d.r.key
	d.out.Payload, d.out.Value = encode(d.payload), encode(d.value)
	d.out.Found = []core.Found{d.r.Unit()}
	d.out.Incomplete = d.tree.gaps
	return d.out, nil
}
