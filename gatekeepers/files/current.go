package files

import (
	"context"
	"errors"
	"fmt"

	"gatehouse/core"
)

// inside refuses an action whose paths are not below this binding: it cannot be carried out through it.
func (r *resource) inside(p payload, kind string) error {
	if p.Resource != r.key {
		return fmt.Errorf("action of another folder, or of one that was replaced since: %w", core.ErrNotFound)
	}
	for _, full := range append(p.paths(kind), p.others()...) {
		rest, ok := below(full, r.sub)
		if _, why := relative(full); !ok || rest == "" || why != "" {
			return fmt.Errorf("action of another binding: %w", core.ErrNotFound)
		}
	}
	return nil
}

// Current looks at the targets as they are on disk, and opens what undoes the action.
func (r *resource) Current(ctx context.Context, dispatch core.Dispatch) (core.Current, error) {
	p, err := decodePayload(dispatch.Payload)
	if err != nil {
		return core.Current{}, err
	}
	if err := r.inside(p, dispatch.Kind); err != nil {
		return core.Current{}, err
	}
	t := newTree(r.disk)
	var current core.Current
	var subject core.BaseVersion
	for _, b := range dispatch.Base {
		v, err := r.currentVersion(ctx, t, dispatch.Kind, p, b)
		if err != nil {
			return core.Current{}, r.fault(b.Target, err)
		}
		current.Versions = append(current.Versions, v)
		if b.Target == p.paths(dispatch.Kind)[0] && v.Same(b) { // one that drifted is not undone: it is not sent
			subject = v
		}
	}
	if dispatch.WantUndo && subject.Version != "" {
		current.Undo, err = r.undo(ctx, dispatch.Kind, p, subject)
	}
	return current, err
}

// currentVersion is the version of one target of a base, seen as the action sees it: what goes as a whole counts with
// all it holds, and what is to be made needs a folder to be made in.
func (r *resource) currentVersion(ctx context.Context, t *tree, kind string, p payload, b core.BaseVersion) (core.BaseVersion, error) {
	if p.Folder && b.Target == p.paths(kind)[0] {
		v, _, err := t.folderVersion(ctx, b.Target, p.Touched)
		return v, err
	}
	if p.Unmake != "" && b.Target == p.Unmake {
		v, _, err := t.folderVersion(ctx, b.Target, p.UnmakeTouched)
		return v, err
	}
	v, err := t.version(ctx, b.Target)
	if err != nil || !v.Absent {
		return v, err
	}
	above, _ := split(b.Target)
	for _, parent := range p.Parents {
		if parent == above {
			return v, nil
		}
	}
	folder, err := t.at(above)
	if err == nil && folder.kind == kindFolder {
		return v, nil
	}
	if err != nil && !errors.Is(err, errLink) {
		return v, err
	}
	return core.BaseVersion{Target: b.Target, Version: "no folder above"}, nil
}

// Find looks for what an action whose outcome was never heard would have made.
func (r *resource) Find(_ context.Context, dispatch core.Dispatch) ([]core.Created, error) {
	p, err := decodePayload(dispatch.Payload)
	if err != nil {
		return nil, err
	}
	if err := r.inside(p, dispatch.Kind); err != nil {
		return nil, err
	}
	var found []core.Created
	for _, name := range dispatch.Provides {
		if _, err := r.disk.lstat(name); err != nil {
			return nil, core.ErrNotFound
		}
		found = append(found, core.Created{Name: name, Real: name})
	}
	return found, nil
}
