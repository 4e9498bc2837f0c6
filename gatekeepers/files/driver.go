package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"gatehouse/core"
	"gatehouse/core/text"
)

// Options is what the driver has to be told. Zero fields leave something out, never a protection that was asked for.
type Options struct {
	Host      string        // this machine, as it stands in a service; "localhost" when empty
	User      core.PersonID // who owns the connections that Connect describes
	Protected []Place       // what no binding may hold or lie in
	Trusted   Trusted       // folders whose content is trusted; nil trusts none
	Git       string        // the git program; looked up in PATH when empty
	TempDir   string        // for what git needs while it reads; the system's when empty
	Fault     core.Fault    // asked at every step of an apply; nil never fails
}

// Trusted lists the real paths of folders and files whose content is trusted, such as skill sources: what is done to them
// is high-risk, also while nothing stands there. It is asked for every action; where it fails, every action is.
type Trusted func(context.Context) ([]string, error)

// Driver is the gatekeeper. It is safe for use from several goroutines.
type Driver struct {
	options   Options
	protected map[FileID]string
	hooks     hooks
}

// hooks are for tests.
type hooks struct {
	watch func(what, path string)  // what is looked at on disk
	page  func(spelled string) int // entries a page of a list has, by the path as it was given
}

// New makes a driver.
func New(options Options) *Driver {
	if options.Host == "" {
		options.Host = "localhost"
	}
	if options.Git == "" {
		options.Git, _ = exec.LookPath("git") // without it status, diff and log say so
	}
	if options.Fault == nil {
		options.Fault = core.NoFault{}
	}
	d := &Driver{options: options, protected: make(map[FileID]string)}
	for _, p := range options.Protected {
		d.protected[p.ID] = p.Name
	}
	return d
}

// Place is a file or folder that no binding may hold or lie in: the store, configuration, keys and their side files.
type Place struct {
	Name  string // as a refusal names it
	ID    FileID
	Above []FileID // the folders that hold it, up to the root of the file system
}

// PlaceAt finds a place by stat alone: opening a live store would drop its locks. It fails where nothing stands at path.
func PlaceAt(name, path string) (Place, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Place{}, fmt.Errorf("%s: %w", name, err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return Place{}, fmt.Errorf("%s: %w", name, err)
	}
	ids, err := chain(real)
	if err != nil {
		return Place{}, fmt.Errorf("%s: %w", name, err)
	}
	return Place{Name: name, ID: ids[0], Above: ids[1:]}, nil
}

// chain names a real path and every folder above it.
func chain(real string) ([]FileID, error) {
	var ids []FileID
	for {
		info, err := os.Lstat(real)
		if err != nil {
			return nil, err
		}
		ids = append(ids, idOf(info))
		above := filepath.Dir(real)
		if above == real {
			return ids, nil
		}
		real = above
	}
}

// refuseProtected holds F11: a root may neither hold nor lie in a protected place, by whatever path it is named.
func (d *Driver) refuseProtected(real string) error {
	ids, err := chain(real)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if name, found := d.protected[id]; found {
			return fmt.Errorf("folder %s: lies in %s, which no binding may reach; bind another folder", quote(real), name)
		}
	}
	for _, p := range d.options.Protected {
		for _, above := range p.Above {
			if above == ids[0] {
				return fmt.Errorf("folder %s: holds %s, which no binding may reach; bind a folder below it", quote(real), p.Name)
			}
		}
	}
	return nil
}

// Normalize prints a binding URL in its one form.
func (d *Driver) Normalize(url string) (string, error) {
	p, err := parsePlace(url)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

// Connect describes the connection for a folder that has none. Two folders are never one service.
func (d *Driver) Connect(_ context.Context, url string) (core.Connection, error) {
	p, err := parsePlace(url)
	if err != nil {
		return core.Connection{}, err
	}
	real, err := realFolder(p.root)
	if err != nil {
		return core.Connection{}, err
	}
	if err := d.refuseProtected(real); err != nil {
		return core.Connection{}, err
	}
	sum := sha256.Sum256([]byte(real))
	base, _ := text.CleanLine(filepath.Base(real), 64)
	return core.Connection{
		Kind: Kind, Name: base, Owner: d.options.User, Root: real,
		Service: fmt.Sprintf("local:%s/%s~%s", d.options.Host, base, hex.EncodeToString(sum[:4])),
	}, nil
}

// realFolder resolves links in a root once: what a person names when binding may be reached through links, what is
// reached from the root later may not.
func realFolder(root string) (string, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", folderFault(root, err)
	}
	info, err := os.Lstat(real)
	if err != nil {
		return "", folderFault(root, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("folder %s: is a file; bind the folder that it lies in", quote(root))
	}
	if _, why := relative(filepath.ToSlash(real)[1:]); why != "" {
		return "", fmt.Errorf("folder %s: %s", quote(root), why)
	}
	return real, nil
}

func folderFault(root string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("folder %s: does not exist; make it first, or check the path: %w", quote(root), core.ErrNotFound)
	}
	return fmt.Errorf("folder %s: cannot be looked at: %w", quote(root), err)
}

// Open narrows a connection to a folder in it. The folder may be named by the connection's root, or by one below it.
func (d *Driver) Open(_ context.Context, connection core.Connection, url string) (core.Resource, error) {
	p, err := parsePlace(url)
	if err != nil {
		return nil, err
	}
	if connection.Kind != Kind {
		return nil, fmt.Errorf("connection %s: is of kind %s, not %s", connection.ID, connection.Kind, Kind)
	}
	named, err := realFolder(p.root)
	if err != nil {
		return nil, err
	}
	inside, ok := below(named, filepath.Clean(connection.Root))
	if connection.Root == "/" {
		inside, ok = named[1:], true
	}
	if !ok || !filepath.IsAbs(connection.Root) {
		return nil, fmt.Errorf("binding %q: connection %s does not contain it: %w", url, connection.ID, core.ErrNotFound)
	}
	if err := d.refuseProtected(named); err != nil {
		return nil, err
	}
	if err := d.refuseProtected(connection.Root); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(connection.Root)
	if err != nil {
		return nil, folderFault(connection.Root, err)
	}
	r := &resource{
		driver: d, disk: &disk{root: root, protected: d.protected},
		rootPath: connection.Root, sub: join(inside, p.sub), service: connection.Service,
	}
	if err := r.check(url); err != nil {
		_ = root.Close() // nothing was written
		return nil, err
	}
	r.disk.watch = d.hooks.watch
	return r, nil
}
