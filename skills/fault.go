package skills

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says whether a fault refuses the skill.
type Severity string

// The severities. A skill with a warning is a skill; one with an error is not.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// FaultCode names a fault of a skill's head.
type FaultCode string

// The codes of faults.
const (
	FaultKey            FaultCode = "FM_KEY"             // what stands before the colon is no key
	FaultLine           FaultCode = "FM_LINE"            // the line is no entry
	FaultMissing        FaultCode = "FM_MISSING"         // no opening fence
	FaultUnclosed       FaultCode = "FM_UNCLOSED"        // no closing fence
	FaultNotUTF8        FaultCode = "FM_NOT_UTF8"        // the file is not UTF-8
	FaultTooLarge       FaultCode = "FM_TOO_LARGE"       // more than 16 KiB or 200 lines
	FaultTab            FaultCode = "FM_TAB"             // a tab where a space is meant
	FaultColon          FaultCode = "FM_COLON"           // a colon and a space in a plain value
	FaultIndicator      FaultCode = "FM_INDICATOR"       // a plain value starts with a special character
	FaultAlias          FaultCode = "FM_ALIAS"           // a plain value starts with & or *
	FaultMultilineQuote FaultCode = "FM_MULTILINE_QUOTE" // a quote or bracket is not closed where it was opened
	FaultBadEscape      FaultCode = "FM_BAD_ESCAPE"      // an escape that is not on the list
	FaultDupKey         FaultCode = "FM_DUP_KEY"         // a key stands twice
	FaultNotScalar      FaultCode = "FM_NOT_SCALAR"      // a list or map where one value is meant
	FaultBlockIndent    FaultCode = "FM_BLOCK_INDENT"    // a block with digits, or indented in two ways
	FaultIndent         FaultCode = "FM_INDENT"          // an indented line that belongs to nothing
	FaultUnread         FaultCode = "OPT_UNREAD"         // an optional key that cannot be read is not used
	FaultNameMissing    FaultCode = "NAME_MISSING"
	FaultNameChars      FaultCode = "NAME_CHARS"
	FaultNameLong       FaultCode = "NAME_LONG"
	FaultNameFolder     FaultCode = "NAME_FOLDER"   // the name is not that of the folder
	FaultNameReserved   FaultCode = "NAME_RESERVED" // a built-in command has this name
	FaultDescMissing    FaultCode = "DESC_MISSING"
	FaultDescLong       FaultCode = "DESC_LONG"
	FaultDescCatalog    FaultCode = "DESC_CATALOG" // the catalog cuts the description
	FaultCompatLong     FaultCode = "COMPAT_LONG"
)

// Severity returns how grave the code is.
func (c FaultCode) Severity() Severity {
	switch c {
	case FaultUnread, FaultNameFolder, FaultNameReserved, FaultDescCatalog:
		return SeverityWarning
	}
	return SeverityError
}

// Fault is one thing wrong with a skill's head. Reason and Repair are clean
// lines.
type Fault struct {
	Line, Column int // from 1; a column is a code point
	Code         FaultCode
	Reason       string
	Repair       string
	// FirstLine is, for FM_DUP_KEY, the line on which the key stood first.
	FirstLine int
	// Offset is, for FM_NOT_UTF8, the first bad byte of the file, from 0.
	Offset int
}

// Severity returns the severity of the fault's code.
func (f Fault) Severity() Severity { return f.Code.Severity() }

// In returns the fault as one line about the file of that name.
func (f Fault) In(file string) string {
	return fmt.Sprintf("%s:%d:%d: %s %s: %s; %s", oneLine(file), f.Line, f.Column, f.Severity(), f.Code, f.Reason, f.Repair)
}

// sortFaults puts faults in the order of the file.
func sortFaults(faults []Fault) {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code))
	})
}

// refused reports that one of the faults is an error.
func refused(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return f.Severity() == SeverityError })
}
