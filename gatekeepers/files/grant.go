package files

import "gatehouse/core"

// Home names what every read of the resource is put on record as.
func (r *resource) Home() core.Unit { return r.unit() }
