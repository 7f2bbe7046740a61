package powerloss

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mounted is a disk that is mounted.
type Mounted struct {
	folder string
	server *fuse.Server
}

// Mount mounts a disk on a folder, for all users. It needs /dev/fuse and the right to mount: to be root.
func Mount(folder string, d *Disk) (*Mounted, error) {
	server, err := fuse.NewServer(&fileSystem{fuse.NewDefaultRawFileSystem(), d}, folder, &fuse.MountOptions{
		AllowOther: true, DirectMountStrict: true, DisableXAttrs: true, FsName: "powerloss", Name: "powerloss",
		DisableReadDirPlus: true, Options: []string{"default_permissions"}, MaxWrite: 128 << 10,
	})
	if err != nil {
		return nil, fmt.Errorf("powerloss: mounting %s: %w", folder, err)
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return nil, fmt.Errorf("powerloss: mounting %s: %w", folder, err)
	}
	return &Mounted{folder, server}, nil
}

// Unmount unmounts the disk, also while a program still has files open.
func (m *Mounted) Unmount() error {
	err := syscall.Unmount(m.folder, 0)
	if errors.Is(err, syscall.EBUSY) {
		err = syscall.Unmount(m.folder, syscall.MNT_DETACH)
	}
	if err != nil {
		return fmt.Errorf("powerloss: unmounting %s: %w", m.folder, err)
	}
	return nil
}

// fileSystem answers the calls of the kernel.
type fileSystem struct {
	fuse.RawFileSystem
	*Disk
}

// String names the file system in messages of the library.
func (fs *fileSystem) String() string { return "powerloss" }

// known is how long the kernel may keep names and attributes: all changes go through it.
const known = time.Hour

func (n *node) attributes(out *fuse.Attr) {
	out.Ino, out.Mode, out.Nlink, out.Uid, out.Gid = n.id, n.mode, uint32(max(n.links, 1)), n.uid, n.gid
	out.Size = uint64(n.live.size)
	out.Blocks, out.Blksize = (out.Size+sectorSize-1)/sectorSize, pageSize
	out.SetTimes(&n.modified, &n.modified, &n.modified)
}

func (n *node) entry(out *fuse.EntryOut) {
	n.lookups++
	out.NodeId = n.id
	out.SetEntryTimeout(known)
	out.SetAttrTimeout(known)
	n.attributes(&out.Attr)
}

// Lookup finds a name in a folder.
func (fs *fileSystem) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	unlock, err := fs.begin()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	child := fs.nodes[in.NodeId].entries.live[name]
	if child == nil {
		return fuse.ENOENT
	}
	child.entry(out)
	return fuse.OK
}

// Forget undoes lookups.
func (fs *fileSystem) Forget(id, lookups uint64) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if n := fs.nodes[id]; n != nil && id != rootID {
		n.lookups -= min(lookups, n.lookups)
		fs.release(n)
	}
}

// GetAttr returns the attributes of a node.
func (fs *fileSystem) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	unlock, err := fs.begin()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	out.SetTimeout(known)
	fs.nodes[in.NodeId].attributes(&out.Attr)
	return fuse.OK
}

// SetAttr changes the attributes of a node, and the length of a file.
func (fs *fileSystem) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	unlock, err := fs.beginChange()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	n := fs.nodes[in.NodeId]
	if mode, ok := in.GetMode(); ok {
		n.mode = n.mode&syscall.S_IFMT | mode
	}
	if uid, ok := in.GetUID(); ok {
		n.uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		n.gid = gid
	}
	if size, ok := in.GetSize(); ok {
		n.truncate(int64(size))
		n.modified = time.Now()
	}
	if modified, ok := in.GetMTime(); ok {
		n.modified = modified
	}
	out.SetTimeout(known)
	n.attributes(&out.Attr)
	return fuse.OK
}

// make adds a node with a name.
func (fs *fileSystem) make(in *fuse.InHeader, name string, n *node, out *fuse.EntryOut) fuse.Status {
	unlock, err := fs.beginChange()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	parent := fs.nodes[in.NodeId]
	if parent.entries.live[name] != nil {
		return fuse.Status(syscall.EEXIST)
	}
	n.uid, n.gid, n.modified = in.Uid, in.Gid, time.Now()
	if n.mode&syscall.S_IFMT == syscall.S_IFDIR {
		n.links, n.entries, n.parent = 1, newFolder(), parent
	}
	fs.rename(change{{parent, name, fs.add(n)}})
	n.entry(out)
	return fuse.OK
}

// Mkdir makes a folder.
func (fs *fileSystem) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return fs.make(&in.InHeader, name, &node{mode: syscall.S_IFDIR | in.Mode&^syscall.S_IFMT}, out)
}

// Mknod makes a file, a socket or a named pipe.
func (fs *fileSystem) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	switch in.Mode & syscall.S_IFMT {
	case syscall.S_IFREG, syscall.S_IFSOCK, syscall.S_IFIFO:
		return fs.make(&in.InHeader, name, &node{mode: in.Mode}, out)
	}
	return fuse.EPERM
}

// Create makes a file and opens it.
func (fs *fileSystem) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return fs.make(&in.InHeader, name, &node{mode: syscall.S_IFREG | in.Mode&^syscall.S_IFMT}, &out.EntryOut)
}

// Symlink makes a symbolic link.
func (fs *fileSystem) Symlink(_ <-chan struct{}, in *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	return fs.make(in, name, &node{mode: syscall.S_IFLNK | 0o777, target: target}, out)
}

// Readlink returns the target of a symbolic link.
func (fs *fileSystem) Readlink(_ <-chan struct{}, in *fuse.InHeader) ([]byte, fuse.Status) {
	unlock, err := fs.begin()
	if err != 0 {
		return nil, fuse.Status(err)
	}
	defer unlock()
	return []byte(fs.nodes[in.NodeId].target), fuse.OK
}

// Link gives a file another name.
func (fs *fileSystem) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	unlock, err := fs.beginChange()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	parent, n := fs.nodes[in.NodeId], fs.nodes[in.Oldnodeid]
	if parent.entries.live[name] != nil {
		return fuse.Status(syscall.EEXIST)
	}
	fs.rename(change{{parent, name, n}})
	n.entry(out)
	return fuse.OK
}

// Unlink removes the name of a file.
func (fs *fileSystem) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return fs.remove(in, name)
}

// Rmdir removes a folder.
func (fs *fileSystem) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return fs.remove(in, name)
}

func (fs *fileSystem) remove(in *fuse.InHeader, name string) fuse.Status {
	unlock, err := fs.beginChange()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	parent := fs.nodes[in.NodeId]
	switch child := parent.entries.live[name]; {
	case child == nil:
		return fuse.ENOENT
	case len(child.entries.live) > 0:
		return fuse.Status(syscall.ENOTEMPTY)
	}
	fs.rename(change{{parent, name, nil}})
	return fuse.OK
}

// renameNoReplace is RENAME_NOREPLACE of renameat2(2), the only flag that is supported.
const renameNoReplace = 1

// Rename renames a file or a folder.
func (fs *fileSystem) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	unlock, err := fs.beginChange()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	parent, other := fs.nodes[in.NodeId], fs.nodes[in.Newdir]
	n, replaced := parent.entries.live[from], other.entries.live[to]
	switch {
	case in.Flags&^renameNoReplace != 0:
		return fuse.EINVAL
	case n == nil:
		return fuse.ENOENT
	case replaced == n:
		return fuse.OK
	case replaced != nil && in.Flags == renameNoReplace:
		return fuse.Status(syscall.EEXIST)
	case replaced != nil && len(replaced.entries.live) > 0:
		return fuse.Status(syscall.ENOTEMPTY)
	}
	if n.parent != nil {
		n.parent = other
	}
	fs.rename(change{{other, to, n}, {parent, from, nil}})
	return fuse.OK
}

// Open opens a file. The kernel keeps what it knows of its content.
func (fs *fileSystem) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	begin := fs.begin
	if in.Flags&syscall.O_TRUNC != 0 {
		begin = fs.beginChange
	}
	unlock, err := begin()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	if in.Flags&syscall.O_TRUNC != 0 {
		fs.nodes[in.NodeId].truncate(0)
	}
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

// Read reads from a file.
func (fs *fileSystem) Read(_ <-chan struct{}, in *fuse.ReadIn, b []byte) (fuse.ReadResult, fuse.Status) {
	unlock, err := fs.begin()
	if err != 0 {
		return nil, fuse.Status(err)
	}
	defer unlock()
	return fuse.ReadResultData(b[:fs.nodes[in.NodeId].readAt(b, int64(in.Offset))]), fuse.OK
}

// Write writes to a file.
func (fs *fileSystem) Write(_ <-chan struct{}, in *fuse.WriteIn, b []byte) (uint32, fuse.Status) {
	unlock, err := fs.beginChange()
	if err != 0 {
		return 0, fuse.Status(err)
	}
	defer unlock()
	n := fs.nodes[in.NodeId]
	n.writeAt(b, int64(in.Offset))
	n.modified = time.Now()
	return uint32(len(b)), fuse.OK
}

// Flush has nothing to do: close(2) flushes nothing.
func (fs *fileSystem) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

// Fsync flushes a file, for fsync and fdatasync.
func (fs *fileSystem) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return fs.flush(in, fs.syncFile)
}

// FsyncDir flushes a folder.
func (fs *fileSystem) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return fs.flush(in, fs.syncFolder)
}

func (fs *fileSystem) flush(in *fuse.FsyncIn, sync func(*node)) fuse.Status {
	unlock, err := fs.beginChange()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	sync(fs.nodes[in.NodeId])
	return fuse.OK
}

// Fallocate extends a file.
func (fs *fileSystem) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	if in.Mode != 0 {
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	unlock, err := fs.beginChange()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	n := fs.nodes[in.NodeId]
	n.live.size = max(n.live.size, int64(in.Offset+in.Length))
	return fuse.OK
}

// OpenDir opens a folder.
func (fs *fileSystem) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.OK
}

// ReadDir lists a folder, in the order of the numbers of its nodes, so that a name that is removed meanwhile hides no
// other.
func (fs *fileSystem) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	unlock, err := fs.begin()
	if err != 0 {
		return fuse.Status(err)
	}
	defer unlock()
	n := fs.nodes[in.NodeId]
	above := n.parent
	if above == nil {
		above = n
	}
	list := []fuse.DirEntry{{Name: ".", Ino: n.id, Mode: n.mode, Off: 1}, {Name: "..", Ino: above.id, Mode: above.mode, Off: 2}}
	names := slices.SortedFunc(maps.Keys(n.entries.live), func(a, b string) int {
		return cmp.Or(cmp.Compare(n.entries.live[a].id, n.entries.live[b].id), cmp.Compare(a, b))
	})
	for i, name := range names {
		child, rank := n.entries.live[name], uint64(0)
		if i > 0 && n.entries.live[names[i-1]] == child { // another name of the same file
			rank = list[len(list)-1].Off&0xff + 1
		}
		list = append(list, fuse.DirEntry{Name: name, Ino: child.id, Mode: child.mode, Off: child.id<<8 + rank})
	}
	for _, e := range list {
		if e.Off > in.Offset && !out.AddDirEntry(e) {
			break
		}
	}
	return fuse.OK
}

// StatFs reports a disk that has room.
func (fs *fileSystem) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	const blocks = 1 << 24 // 64 GiB
	out.Bsize, out.Frsize, out.NameLen = pageSize, pageSize, 255
	out.Blocks, out.Bfree, out.Bavail, out.Files, out.Ffree = blocks, blocks, blocks, blocks, blocks
	return fuse.OK
}
