//go:build !unix

package pdfium

import "io/fs"

// onlyUserCanWrite always reports true: permissions are access control lists on these systems,
// inherited from the parent folder.
func onlyUserCanWrite(fs.FileInfo) bool { return true }
