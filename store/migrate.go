package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"gatehouse/core"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to this program's. It runs under the side lock, for goose has none for SQLite.
func migrate(ctx context.Context, pool *sql.DB, path string) error {
	target, known, err := newestMigration()
	if err != nil {
		return err
	}
	current, applied, err := schemaVersion(ctx, pool)
	switch {
	case err != nil:
		return err
	case current > target:
		return fmt.Errorf("%s: %w: its schema is %d, this program knows %d; use the newer program", path, core.ErrNewerSchema, current, target)
	case current == target && applied == known:
		return nil // without goose, which costs every start some milliseconds
	}
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, dir, goose.WithDisableGlobalRegistry(true), goose.WithAllowOutofOrder(true))
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("store %s: migration: %w", path, err)
	}
	return nil
}

// schemaVersion is the newest migration of a file and how many it has; 0 for a file without a schema.
func schemaVersion(ctx context.Context, pool *sql.DB) (newest, applied int64, err error) {
	var tables int
	err = pool.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'goose_db_version'`).Scan(&tables)
	if err != nil || tables == 0 {
		return 0, 0, err
	}
	err = pool.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0), count(nullif(version_id, 0)) FROM goose_db_version WHERE is_applied`).Scan(&newest, &applied)
	return newest, applied, err
}

// newestMigration is the number that the last embedded file begins with, and how many files there are: numbers are given
// out before the files are written, so that one can come behind a later one.
func newestMigration() (newest, known int64, err error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return 0, 0, err
	}
	for _, name := range names {
		digits, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("migration %s: its name does not begin with a number", name)
		}
		newest = max(newest, n)
	}
	return newest, int64(len(names)), nil
}
