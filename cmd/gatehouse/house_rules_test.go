package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The checkers of the house rules. Each takes source, or a name, and returns
// its faults as sentences; house_test.go runs them over the tree, and
// house_planted_test.go shows that each one bites.

const modulePath = "gatehouse"

// source is one Go file, path and package relative to the module's root.
type source struct {
	path string
	pkg  string
	fset *token.FileSet
	file *ast.File
}

func parseSource(path, content string) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, content, parser.ParseComments|parser.SkipObjectResolution)
	pkg := ""
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		pkg = path[:i]
	}
	return source{path: path, pkg: pkg, fset: fset, file: file}, err
}

func (s source) fault(at ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: ", s.path, s.fset.Position(at.Pos()).Line) + fmt.Sprintf(format, args...)
}

// importName returns the name by which the file calls the package at path, or
// "" if it does not import it.
func (s source) importName(path string) string {
	for _, spec := range s.file.Imports {
		if importPath(spec) != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	return ""
}

func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return path
}

// within reports that the package is the room or lies in it.
func within(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }

func withinAny(pkg string, rooms ...string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool { return within(pkg, room) })
}

// suite reports that the package is for tests alone.
func suite(pkg string) bool {
	return withinAny(pkg, "gatekeepers/conformance", "gatekeepers/memory", "store/faulty", "gatekeepers/faulty",
		"gatekeepers/model/openai/fake", "skills/searchsuite")
}

// driver returns the room of a package one floor down: gatekeepers/files for
// gatekeepers/files/git.
func driver(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// mayImport is the rule of who may import whom, for packages of ours named
// relative to the module. What a room may import may itself import nothing
// that the room may not, so the rule holds for dependencies at any distance.
func mayImport(from, to string) bool {
	switch {
	case within(to, "core/text"):
		return true // a leaf anyone may import
	case suite(to):
		return suite(from)
	case within(from, "cmd"):
		return true
	case within(from, "tui"):
		return to == "core" || withinAny(to, "tui", "core/agent", "core/egress", "core/share", "skills")
	case from == "core", within(from, "core/text"):
		return false
	case within(from, "core"):
		return to == "core" || within(to, driver(from))
	case within(from, "store"):
		return to == "core" || withinAny(to, "store", "skills")
	case within(from, "skills"):
		return within(to, "skills")
	case within(from, "gatekeepers/kit"), within(from, "gatekeepers/model"):
		return to == "core" || within(to, driver(from))
	case within(from, "gatekeepers/library") && within(to, "skills"):
		return true
	case strings.HasPrefix(from, "gatekeepers/"):
		return to == "core" || withinAny(to, "gatekeepers/kit", driver(from))
	}
	return false
}

func roomFaults(s source) []string {
	var faults []string
	for _, spec := range s.file.Imports {
		path := importPath(spec)
		if !within(path, modulePath) {
			continue
		}
		if to := strings.TrimPrefix(path, modulePath+"/"); !mayImport(s.pkg, to) {
			faults = append(faults, s.fault(spec, "%s may not import %s", s.pkg, to))
		}
	}
	return faults
}

// depFaults is the same rule for what go list found behind a package.
func depFaults(pkg string, deps []string) []string {
	var faults []string
	for _, dep := range deps {
		if to, ours := strings.CutPrefix(dep, modulePath+"/"); ours && !mayImport(pkg, to) {
			faults = append(faults, fmt.Sprintf("%s depends on %s, and may not", pkg, to))
		}
	}
	return faults
}

// socketFaults holds the written list of those who reach out themselves.
func socketFaults(s source) []string {
	if withinAny(s.pkg, "cmd", "tui/term", "core/agent", "core/share",
		"gatekeepers/kit", "gatekeepers/files", "gatekeepers/mcp", "gatekeepers/model") {
		return nil
	}
	var faults []string
	for _, spec := range s.file.Imports {
		switch path := importPath(spec); path {
		case "net", "net/http", "os/exec":
			faults = append(faults, s.fault(spec, "%s is not on the list of those who may import %s", s.pkg, path))
		}
	}
	return faults
}

// purityFaults: the kernel and the library know no file, socket, SQL, terminal.
func purityFaults(s source) []string {
	if s.pkg != "core" && !withinAny(s.pkg, "core/text", "skills") {
		return nil
	}
	var faults []string
	for _, spec := range s.file.Imports {
		path := importPath(spec)
		impure := withinAny(path, "os", "net", "syscall", "database/sql", "io/ioutil", "golang.org/x/sys", "golang.org/x/term",
			"charm.land", "modernc.org", "github.com/spf13", "github.com/pressly/goose/v3")
		if impure && path != "net/url" && path != "net/netip" {
			faults = append(faults, s.fault(spec, "%s imports %s: it knows no file, socket, SQL or terminal", s.pkg, path))
		}
	}
	return faults
}

// initFaults: an import does nothing.
func initFaults(s source) []string {
	var faults []string
	for _, decl := range s.file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			faults = append(faults, s.fault(f, "func init: let cmd build what it needs"))
		}
	}
	return faults
}

// variableFaults: of package variables there are error sentinels, embedded
// files and assertions that a type fulfils an interface.
func variableFaults(s source) []string {
	var faults []string
	for _, decl := range s.file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			v := spec.(*ast.ValueSpec)
			if !assertion(v) && !s.sentinel(v) && !embedded(group, v) {
				faults = append(faults, s.fault(v, "package variable %s: pass it in, or make it a constant or a function", v.Names[0].Name))
			}
		}
	}
	return faults
}

// assertion reports var _ I = T{}, whose value makes nothing happen.
func assertion(v *ast.ValueSpec) bool {
	if slices.ContainsFunc(v.Names, func(n *ast.Ident) bool { return n.Name != "_" }) {
		return false
	}
	silent := true
	for _, value := range v.Values {
		ast.Inspect(value, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				_, conversion := call.Fun.(*ast.ParenExpr) // (*T)(nil)
				silent = silent && conversion
			}
			return true
		})
	}
	return silent
}

func (s source) sentinel(v *ast.ValueSpec) bool {
	for _, value := range v.Values {
		call, ok := value.(*ast.CallExpr)
		if !ok || !s.calls(call.Fun, "errors", "New") && !s.calls(call.Fun, "fmt", "Errorf") {
			return false
		}
	}
	return len(v.Values) > 0
}

// calls reports that e is the name of path's package, a dot, and one of names.
func (s source) calls(e ast.Expr, path string, names ...string) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || !slices.Contains(names, selector.Sel.Name) {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == s.importName(path)
}

func embedded(group *ast.GenDecl, v *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{group.Doc, v.Doc} {
		if doc == nil {
			continue
		}
		if slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") }) {
			return len(v.Values) == 0
		}
	}
	return false
}

// clockFaults: time and randomness come in through Clock and Rand.
func clockFaults(s source) []string {
	if !withinAny(s.pkg, "core", "skills") {
		return nil
	}
	var faults []string
	for _, spec := range s.file.Imports {
		switch path := importPath(spec); path {
		case "math/rand", "math/rand/v2", "crypto/rand":
			faults = append(faults, s.fault(spec, "import of %s: randomness comes in through Rand", path))
		case "time":
			if spec.Name != nil && spec.Name.Name == "." {
				faults = append(faults, s.fault(spec, "dot import of time hides its clock"))
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if e, ok := n.(*ast.SelectorExpr); ok && s.calls(e, "time", "Now", "Since", "Until", "Sleep") {
			faults = append(faults, s.fault(e, "time.%s: time comes in through Clock", e.Sel.Name))
		}
		return true
	})
	return faults
}

const (
	longFile     = 500 // lines; above it the author says why
	tooLongFile  = 600
	longFunction = 80
)

func lengthFaults(path string, lines int) []string {
	if lines <= tooLongFile {
		return nil
	}
	return []string{fmt.Sprintf("%s has %d lines, more than %d: cut it where the subject changes", path, lines, tooLongFile)}
}

// longFunctions names the functions that do not fit on one screen.
func longFunctions(s source) []string {
	var long []string
	for _, decl := range s.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; n > longFunction {
			long = append(long, s.fault(f, "%s has %d lines", f.Name.Name, n))
		}
	}
	return long
}

// packageFaults looks at the files of one package, tests left out.
func packageFaults(files []source) []string {
	var faults []string
	name := files[0].file.Name.Name
	switch name {
	case "util", "utils", "common", "helper", "helpers", "types", "misc", "base":
		faults = append(faults, fmt.Sprintf("%s: package %s says nothing about its role", files[0].path, name))
	}
	for _, s := range files {
		if doc := s.file.Doc.Text(); strings.HasPrefix(doc, "Package "+name+" ") || name == "main" && doc != "" {
			return faults
		}
	}
	return append(faults, fmt.Sprintf("%s: no package comment in any file of %s", files[0].path, files[0].pkg))
}

// topFaults takes what stands at the top of the tree; folders end in a slash.
func topFaults(names []string) []string {
	var faults []string
	for _, name := range names {
		switch name {
		case "cmd/", "tui/", "core/", "store/", "gatekeepers/", "skills/":
		case "go.mod", "go.sum", "README.md", "CHANGELOG.md", "LICENSE":
		case "gatehouse": // the binary of go build, which git ignores
		default:
			if !strings.HasPrefix(name, ".") {
				faults = append(faults, name+" stands at the top of the tree, and is none of its rooms")
			}
		}
	}
	return faults
}

// placeFaults finds what ties the tree to one machine: folders of its
// developers, and hosts from which packages are fetched.
func placeFaults(path, content string, hosts []string) []string {
	var faults []string
	// Written in pieces, for this file is looked at like any other.
	folders := regexp.MustCompile(`(^|[^\w./}~*-])/(` + `work|root` + `)/|/tmp/` + `gh\b`)
	for i, line := range strings.Split(content, "\n") {
		if folders.MatchString(line) {
			faults = append(faults, fmt.Sprintf("%s:%d: a path of one machine", path, i+1))
		}
		for _, host := range hosts {
			if strings.Contains(line, host) {
				faults = append(faults, fmt.Sprintf("%s:%d: the name of a registry host", path, i+1))
			}
		}
	}
	return faults
}

// registryHosts are those known to everyone.
func registryHosts() []string {
	return []string{
		"proxy." + "golang.org", "sum." + "golang.org", "goproxy" + ".io", "goproxy" + ".cn",
		"registry." + "npmjs.org", "pypi" + ".org", "deb." + "debian.org", "security." + "debian.org", "ghcr" + ".io", "docker" + ".io",
	}
}

// goModFaults: whoever reads go.mod finds the project behind a vanity path.
func goModFaults(content string) []string {
	var faults []string
	charm := regexp.MustCompile(`charm\.land/(\w+)/v\d+ v\S+(.*)`)
	for i, line := range strings.Split(content, "\n") {
		m := charm.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		comment := regexp.MustCompile(`// (indirect; )?github\.com/charmbracelet/` + m[1] + `$`)
		if !comment.MatchString(strings.TrimSpace(m[2])) {
			faults = append(faults, fmt.Sprintf("go.mod:%d: charm.land/%s without its repository, // github.com/charmbracelet/%s", i+1, m[1], m[1]))
		}
	}
	return faults
}
