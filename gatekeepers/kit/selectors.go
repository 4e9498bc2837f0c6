package kit

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"gatehouse/core"
)

func addSelector(list []core.Selector, s core.Selector) []core.Selector {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func addUnit(list []core.Found, u core.Found) []core.Found {
	if slices.ContainsFunc(list, func(f core.Found) bool { return f.Unit == u.Unit }) {
		return list
	}
	return append(list, u)
}

func selected(list []core.Selector, target string) bool {
	return slices.ContainsFunc(list, func(s core.Selector) bool { return s.Matches(target) })
}

// unbound finds the first part of a target that is a provisional id waiting for its provider.
func unbound(names core.Names, target string) (core.Name, string) {
	for _, part := range strings.Split(target, "/") {
		if !core.Provisional(part) {
			continue
		}
		if name, known := names[part]; known && name.Real == "" {
			return name, part
		}
	}
	return core.Name{}, ""
}

func versionOf[T any](view *View[T], spelled, target string) core.BaseVersion {
	if version := view.Version(target); version != "" {
		return core.BaseVersion{Target: spelled, Version: version}
	}
	return core.BaseVersion{Target: spelled, Absent: true}
}

// undone is one object as it was before an action; a null value is absence.
type undone struct {
	Target string          `json:"target"`
	Value  json.RawMessage `json:"value"`
}

// undoReader holds the very values whose versions were returned beside it, so they cannot differ.
func undoReader(list []undone) io.ReadCloser {
	return io.NopCloser(bytes.NewReader(encode(list)))
}
