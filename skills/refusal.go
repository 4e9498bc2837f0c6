package skills

import "errors"

// RefusalCode names why something was refused.
type RefusalCode string

// The codes of a refusal.
const (
	// CodeNotFound is for what is missing and for what may not be read, alike.
	CodeNotFound       RefusalCode = "not_found"
	CodeBadPath        RefusalCode = "bad_path"
	CodeBadCollection  RefusalCode = "bad_collection"
	CodeTooLarge       RefusalCode = "document_too_large"
	CodeBadWindow      RefusalCode = "bad_window"
	CodeEmptyQuery     RefusalCode = "empty_query"
	CodeLongQuery      RefusalCode = "query_too_long"
	CodeManyTokens     RefusalCode = "too_many_tokens"
	CodeBadLimit       RefusalCode = "bad_limit"
	CodeBadCommand     RefusalCode = "bad_command"
	CodeAmbiguousSkill RefusalCode = "ambiguous_skill"
	CodeSkillTooLarge  RefusalCode = "skill_too_large"
)

// RefusedError is a request that cannot be met as it stands. Its text is one
// clean line: what, which; the hint says what to do, and may be empty.
type RefusedError struct {
	Code RefusalCode
	Text string
	Hint string
	// Choices are the skills that an ambiguous command may mean, in order.
	Choices []Ref
}

func (e *RefusedError) Error() string { return e.Text }

// CodeOf returns the code of the refusal in err, or "" if there is none.
func CodeOf(err error) RefusalCode {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

func notFound(ref Ref) error {
	return &RefusedError{Code: CodeNotFound, Text: "document " + shown(ref.String()) + ": not found"}
}

func collectionNotFound(id CollectionID) error {
	return &RefusedError{Code: CodeNotFound, Text: "collection " + shown(string(id)) + ": not found"}
}
