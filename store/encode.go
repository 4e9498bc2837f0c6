package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/core"
)

// nanos is a time as a column; the zero time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// moment is the inverse of nanos, in UTC.
func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// list is a slice as a column: JSON, or NULL where it is empty.
func list[T any](items []T) (sql.NullString, error) {
	if len(items) == 0 {
		return sql.NullString{}, nil
	}
	text, err := encode(items)
	return sql.NullString{String: text, Valid: true}, err
}

// encode is JSON without the escapes that are meant for web pages: what people search for stands as it is.
func encode(v any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("encode: %w", err)
	}
	return string(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

// decode is the inverse of list and encode; NULL leaves the zero value.
func decode[T any](column sql.NullString, into *T) error {
	if !column.Valid {
		return nil
	}
	if err := json.Unmarshal([]byte(column.String), into); err != nil {
		return fmt.Errorf("column: %w (%w)", ErrDamaged, err)
	}
	return nil
}

// raw is JSON as a column, byte for byte; nil is NULL.
func raw(m json.RawMessage) sql.NullString {
	return sql.NullString{String: string(m), Valid: m != nil}
}

// unraw is the inverse of raw.
func unraw(column sql.NullString) json.RawMessage {
	if !column.Valid {
		return nil
	}
	return json.RawMessage(column.String)
}

// encodeFields writes fields as JSON with the values as they came, byte for byte: an approval is bound to them.
// encoding/json would compact them.
func encodeFields(fields []core.Field) (sql.NullString, error) {
	if len(fields) == 0 {
		return sql.NullString{}, nil
	}
	var buf bytes.Buffer
	for i, f := range fields {
		name, err := encode(f.Name)
		if err != nil {
			return sql.NullString{}, err
		}
		buf.WriteByte("[,"[min(i, 1)])
		buf.WriteString(`{"name":` + name)
		for _, part := range []struct {
			key   string
			value json.RawMessage
		}{{`,"before":`, f.Before}, {`,"after":`, f.After}} {
			if part.value == nil {
				continue // nil comes back as nil, null as null
			}
			if !json.Valid(part.value) {
				return sql.NullString{}, fmt.Errorf("field %s: not JSON", f.Name)
			}
			buf.WriteString(part.key)
			buf.Write(bytes.TrimSpace(part.value))
		}
		buf.WriteByte('}')
	}
	buf.WriteByte(']')
	return sql.NullString{String: buf.String(), Valid: true}, nil
}

func decodeFields(column sql.NullString) ([]core.Field, error) {
	var fields []core.Field
	err := decode(column, &fields)
	return fields, err
}

// digestOf copies a column of 32 bytes; the schema holds the length.
func digestOf(column []byte) core.Digest {
	var d core.Digest
	copy(d[:], column)
	return d
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
