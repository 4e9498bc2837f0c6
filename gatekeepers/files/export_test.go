package files

// WatchPages sets the hooks of a driver from outside the package: what is looked at, and how long pages are.
func WatchPages(d *Driver, watch func(what, path string), page func(spelled string) int) {
	d.hooks = hooks{watch: watch, page: page}
}
