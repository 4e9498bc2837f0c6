package files

import "gatehouse/core"

func (q *question) status() (core.Fetched, error) { return core.Fetched{}, core.Invalid("todo") }
func (q *question) diff() (core.Fetched, error)   { return core.Fetched{}, core.Invalid("todo") }
func (q *question) log() (core.Fetched, error)    { return core.Fetched{}, core.Invalid("todo") }
