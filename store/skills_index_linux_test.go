package store

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/skills"
)

// P7: documents that an import indexes a second, of the wall clock and of the processor.
func BenchmarkSkillIndex(b *testing.B) {
	const documents = 10_000
	dir := benchDir(b)
	paths, contents := make([]string, documents), make([]string, documents)
	for i, document := 0, benchCorpus(documents); i < documents; i++ {
		paths[i], contents[i] = document(i)
	}
	var wall, work time.Duration
	for n := 0; b.Loop(); n++ {
		db := openAt(b, filepath.Join(dir, fmt.Sprintf("%d.db", n)))
		begin, used := time.Now(), processorTime(b)
		im, err := db.BeginImport(b.Context(), collectionFor("c"), onlyAlive{self: "p1"}, noon)
		if err != nil {
			b.Fatal(err)
		}
		listed := make([]Listed, documents)
		for i := range listed {
			listed[i].Path = paths[i]
		}
		if _, err := im.Plan(b.Context(), listed); err != nil {
			b.Fatal(err)
		}
		for i, path := range paths {
			d, err := skills.NewDocument(skills.Ref{Path: path}, []byte(contents[i]))
			if err != nil {
				b.Fatal(err)
			}
			d.Author = "alice"
			if err := im.Put(b.Context(), d, ""); err != nil {
				b.Fatal(err)
			}
		}
		changes, err := im.Changes(b.Context())
		if err == nil {
			err = db.Write(b.Context(), func(tx core.Tx) error { return im.Finish(tx, changes, noon) })
		}
		if err == nil {
			err = im.End(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
		wall, work = wall+time.Since(begin), work+processorTime(b)-used
	}
	b.ReportMetric(float64(b.N*documents)/wall.Seconds(), "documents/s")
	b.ReportMetric(float64(b.N*documents)/work.Seconds(), "documents/cpu-s")
}

func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
