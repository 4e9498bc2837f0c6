package kit_test

import (
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

func editOperation() core.Operation {
	return core.Operation{Name: "edit", Params: []core.Param{
		{Name: "path", Type: core.TypeString},
		{Name: "count", Type: core.TypeInteger, Optional: true},
		{Name: "data", Type: core.TypeBytes, Optional: true},
		{Name: "tags", Type: core.TypeArray, Optional: true},
		{Name: "deep", Type: core.TypeObject, Optional: true},
		{Name: "sure", Type: core.TypeBoolean, Optional: true},
	}}
}

type editArguments struct {
	Path  string         `json:"path"`
	Count int            `json:"count"`
	Data  []byte         `json:"data"`
	Tags  []string       `json:"tags"`
	Deep  map[string]any `json:"deep"`
	Sure  bool           `json:"sure"`
}

func TestDecode_ReadsWhatIsDeclared(t *testing.T) {
	var got editArguments
	err := kit.Decode(editOperation(), []byte(`{"path":"a","count":3,"data":"aGk=","tags":["x"],"deep":{"k":1},"sure":true}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	if got.Path != "a" || got.Count != 3 || string(got.Data) != "hi" || len(got.Tags) != 1 || !got.Sure {
		t.Errorf("got %+v", got)
	}
}

func TestDecode_RefusesWithOneClearLine(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{``, `argument "path" is missing`},
		{`{}`, `argument "path" is missing`},
		{`{"path":null}`, `argument "path" is missing`},
		{`{"path":1}`, `"path" must be of type string`},
		{`{"path":"a","count":1.5}`, `"count" must be of type integer`},
		{`{"path":"a","count":99999999999999999999}`, `"count" must be of type integer`},
		{`{"path":"a","data":"%"}`, `"data" must be bytes in base64`},
		{`{"path":"a","tags":{}}`, `"tags" must be of type array`},
		{`{"path":"a","tags":[1]}`, `"tags" holds a number`},
		{`{"path":"a","deep":[]}`, `"deep" must be of type object`},
		{`{"path":"a","sure":"true"}`, `"sure" must be of type boolean`},
		{`{"path":"a","pth":"b"}`, `no argument is called "pth"; it takes path, count`},
		{`{"path":"a","path":"b"}`, `"path" is given twice`},
		{`{"path":"a"} {}`, `nothing behind it`},
		{`["a"]`, `must be one JSON object`},
		{`{"path":`, `end in the middle, at byte 8`},
		{`{"path":"a",]`, `not JSON at byte`},
	} {
		var got editArguments
		err := kit.Decode(editOperation(), []byte(c.args), &got)
		var refused *core.CallError
		if !errors.As(err, &refused) || refused.Code != core.CodeInvalid {
			t.Errorf("%s: got %v, want an invalid call", c.args, err)
			continue
		}
		if !strings.Contains(refused.Text, c.want) || strings.Contains(refused.Text, "\n") {
			t.Errorf("%s: got %q, want %q in one line", c.args, refused.Text, c.want)
		}
	}
}
