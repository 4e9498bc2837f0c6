package skills

import "strings"

// tools reads allowed-tools: words on one line, or a flat list.
func (h *head) tools(e entry) {
	var tools []Scalar
	var bad *Fault
	first, below := e.content()
	switch {
	case strings.HasPrefix(e.value, "["):
		tools, bad = h.flowList(e)
	case e.isEmpty() && below && listItem(e.children[first]):
		tools, bad = h.blockList(e)
	default:
		var s Scalar
		if s, bad = h.scalar(e); bad == nil {
			h.scalars = append(h.scalars, s)
			h.fm.AllowedTools = toolWords(s.Text)
			return
		}
	}
	if bad != nil {
		h.unread(e, bad)
		return
	}
	for _, tool := range tools {
		h.fm.AllowedTools = append(h.fm.AllowedTools, tool.Text)
		h.scalars = append(h.scalars, tool)
	}
}

// toolWords splits at blanks and commas that stand outside parentheses.
func toolWords(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(depth-1, 0)
		case ' ', '\t', '\n', ',':
			return depth == 0
		}
		return false
	})
}

// flowList reads [a, b] on one line.
func (h *head) flowList(e entry) ([]Scalar, *Fault) {
	nested := e.own(h, e.at, FaultNotScalar, "a list that is not flat, or not on one line", "write the tools on one line, with blanks between them")
	if after, closes := flowEnd(e.value); !closes || after != "" {
		return nil, nested
	}
	if _, below := e.content(); below {
		return nil, nested
	}
	value := strings.TrimRight(beforeComment(e.value), " \t")
	rest := strings.TrimSuffix(value, "]")[1:]
	var tools []Scalar
	for {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "" {
			return tools, nil
		}
		item, after, ok := flowItem(rest)
		if !ok {
			return nil, nested
		}
		at := e.at + len(value) - 1 - len(rest)
		tools = append(tools, Scalar{Key: e.path, Text: item, Line: h.line(e.index), Column: e.shift + column(e.line, at)})
		rest = after
	}
}

// flowItem reads one item of a flat list and the comma behind it.
func flowItem(s string) (item, after string, ok bool) {
	if s[0] == '"' || s[0] == '\'' {
		q := doubleQuoted(s)
		if s[0] == '\'' {
			q = singleQuoted(s)
		}
		rest := strings.TrimLeft(q.rest, " \t")
		if !q.closed || q.bad != "" || rest != "" && rest[0] != ',' {
			return "", "", false
		}
		return q.text, strings.TrimPrefix(rest, ","), true
	}
	item, after, _ = strings.Cut(s, ",")
	item = strings.TrimRight(item, " \t")
	bad := item == "" || badStart(item) != nil || item[0] == '-' && len(item) == 1 ||
		strings.ContainsAny(item, "[]{}\"#") || colonAt(item) >= 0 || strings.HasPrefix(item, ":")
	return item, after, !bad
}

// blockList reads one item a line, all indented alike.
func (h *head) blockList(e entry) ([]Scalar, *Fault) {
	var tools []Scalar
	depth := -1
	for i, line := range e.children {
		if blank(line) || comment(line) {
			continue
		}
		at := indent(line)
		if depth < 0 {
			depth = at
		}
		text := strings.TrimLeft(strings.TrimPrefix(strings.TrimRight(line[at:], " \t"), "-"), " \t")
		if !listItem(line) || at != depth || text == "" {
			return nil, e.child(h, i, at, FaultNotScalar, "a list that is not flat", "write one tool on each line, behind a dash and a space")
		}
		item := entry{key: e.key, path: e.path, index: e.index + 1 + i, shift: e.shift, line: line, value: text, at: strings.LastIndex(line, text)}
		if item.value[0] == '|' || item.value[0] == '>' {
			return nil, e.child(h, i, item.at, FaultNotScalar, "a list that is not flat", "write one tool on each line, behind a dash and a space")
		}
		s, bad := h.scalar(item)
		if bad != nil {
			return nil, bad
		}
		tools = append(tools, s)
	}
	return tools, nil
}

// hint takes the rest of the line.
func (h *head) hint(e entry) {
	h.fm.ArgumentHint = e.value
	if e.value != "" && (e.value[0] == '"' || e.value[0] == '\'') {
		if text, bad := h.quoted(e); bad == nil {
			h.fm.ArgumentHint = text
		}
	}
	if first, below := e.content(); below {
		h.unread(e, e.child(h, first, indent(e.children[first]), FaultIndent, "it goes on below its line", "write it on one line"))
		h.fm.ArgumentHint = ""
	}
}

// metadata reads one level of keys; what lies deeper stays raw.
func (h *head) metadata(e entry) {
	first, below := e.content()
	if !e.isEmpty() {
		h.unread(e, e.own(h, e.at, FaultNotScalar, "it is no map", "write its keys on indented lines below"))
		return
	}
	if !below {
		return
	}
	depth := indent(e.children[first])
	if listItem(e.children[first]) {
		h.unread(e, e.child(h, first, depth, FaultNotScalar, "it is a list", "write key: value on indented lines"))
		return
	}
	h.fm.Metadata = map[string]string{}
	for i := 0; i < len(e.children); {
		line := e.children[i]
		switch {
		case blank(line), comment(line):
			i++
		case indent(line) != depth:
			h.faults = append(h.faults, *e.child(h, i, indent(line), FaultIndent, "a line of metadata that is indented otherwise than the first", "indent all its keys alike"))
			i++
		default:
			i += h.metadataEntry(e, i, depth)
		}
	}
}

// metadataEntry reads the key on line i of the map, and returns how many lines
// it takes.
func (h *head) metadataEntry(e entry, i, depth int) int {
	cut := make([]string, 0, len(e.children)-i)
	for _, line := range e.children[i:] {
		cut = append(cut, line[min(indent(line), depth):])
	}
	before := len(h.faults)
	child, bad := keyOf(h, cut[0], e.index+1+i, e.shift+depth)
	if bad != nil {
		h.faults = h.faults[:before]
		h.unread(entry{path: "a line of metadata"}, bad)
		return 1 + len(belonging(cut[1:], false))
	}
	child.path = e.key + "." + child.key
	child.children = belonging(cut[1:], child.isEmpty())
	if h.duplicate(child) {
		return 1 + len(child.children)
	}
	_, below := child.content()
	deeper := child.isEmpty() && below || !child.isEmpty() && strings.ContainsRune("[{", rune(child.value[0]))
	switch {
	case deeper:
		h.opaque(child)
	default:
		if s, ok := h.optional(child); ok {
			h.scalars = append(h.scalars, s)
			h.fm.Metadata[child.key] = s.Text
		}
	}
	return 1 + len(child.children)
}
