package skills

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a document.
const (
	DocumentLimit = 1_800_000 // bytes
	PathLimit     = 1024      // code points
)

// skillFile is the last segment of a skill's path, exactly.
const skillFile = "SKILL.md"

// Ref names a document: the collection and the path in it.
type Ref struct {
	Collection CollectionID
	Path       string
}

// String returns the document's id, "collection/path".
func (r Ref) String() string { return string(r.Collection) + "/" + r.Path }

// ParseRef is the reverse of [Ref.String]. An id that is no document's is
// [CodeNotFound], like one that names nothing.
func ParseRef(id string) (Ref, error) {
	collection, path, found := strings.Cut(id, "/")
	if !found || collection == "" || path == "" {
		return Ref{}, &RefusedError{Code: CodeNotFound, Text: "document " + shown(id) + ": not found"}
	}
	return Ref{Collection: CollectionID(collection), Path: path}, nil
}

// Document is one file of a collection.
type Document struct {
	Ref         Ref
	Title       string // as stored; may be empty
	Description string // as stored; a skill's own wins
	Author      AccountID
	ContentType string
	Bytes       []byte
	SHA256      string // of Bytes, in hex
}

// NewDocument checks path and size, and fills in content type and digest.
func NewDocument(ref Ref, content []byte) (Document, error) {
	if err := CheckPath(ref.Path); err != nil {
		return Document{}, err
	}
	if err := CheckSize(ref.Path, int64(len(content))); err != nil {
		return Document{}, err
	}
	return Document{Ref: ref, ContentType: ContentType(ref.Path, content), Bytes: content, SHA256: Digest(content)}, nil
}

// Digest returns the sha256 of content in hex.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// CheckSize refuses a document of more than [DocumentLimit] bytes. An importer
// asks before it reads.
func CheckSize(path string, size int64) error {
	if size <= DocumentLimit {
		return nil
	}
	return &RefusedError{
		Code: CodeTooLarge,
		Text: fmt.Sprintf("document %s: %d bytes, at most %d", shown(path), size, DocumentLimit),
		Hint: "split it, or leave it out of the collection",
	}
}

// CheckPath refuses a path that is not relative, is longer than [PathLimit],
// has an empty segment or one that is "." or "..", or holds a control
// character or bytes that are no UTF-8.
func CheckPath(path string) error {
	refuse := func(why string) error {
		return &RefusedError{
			Code: CodeBadPath, Text: "path " + shown(path) + ": " + why,
			Hint: "rename the file, or leave it out of the collection",
		}
	}
	switch n := utf8.RuneCountInString(path); {
	case n == 0:
		return refuse("empty")
	case n > PathLimit:
		return refuse(fmt.Sprintf("%d characters, at most %d", n, PathLimit))
	case !utf8.ValidString(path):
		return refuse("not UTF-8")
	case strings.ContainsFunc(path, unicode.IsControl):
		return refuse("holds a control character")
	case path[0] == '/':
		return refuse("not relative")
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "":
			return refuse("has an empty segment")
		case ".", "..":
			return refuse("has a segment " + segment)
		}
	}
	return nil
}

// IsSkillPath reports that the last segment is exactly SKILL.md.
func IsSkillPath(path string) bool { return fileName(path) == skillFile }

func fileName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// folderName returns the name of the folder a document lies in, "" at the root.
func folderName(path string) string {
	end := strings.LastIndexByte(path, '/')
	if end < 0 {
		return ""
	}
	return fileName(path[:end])
}

const binaryType = "application/octet-stream"

// ContentType names what the bytes are: by the path's ending if they are UTF-8
// without a NUL, else one of the binary types.
func ContentType(path string, content []byte) string {
	ending := ""
	if name := fileName(path); strings.Contains(name, ".") {
		ending = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		// A broken text keeps its type: it is listed as what it was meant to be.
		switch ending {
		case "md", "markdown":
			return "text/markdown"
		case "png", "gif", "webp":
			return "image/" + ending
		case "jpg", "jpeg":
			return "image/jpeg"
		case "pdf", "zip":
			return "application/" + ending
		}
		return binaryType
	}
	switch ending {
	case "md", "markdown":
		return "text/markdown"
	case "json":
		return "application/json"
	case "yaml", "yml":
		return "application/yaml"
	case "html", "htm":
		return "text/html"
	case "csv":
		return "text/csv"
	}
	return "text/plain"
}

// Binary reports that the document cannot be shown as text.
func (d Document) Binary() bool {
	return !utf8.Valid(d.Bytes) || bytes.IndexByte(d.Bytes, 0) >= 0
}
