// Package powerloss is a file system that forgets what programs have not flushed, as a machine does that loses
// power. It is for trials of what a program promises to keep.
//
//	disk := powerloss.NewDisk()
//	mounted, err := powerloss.Mount(folder, disk)
//	... run a server whose files are in folder ...
//	disk.CutAfter(1000)
//	<-disk.Down() // the power is gone: every call fails with EIO
//	... kill the server ...
//	mounted.Unmount()
//	mounted, err = powerloss.Mount(folder, disk.Survivor(random))
//	... start the server again, and look for what it had acknowledged ...
//
// The model is stricter than file systems are:
//
//   - The content and the length of a file survive as they were at its last fsync or fdatasync.
//   - A name (of a file that was created, linked, renamed or removed) survives when the folder that it is in was flushed.
//     The fsync of a file does not keep its name, except with [Disk.KeepNames], which is what ext4, XFS and btrfs do
//     for a file that is new. The names of a rename change together.
//   - Of what was not flushed, a part survives, which a random number decides: nothing at all, or a share of the
//     4 KiB pages of each file, some of them torn at 512-byte sectors, its length, and the first of the changes
//     of names. A survivor can so be a file of the right length with zeros in it.
//   - Permissions, owners and times survive with the file.
//
// All content is in memory. Files can be mapped into memory (mmap), and written by write alone: a write to shared mapped
// memory reaches the disk when the kernel writes it back.
package powerloss

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Disk is the content of a file system. It may be used by several goroutines.
type Disk struct {
	mu        sync.Mutex
	nodes     map[uint64]*node
	last      uint64
	changes   []change // of names, that are not flushed, in order
	ignoring  Ignored
	keepNames bool
	calls     int // so far that change something or flush
	cutAt     int // the call before which the power is lost; 0: none
	cut       bool
	down      chan struct{}
}

// Ignored is which flushes do nothing.
type Ignored struct {
	Files, Folders bool
}

// node is a file, a folder or a symbolic link.
type node struct {
	id       uint64
	mode     uint32 // with the type
	uid, gid uint32
	modified time.Time
	links    int // names
	lookups  uint64

	file           // of a file
	entries folder // of a folder
	target  string // of a symbolic link
	parent  *node  // of a folder
}

// folder is the names in a folder as programs see them, and as they were when they were last flushed.
type folder struct {
	live, stable map[string]*node
}

// change is a change of names: one, or two by a rename.
type change []nameChange

type nameChange struct {
	in   *node
	name string
	to   *node // nil: the name is removed
}

func (c change) concerns(folders map[*node]bool) bool {
	return slices.ContainsFunc(c, func(n nameChange) bool { return folders[n.in] })
}

func (c change) apply() {
	for _, n := range c {
		if n.to == nil {
			delete(n.in.entries.stable, n.name)
		} else {
			n.in.entries.stable[n.name] = n.to
		}
	}
}

const rootID = 1

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	d := newDisk()
	d.add(&node{mode: syscall.S_IFDIR | 0o755, links: 2, modified: time.Now(), entries: newFolder()})
	return d
}

func newDisk() *Disk {
	return &Disk{nodes: make(map[uint64]*node), down: make(chan struct{})}
}

func newFolder() folder {
	return folder{make(map[string]*node), make(map[string]*node)}
}

func (d *Disk) add(n *node) *node {
	d.last++
	n.id = d.last
	d.nodes[n.id] = n
	return n
}

// Ignore has flushes do nothing from now on, to show that a trial finds what is lost then.
func (d *Disk) Ignore(which Ignored) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ignoring = which
}

// KeepNames has the fsync of a file keep its name too.
func (d *Disk) KeepNames() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keepNames = true
}

// CutAfter cuts the power after so many more calls that change something or flush.
func (d *Disk) CutAfter(calls int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cutAt = d.calls + calls + 1
}

// Cut cuts the power now.
func (d *Disk) Cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cutPower()
}

// Down is closed when the power is cut.
func (d *Disk) Down() <-chan struct{} { return d.down }

func (d *Disk) cutPower() {
	if !d.cut {
		d.cut = true
		close(d.down)
	}
}

// Survivor returns the disk as the loss of power leaves it, which the disk has met. The random numbers decide what
// survives of what was not flushed.
func (d *Disk) Survivor(random *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	var l *luck
	if random.IntN(3) > 0 {
		l = &luck{random, random.Float64()}
	}
	if l != nil && len(d.changes) > 0 {
		for _, c := range d.changes[:l.IntN(len(d.changes)+1)] {
			c.apply()
		}
	}
	left := newDisk()
	left.keepNames, left.ignoring = d.keepNames, d.ignoring
	left.copy(d.nodes[rootID], nil, l, make(map[*node]*node))
	return left
}

// copy adds the survivor of a node, and of what is in it. A file with several names is one.
func (d *Disk) copy(n, parent *node, l *luck, copied map[*node]*node) *node {
	if known := copied[n]; known != nil {
		known.links++
		return known
	}
	left := d.add(&node{mode: n.mode, uid: n.uid, gid: n.gid, modified: n.modified, target: n.target, links: 1, parent: parent})
	copied[n] = left
	switch n.mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		left.file = *n.survivor(l)
	case syscall.S_IFDIR:
		left.links, left.entries = 2, newFolder()
		for _, name := range slices.Sorted(maps.Keys(n.entries.stable)) { // in this order, for the random numbers
			child := d.copy(n.entries.stable[name], left, l, copied)
			left.entries.live[name], left.entries.stable[name] = child, child
		}
	}
	return left
}

// begin locks the disk for a call, unless the power is cut.
func (d *Disk) begin() (unlock func(), err syscall.Errno) {
	d.mu.Lock()
	if d.cut {
		d.mu.Unlock()
		return nil, syscall.EIO
	}
	return d.mu.Unlock, 0
}

// beginChange is begin for a call that changes something or flushes. The power may be cut just before it.
func (d *Disk) beginChange() (unlock func(), err syscall.Errno) {
	unlock, err = d.begin()
	if err != 0 {
		return nil, err
	}
	if d.calls++; d.calls == d.cutAt {
		d.cutPower()
		unlock()
		return nil, syscall.EIO
	}
	return unlock, 0
}

// rename changes names.
func (d *Disk) rename(c change) {
	for _, n := range c {
		if old := n.in.entries.live[n.name]; old != nil {
			old.links--
			d.release(old)
		}
		if n.to == nil {
			delete(n.in.entries.live, n.name)
		} else {
			n.in.entries.live[n.name] = n.to
			n.to.links++
		}
		n.in.modified = time.Now()
	}
	d.changes = append(d.changes, c)
}

// release frees a node that has no name and that the kernel does not know.
func (d *Disk) release(n *node) {
	if n.lookups == 0 && n.links <= 0 {
		delete(d.nodes, n.id)
	}
}

// syncFile flushes a file.
func (d *Disk) syncFile(n *node) {
	if d.ignoring.Files {
		return
	}
	n.sync()
	if d.keepNames {
		folders := make(map[*node]bool)
		for _, c := range d.changes {
			for _, name := range c {
				if name.to == n {
					folders[name.in] = true
				}
			}
		}
		d.syncNames(folders)
	}
}

// syncFolder flushes the names in a folder.
func (d *Disk) syncFolder(n *node) {
	if !d.ignoring.Folders {
		d.syncNames(map[*node]bool{n: true})
	}
}

// syncNames applies the changes in some folders, with those before in other folders that they follow from.
func (d *Disk) syncNames(folders map[*node]bool) {
	kept := make([]bool, len(d.changes))
	for i, c := range slices.Backward(d.changes) {
		if kept[i] = !c.concerns(folders); !kept[i] {
			for _, n := range c {
				folders[n.in] = true
			}
		}
	}
	var rest []change
	for i, c := range d.changes {
		if kept[i] {
			rest = append(rest, c)
		} else {
			c.apply()
		}
	}
	d.changes = rest
}
