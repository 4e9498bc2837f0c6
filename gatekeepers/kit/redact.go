package kit

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"gatehouse/core"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// shortestSecret is the length from which a value is searched for in texts: shorter ones would blot out ordinary words.
const shortestSecret = 6

// Redactor takes secrets out of texts, also in the encodings in which services echo them (GK9). The zero value knows no secret.
type Redactor struct{ forms []string }

// NewRedactor knows the secrets of one connection. Redact before cutting a text, or half a secret may stay.
func NewRedactor(secrets ...string) Redactor {
	var forms []string
	for _, s := range secrets {
		if len(s) < shortestSecret {
			continue
		}
		raw := []byte(s)
		forms = append(
			forms, s, url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)),
			base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw),
			base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
			strings.Trim(quoteJSON(s), `"`),
		)
	}
	// the longest first: a form that contains another is taken out whole
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return Redactor{forms: slices.Compact(forms)}
}

// Text is the text without the secrets.
func (r Redactor) Text(s string) string {
	for _, f := range r.forms {
		s = strings.ReplaceAll(s, f, redacted)
	}
	return s
}

// Error is the error with a clean text; what is a refusal or was not sent stays so.
func (r Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	clean := r.Text(err.Error())
	if clean == err.Error() {
		return err
	}
	var refused *core.CallError
	if errors.As(err, &refused) {
		return &core.CallError{Code: refused.Code, Text: r.Text(refused.Text)}
	}
	// not wrapped: the original text would come back with it
	hidden := errors.New(clean)
	if core.IsNotSent(err) {
		return core.NotSent(hidden)
	}
	return hidden
}

func quoteJSON(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(raw)
}
