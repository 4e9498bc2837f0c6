package skills

import (
	"strconv"

	"gatehouse/core/text"
)

// shownLimit is how many code points of a stranger's words stand in an error.
const shownLimit = 120

// shown returns a stranger's words cleaned, cut and quoted, for an error or a
// row of the record.
func shown(s string) string {
	line, _ := text.CleanLine(s, shownLimit)
	return strconv.Quote(line)
}

// queryLimit is how many code points a query may have.
const queryLimit = 256

// ShownQuery returns a query as a row of the record shows it: one line, cleaned
// and quoted.
func ShownQuery(query string) string {
	line, _ := text.CleanLine(query, queryLimit)
	return strconv.Quote(line)
}

func oneLine(s string) string {
	line, _ := text.CleanLine(s, text.NoLimit)
	return line
}
