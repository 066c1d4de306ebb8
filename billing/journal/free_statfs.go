//go:build linux || darwin || freebsd

package journal

import (
	"math"

	"golang.org/x/sys/unix"
)

// free is how many octets are free on the disk of a file, for this user. Where that
// cannot be found out SQLite will.
func free(name string) uint64 {
	var s unix.Statfs_t
	if unix.Statfs(name, &s) != nil {
		return math.MaxUint64
	}
	return uint64(s.Bavail) * uint64(s.Bsize) //nolint:unconvert // of other types elsewhere
}
