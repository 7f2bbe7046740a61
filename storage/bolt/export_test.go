package bolt

import "go.etcd.io/bbolt"

// DocumentBytes is how many bytes the files of documents have.
func (db *DB) DocumentBytes() (total int64, err error) {
	list, err := db.folder.root.Open(".")
	if err != nil {
		return 0, err
	}
	defer list.Close()
	entries, err := list.ReadDir(-1)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && isID(entry.Name()) {
			total += info.Size()
		}
	}
	return total, err
}

// DocumentIDs are the ids of all documents.
func (db *DB) DocumentIDs() (ids []string, err error) {
	err = db.view(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(documentTable.bucket)).ForEach(func(id, _ []byte) error {
			ids = append(ids, string(id))
			return nil
		})
	})
	return ids, err
}

// UsedBytes is how far into its file the store has pages.
func (db *DB) UsedBytes() (size int64) {
	_ = db.view(func(tx *bbolt.Tx) error {
		size = tx.Size()
		return nil
	})
	return size
}

// Check is bbolt's own check of all pages of the file, in which free pages are listed nowhere.
func (db *DB) Check() (faults []error) {
	_ = db.view(func(tx *bbolt.Tx) error {
		for fault := range tx.Check() {
			faults = append(faults, fault)
		}
		return nil
	})
	return faults
}

// CopyDocuments does the first half of a migration of a store that has documents in its file.
func CopyDocuments(path string) error {
	db := newDB(path, Options{})
	if err := db.openFile(); err != nil {
		return err
	}
	_, err := db.copyDocuments()
	if err != nil {
		return err
	}
	return db.close()
}

// Upgrade does all of a migration but compacting the file.
func Upgrade(path string) error {
	db := newDB(path, Options{})
	if err := db.openFile(); err != nil {
		return err
	}
	if err := db.upgrade(); err != nil {
		return err
	}
	return db.close()
}

// WithSyncParent returns options of a store that flushes the names of its files with another function.
func (o Options) WithSyncParent(syncParent func(path string) error) Options {
	o.syncParent = syncParent
	return o
}

// MaxHeld is how many deleted documents are remembered while a backup runs.
const MaxHeld = maxHeld

// Held returns how many deleted documents are remembered, and for how many there is memory.
func (db *DB) Held() (n, memory int) {
	db.folder.mu.Lock()
	defer db.folder.mu.Unlock()
	return len(db.folder.held), cap(db.folder.held)
}

// AddDocuments makes documents without flushing each of them.
func (db *DB) AddDocuments(ids ...string) error {
	for _, id := range ids {
		if err := db.folder.root.WriteFile(id, nil, 0o600); err != nil {
			return err
		}
	}
	return db.update(func(tx *bbolt.Tx) error {
		for _, id := range ids {
			if err := documentTable.insert(tx, id, documentRecord{Kept: true}); err != nil {
				return err
			}
		}
		return nil
	})
}
