package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gatehouse/core"
)

// link is one connection with the statements that were prepared on it. It is for one goroutine at a time.
type link struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

// newLink takes a connection out of its pool for as long as the link lives.
func newLink(ctx context.Context, pool *sql.DB) (*link, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &link{conn: conn, stmts: make(map[string]*sql.Stmt)}, nil
}

func (l *link) close() error {
	var errs []error
	for _, s := range l.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, l.conn.Close())...)
}

// maxStatements bounds what is prepared: lists are asked for in many shapes.
const maxStatements = 256

func (l *link) prepare(query string) (*sql.Stmt, error) {
	if s, found := l.stmts[query]; found {
		return s, nil
	}
	if len(l.stmts) >= maxStatements {
		for q, s := range l.stmts {
			_ = s.Close() // prepared again when asked for
			delete(l.stmts, q)
			break
		}
	}
	s, err := l.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	l.stmts[query] = s
	return s, nil
}

// exec runs a statement and says how many rows it changed. Statements are short and not interrupted: a transaction
// looks at its context between its beginning and its end.
func (l *link) exec(query string, args ...any) (int64, error) {
	s, err := l.prepare(query)
	if err != nil {
		return 0, err
	}
	res, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// one reads a single row; no row is core.ErrNotFound.
func (l *link) one(query string, args []any, dest ...any) error {
	s, err := l.prepare(query)
	if err != nil {
		return err
	}
	err = s.QueryRowContext(context.Background(), args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return core.ErrNotFound
	}
	return err
}

// scanner is the part of sql.Rows that reads the present row.
type scanner interface{ Scan(dest ...any) error }

// each calls fn for every row. A context that can end makes the query one that can be interrupted.
func (l *link) each(ctx context.Context, query string, args []any, fn func(scanner) error) (err error) {
	s, err := l.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// find reads one row with what scans it; no row is core.ErrNotFound.
func (v *view) find(query string, args []any, scan func(scanner) error) error {
	found := false
	err := v.l.each(context.Background(), query, args, func(row scanner) error {
		found = true
		return scan(row)
	})
	if err == nil && !found {
		return core.ErrNotFound
	}
	return err
}
