package powerloss

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// file adds a file with a name to the root.
func (d *Disk) file(name, text string) *node {
	n := d.add(&node{mode: syscall.S_IFREG | 0o600})
	d.rename(change{{d.root(), name, n}})
	n.writeAt([]byte(text), 0)
	return n
}

func (d *Disk) root() *node { return d.nodes[rootID] }

// listing returns the files of the root with their content, in the order of their names.
func listing(d *Disk) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(d.root().entries.live)) {
		n := d.root().entries.live[name]
		b := make([]byte, n.live.size)
		n.readAt(b, 0)
		all = append(all, name+"="+string(b))
	}
	return strings.Join(all, " ")
}

// strict returns a survivor of which nothing is left that was not flushed.
func strict(d *Disk) *Disk {
	for seed := uint64(0); ; seed++ {
		if rand.New(rand.NewPCG(seed, 0)).IntN(3) == 0 {
			return d.Survivor(rand.New(rand.NewPCG(seed, 0)))
		}
	}
}

// TestSurvivor checks what is left of files, each of which was called a with content "one" and flushed.
func TestSurvivor(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(d *Disk, a *node)
		want string
	}{
		{"nothing", func(*Disk, *node) {}, "a=one"},
		{"written", func(_ *Disk, a *node) { a.writeAt([]byte("two"), 0) }, "a=one"},
		{"written and flushed", func(d *Disk, a *node) { a.writeAt([]byte("two"), 0); d.syncFile(a) }, "a=two"},
		{"flushed and written", func(d *Disk, a *node) { d.syncFile(a); a.writeAt([]byte("two"), 0) }, "a=one"},
		{"longer", func(_ *Disk, a *node) { a.writeAt([]byte("two"), 3) }, "a=one"},
		{"truncated", func(_ *Disk, a *node) { a.truncate(1) }, "a=one"},
		{"truncated and flushed", func(d *Disk, a *node) { a.truncate(1); d.syncFile(a) }, "a=o"},
		{"truncated and extended", func(d *Disk, a *node) { a.truncate(1); a.truncate(3); d.syncFile(a) }, "a=o\x00\x00"},
		{"another file", func(d *Disk, _ *node) { d.syncFile(d.file("b", "two")) }, "a=one"},
		{"another name", func(d *Disk, _ *node) { d.file("b", "two"); d.syncFolder(d.root()) }, "a=one b="},
		{"another file and name", func(d *Disk, _ *node) { d.syncFile(d.file("b", "two")); d.syncFolder(d.root()) }, "a=one b=two"},
		{"renamed", func(d *Disk, a *node) { d.rename(change{{d.root(), "b", a}, {d.root(), "a", nil}}) }, "a=one"},
		{"renamed and flushed", func(d *Disk, a *node) {
			d.rename(change{{d.root(), "b", a}, {d.root(), "a", nil}})
			d.syncFolder(d.root())
		}, "b=one"},
		{"removed", func(d *Disk, _ *node) { d.rename(change{{d.root(), "a", nil}}) }, "a=one"},
		{"removed and flushed", func(d *Disk, _ *node) { d.rename(change{{d.root(), "a", nil}}); d.syncFolder(d.root()) }, ""},
		{"name kept by the file", func(d *Disk, _ *node) { d.KeepNames(); d.syncFile(d.file("b", "two")) }, "a=one b=two"},
		{"flushes of files ignored", func(d *Disk, a *node) {
			d.Ignore(Ignored{Files: true})
			a.writeAt([]byte("two"), 0)
			d.syncFile(a)
		}, "a=one"},
		{"flushes of folders ignored", func(d *Disk, _ *node) {
			d.Ignore(Ignored{Folders: true})
			d.syncFile(d.file("b", "two"))
			d.syncFolder(d.root())
		}, "a=one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := NewDisk()
			a := d.file("a", "one")
			d.syncFile(a)
			d.syncFolder(d.root())
			test.do(d, a)
			if got := listing(strict(d)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestTornPages checks that of a page that was not flushed some sectors survive in some of the losses, and that each
// sector is as it was before or after.
func TestTornPages(t *testing.T) {
	torn := 0
	for seed := range uint64(200) {
		d := NewDisk()
		n := d.file("a", strings.Repeat("o", 3*pageSize))
		d.syncFile(n)
		d.syncFolder(d.root())
		n.writeAt(bytes.Repeat([]byte("n"), 3*pageSize), 0)
		left := d.Survivor(rand.New(rand.NewPCG(seed, 0)))
		got := listing(left)[len("a="):]
		for page := range 3 {
			sectors := make(map[string]bool)
			for at := page * pageSize; at < (page+1)*pageSize; at += sectorSize {
				sector := got[at : at+sectorSize]
				sectors[sector] = true
				if strings.Trim(sector, sector[:1]) != "" {
					t.Fatalf("seed %d: a sector is torn", seed)
				}
			}
			torn += len(sectors) - 1
		}
	}
	if torn == 0 {
		t.Error("no page is torn")
	}
}

// TestCut checks that calls fail from the one on before which the power is cut, and that a call that only reads counts
// for nothing.
func TestCut(t *testing.T) {
	d := NewDisk()
	d.CutAfter(1)
	for i, want := range []syscall.Errno{0, 0, syscall.EIO, syscall.EIO} {
		begin := d.beginChange
		if i == 0 || i == 3 {
			begin = d.begin
		}
		unlock, err := begin()
		if err != want {
			t.Errorf("call %d: got %v, want %v", i, err, want)
		}
		if err == 0 {
			unlock()
		}
	}
	<-d.Down()
}
