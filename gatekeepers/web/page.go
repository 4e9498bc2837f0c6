package web

import (
	"encoding/json"
	"mime"
	"strings"
	"unicode/utf8"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

// windowLimit is how many bytes of a page one call gives.
const windowLimit = 64 << 10

// page is what was fetched, as text.
type page struct {
	url    string
	status int
	kind   string // its media type
	text   string
	fault  *core.CallError
}

// pageOf makes text of an answer: Markdown of HTML, other text as it is.
func pageOf(a kit.HTTPAnswer) page {
	p := page{url: a.URL.String(), status: a.Status}
	kind, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil {
		kind = "text/plain"
	}
	p.kind = kind
	body := strings.ReplaceAll(strings.ToValidUTF8(string(a.Body), "\uFFFD"), "\x00", "\uFFFD")
	switch {
	case kind == "text/html", kind == "application/xhtml+xml":
		markdown, err := htmltomarkdown.ConvertString(body, converter.WithDomain(originOf(a.URL)))
		if err != nil {
			p.fault = &core.CallError{Code: codeUnreachable, Text: "fetch: the page is HTML that cannot be read"}
		}
		p.text = markdown
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "json"), strings.HasSuffix(kind, "xml"), kind == "application/javascript",
		kind == "application/yaml":
		p.text = body
	case len(a.Body) == 0:
	default:
		p.fault = core.Invalid("fetch: the page is no text; only text is fetched")
	}
	return p
}

// window is the value of a call, from a byte of the text on.
func (p page) window(offset int) (json.RawMessage, error) {
	if p.fault != nil {
		return nil, p.fault
	}
	if offset > len(p.text) {
		return nil, core.Invalid("fetch: offset %d lies behind the end, the page has %d bytes", offset, len(p.text))
	}
	for offset > 0 && offset < len(p.text) && !utf8.RuneStart(p.text[offset]) {
		offset--
	}
	end := min(offset+windowLimit, len(p.text))
	for end < len(p.text) && !utf8.RuneStart(p.text[end]) {
		end--
	}
	value := map[string]any{"url": p.url, "status": p.status, "type": p.kind, "text": p.text[offset:end], "size": len(p.text)}
	if end < len(p.text) {
		value["next"] = end
	}
	return json.Marshal(value)
}
